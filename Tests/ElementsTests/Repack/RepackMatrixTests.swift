// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

private typealias Stream = RepackStream

/// One end of a conversion.
struct RepackEnd: Sendable, CustomTestStringConvertible {
  var format: String
  var alignment: String
  var lengthSize = 4

  var testDescription: String {
    format == "byte-stream" ? "\(format)/\(alignment)" : "\(format)\(lengthSize)/\(alignment)"
  }

  static let inputs: [RepackEnd] =
    ["au", "nal"].flatMap { alignment in
      [RepackEnd(format: "byte-stream", alignment: alignment)]
        + ["avc", "avc3"].flatMap { format in
          [1, 2, 4].map { RepackEnd(format: format, alignment: alignment, lengthSize: $0) }
        }
    }
  static let outputs = inputs.filter { $0.alignment == "au" || $0.format == "byte-stream" }

  func pack(_ nalUnits: [[UInt8]]) -> [UInt8] {
    format == "byte-stream" ? Stream.annexB(nalUnits) : Stream.lengthPrefixed(nalUnits, lengthSize)
  }

  /// The NAL units in a buffer, cut without the code under test.
  func unpack(_ bytes: [UInt8]) -> [[UInt8]] {
    var result: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      if format == "byte-stream" {
        #expect(rest.starts(with: [0, 0, 0, 1]))
        rest = rest.dropFirst(4)
        let end = rest.firstRange(of: [0, 0, 0, 1])?.lowerBound ?? rest.endIndex
        result.append([UInt8](rest[..<end]))
        rest = rest[end...]
      } else {
        let length = rest.prefix(lengthSize).reduce(0) { $0 << 8 | Int($1) }
        result.append([UInt8](rest.dropFirst(lengthSize).prefix(length)))
        rest = rest.dropFirst(lengthSize + length)
      }
    }
    return result
  }
}

/// Every packaging to every packaging.
@Suite(.serialized) struct RepackMatrixTests {
  private let sps = Stream.sps(profile: 122, constraints: 0)
  private let pps = Stream.pps()
  private let high: [UInt8] = [0xFC | 2, 0xF8 | 2, 0xF8 | 1, 0]

  /// Four access units; those of avc have no parameter sets.
  private func accessUnits(withSets: Bool) -> [[[UInt8]]] {
    let sets = withSets ? [sps, pps] : []
    return [
      [Stream.delimiter] + sets + [
        Stream.sei, Stream.slice(0, isIDR: true), Stream.slice(0, isIDR: true, firstMacroblock: 2),
      ],
      [Stream.slice(1), Stream.slice(1, firstMacroblock: 3)],
      [Stream.recoveryPoint, Stream.slice(2), Stream.filler],
      sets + [Stream.slice(1, isIDR: true)],
    ]
  }

  private func record(_ end: RepackEnd) -> [UInt8]? {
    switch end.format {
    case "avc": Stream.avcC([sps], pps: [pps], size: end.lengthSize, high: high)
    case "avc3":
      [1, sps[1], sps[2], sps[3], 0xFC | UInt8(end.lengthSize - 1), 0xE0, 0]
    default: nil
    }
  }

  /// What has to come out: VCL as it is, parameter sets where the format wants them.
  private func expected(from input: RepackEnd, to output: RepackEnd) -> [[[UInt8]]] {
    let plain = accessUnits(withSets: false)
    if output.format == "avc" { return plain }
    if input.format != "avc" { return accessUnits(withSets: true) }
    return plain.map { unit in
      let isRandomAccessPoint = unit.contains { $0[0] & 31 == 5 || $0 == Stream.recoveryPoint }
      let split = unit.first == Stream.delimiter ? 1 : 0
      return isRandomAccessPoint ? Array(unit[..<split]) + [sps, pps] + Array(unit[split...]) : unit
    }
  }

  private func push(_ input: RepackEnd, into harness: Harness) throws {
    for (index, unit) in accessUnits(withSets: input.format != "avc").enumerated() {
      let buffers = input.alignment == "au" ? [unit] : unit.map { [$0] }
      for nalUnits in buffers {
        var buffer = try Stream.buffer(input.pack(nalUnits))
        buffer.pts = .seconds(UInt64(index) + 5)
        buffer.dts = .seconds(UInt64(index) + 4)
        buffer.duration = .second
        if index == 1 || index == 2 { buffer.flags.insert(.deltaUnit) }
        if index == 2 { buffer.flags.insert([.droppable, .corrupted]) }
        #expect(harness.push(buffer) == 0)
      }
    }
    harness.endOfStream()
  }

  @Test(arguments: RepackEnd.inputs, RepackEnd.outputs)
  func converts(input: RepackEnd, output: RepackEnd) throws {
    let harness = try Harness.repack("nal-length-size=\(output.lengthSize)", to: output.format, output.alignment)
    harness.setInputCaps(
      Stream.caps(input.format, input.alignment, codecData: record(input), more: ", width=32, profile=high-4:2:2"))
    try push(input, into: harness)

    for (index, unit) in expected(from: input, to: output).enumerated() {
      let pieces = output.alignment == "au" ? [unit] : unit.map { [$0] }
      for (piece, nalUnits) in pieces.enumerated() {
        let buffer = try harness.pull()
        #expect(output.unpack(try buffer.copiedBytes()) == nalUnits)
        #expect(buffer.pts == .seconds(UInt64(index) + 5) && buffer.dts == .seconds(UInt64(index) + 4))
        #expect(buffer.flags.contains(.deltaUnit) == (index == 1 || index == 2))
        #expect(buffer.flags.isSuperset(of: [.droppable, .corrupted]) == (index == 2))
        if output.alignment == "au" {
          #expect(buffer.duration == .second)
        } else if input.alignment == "au" {
          #expect(buffer.flags.contains(.marker) == (piece == pieces.count - 1))
          #expect(buffer.flags.contains(.header) == [7, 8].contains(nalUnits[0][0] & 31))
        }
      }
    }
    #expect(harness.waiting == 0)
    let caps = try harness.outputCaps()
    #expect(caps.first.int("width") == 32 && caps.first.string("profile") == "high-4:2:2")
    #expect(try harness.outputCodecData() == record(output) ?? [])
  }

  @Test(arguments: RepackEnd.inputs, RepackEnd.outputs)
  func thereAndBackIsTheIdentity(input: RepackEnd, middle: RepackEnd) throws {
    let harness = try Harness.repack(
      """
      nal-length-size=\(middle.lengthSize) \
      ! video/x-h264,stream-format=\(middle.format),alignment=\(middle.alignment) \
      ! swifth264repack nal-length-size=\(input.lengthSize)
      """, to: input.format, "au")
    harness.setInputCaps(Stream.caps(input.format, input.alignment, codecData: record(input)))
    try push(input, into: harness)
    for unit in accessUnits(withSets: false) {
      let result = input.unpack(try harness.pullBytes()).filter { ![7, 8].contains($0[0] & 31) }
      #expect(result == unit)
    }
    #expect(harness.waiting == 0)
    #expect(try harness.outputCodecData() == record(input) ?? [])
  }
}
