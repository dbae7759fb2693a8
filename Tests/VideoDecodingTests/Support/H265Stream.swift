// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import VideoDecoding

/// An H.265 byte stream, cut into access units.
struct H265Stream {
  let units: [[UInt8]]
  let format: FormatDescription

  /// One of the project's own clips.
  init(media name: String) throws {
    let tests = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    try self.init(try #require(readFile(tests + "/Media/" + name)))
  }

  init(_ bytes: [UInt8]) throws {
    var sets = H265.ParameterSets()
    var detector = H265.AccessUnitDetector()
    var units: [[UInt8]] = []
    var nalUnits = AnnexB.NALUnits(bytes.span)
    while let nalUnit = nalUnits.next() {
      let found = bytes.span.extracting(nalUnit.range)
      _ = try? sets.insert(found)
      if detector.feed(found, parameterSets: sets).boundary == .begins { units.append([]) }
      units[units.count - 1] += [0, 0, 0, 1] + bytes[nalUnit.range]
    }
    self.units = units
    format = try FormatDescription(sets)
  }

  /// The type of each access unit's first slice segment; nil where there is none.
  var types: [H265.NALUnitType?] { units.map(Self.type) }

  static func type(_ unit: [UInt8]) -> H265.NALUnitType? {
    nalUnits(unit).lazy.map { H265.NALUnitType(headerByte: $0[0]) }.first { $0.isVCL }
  }

  /// The NAL units of an access unit without start codes.
  static func nalUnits(_ unit: [UInt8]) -> [[UInt8]] {
    var result: [[UInt8]] = []
    var nalUnits = AnnexB.NALUnits(unit.span)
    while let nalUnit = nalUnits.next() { result.append(Array(unit[nalUnit.range])) }
    return result
  }

  /// NAL units with start codes.
  static func joined(_ nalUnits: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    for nalUnit in nalUnits { bytes += [0, 0, 0, 1] + nalUnit }
    return bytes
  }

  /// Decodes these access units, or changed ones, in a new session.
  func decode(
    _ units: [[UInt8]]? = nil, _ configuration: SessionConfiguration = SessionConfiguration(),
    plan: FaultPlan = FaultPlan(), statistics: ((SessionStatistics) -> Void)? = nil
  ) throws -> Run {
    let session = try DecompressionSession(
      format: format, configuration: configuration, allocator: nil, openCodec: plan.opener)
    var run = Run()
    try session.run(units ?? self.units, into: &run)
    statistics?(session.statistics)
    return run
  }
}
