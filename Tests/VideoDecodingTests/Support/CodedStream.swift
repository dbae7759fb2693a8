// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import VideoDecoding

/// A byte stream of either codec as access units.
struct CodedStream {
  let units: [[UInt8]]
  let format: FormatDescription
  /// The published checksum of all pictures; nil without one.
  let md5: String?

  /// Access units of a format.
  init(units: [[UInt8]], format: FormatDescription) {
    (self.units, self.format) = (units, format)
    md5 = nil
  }

  /// A vector, or one of the project's own clips.
  init(_ name: String) throws {
    let vector = Vector.ofBothCodecs.first { $0.file.hasSuffix("/" + name) }
    md5 = vector?.md5
    if vector?.codec == .h265 || name.hasSuffix(".h265") {
      let stream = try vector.map { try H265Stream($0.bytes) } ?? H265Stream(media: name)
      (units, format) = (stream.units, stream.format)
    } else {
      units = try vector.map { accessUnits($0.bytes) } ?? mediaAccessUnits(name)
      format = try streamFormat(units)
    }
  }

  /// A byte stream in a file, whose suffix gives the codec.
  init(path: String) throws {
    md5 = nil
    let bytes = try #require(readFile(path))
    if path.hasSuffix("265") {
      let stream = try H265Stream(bytes)
      (units, format) = (stream.units, stream.format)
    } else {
      units = accessUnits(bytes)
      format = try streamFormat(units)
    }
  }

  /// Whether an access unit is an IRAP picture; of H.264, an IDR picture.
  func isIRAP(_ index: Int) -> Bool {
    let unit = units[index]
    var nalUnits = AnnexB.NALUnits(unit.span)
    while let nalUnit = nalUnits.next() {
      let header = unit[nalUnit.range.lowerBound]
      switch format.codec {
      case .h264: if header & 31 == 5 { return true }
      case .h265: if 16...23 ~= header >> 1 & 63 { return true }
      }
    }
    return false
  }

  /// A session for the stream.
  func session(
    _ configuration: SessionConfiguration = SessionConfiguration(), plan: FaultPlan = FaultPlan()
  ) throws -> DecompressionSession {
    try DecompressionSession(format: format, configuration: configuration, allocator: nil, openCodec: plan.opener)
  }

  /// Decodes all access units in a new session.
  func decode(
    _ configuration: SessionConfiguration = SessionConfiguration(), plan: FaultPlan = FaultPlan()
  ) throws -> Run {
    var run = Run()
    try session(configuration, plan: plan).run(units, into: &run)
    return run
  }
}
