// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The packaging at one end of a conversion.
struct RepackEnd: Sendable, CustomTestStringConvertible {
  enum Format: String, Sendable { case outOfBand, inBand, byteStream }

  var format: Format
  var alignment: String
  var lengthSize = 4

  var testDescription: String {
    format == .byteStream ? "\(format)/\(alignment)" : "\(format)\(lengthSize)/\(alignment)"
  }

  static let inputs: [RepackEnd] =
    ["au", "nal"].flatMap { alignment in
      [RepackEnd(format: .byteStream, alignment: alignment)]
        + [Format.outOfBand, .inBand].flatMap { format in
          [1, 2, 4].map { RepackEnd(format: format, alignment: alignment, lengthSize: $0) }
        }
    }
  static let outputs = inputs.filter { $0.alignment == "au" || $0.format == .byteStream }

  func pack(_ nalUnits: [[UInt8]]) -> [UInt8] {
    format == .byteStream ? RepackStream.annexB(nalUnits) : RepackStream.lengthPrefixed(nalUnits, lengthSize)
  }

  /// The NAL units in a buffer, split without the code under test.
  func unpack(_ bytes: [UInt8]) -> [[UInt8]] {
    var result: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      if format == .byteStream {
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

/// A stream of a codec for tests of repackaging.
struct RepackSample: Sendable {
  /// The codec's number in names: 264 or 265.
  var codec: String
  /// `stream-format` with parameter sets out of band, and in band.
  var names: (outOfBand: String, inBand: String)
  var sets: [[UInt8]]
  var delimiter: [UInt8]
  /// Four access units without the parameter sets, which `withSets` adds to the first and the last. The first, the
  /// third and the last are random access points. Only the third is droppable.
  var accessUnits: [[[UInt8]]]
  /// The configuration record with these sets and this length size.
  var record: @Sendable ([[UInt8]], Int) -> [UInt8]

  var element: String { "swifth\(codec)repack" }

  func isSet(_ nalUnit: [UInt8]) -> Bool { sets.contains(nalUnit) }

  func name(_ format: RepackEnd.Format) -> String {
    switch format {
    case .outOfBand: names.outOfBand
    case .inBand: names.inBand
    case .byteStream: "byte-stream"
    }
  }

  /// The access units, with the parameter sets in the first and the last.
  var withSets: [[[UInt8]]] {
    accessUnits.enumerated().map { index, unit in [0, 3].contains(index) ? inserting(unit) : unit }
  }

  /// An access unit with the parameter sets inserted, after a delimiter.
  func inserting(_ unit: [[UInt8]]) -> [[UInt8]] {
    let split = unit.first == delimiter ? 1 : 0
    return Array(unit[..<split]) + sets + Array(unit[split...])
  }

  func record(_ end: RepackEnd) -> [UInt8]? {
    switch end.format {
    case .outOfBand: record(sets, end.lengthSize)
    case .inBand: record([], end.lengthSize)
    case .byteStream: nil
    }
  }

  func caps(_ end: RepackEnd, more: String = "") -> String {
    RepackStream.caps(name(end.format), end.alignment, codecData: record(end), more: more)
      .replacing("x-h264", with: "x-h\(codec)")
  }

  func harness(_ properties: String, to output: RepackEnd, alignment: String? = nil) throws -> Harness {
    Harness.initialise()
    _ = Registration.succeeded
    let harness = try Harness("\(element) \(properties)")
    harness.setOutputCaps(
      "video/x-h\(codec), stream-format=\(name(output.format)), alignment=\(alignment ?? output.alignment)")
    return harness
  }

  static let all = [h264, h265]

  private static let h264: RepackSample = {
    typealias Stream = RepackStream
    let (sps, pps) = (Stream.sps(profile: 122, constraints: 0), Stream.pps())
    return RepackSample(
      codec: "264", names: ("avc", "avc3"), sets: [sps, pps], delimiter: Stream.delimiter,
      accessUnits: [
        [Stream.delimiter, Stream.sei, Stream.slice(0, isIDR: true), Stream.slice(0, isIDR: true, firstMacroblock: 2)],
        [Stream.slice(1), Stream.slice(1, firstMacroblock: 3)],
        [Stream.recoveryPoint, Stream.slice(2), Stream.filler],
        [Stream.slice(1, isIDR: true)],
      ],
      record: { sets, size in
        guard let sps = sets.first else {
          let plain = Stream.sps(profile: 122, constraints: 0)
          return [1, plain[1], plain[2], plain[3], 0xFC | UInt8(size - 1), 0xE0, 0]
        }
        return Stream.avcC([sps], pps: [sets[1]], size: size, high: [0xFC | 2, 0xF8 | 2, 0xF8 | 1, 0])
      })
  }()

  private static let h265: RepackSample = {
    typealias Stream = H265Stream
    return RepackSample(
      codec: "265", names: ("hvc1", "hev1"), sets: Stream.headers, delimiter: Stream.delimiter,
      accessUnits: [
        [
          Stream.delimiter, Stream.contentLight, Stream.idr, Stream.slice(.idrWithoutLeading, address: 3),
          Stream.sei(132, [2, 0, 0, 0, 1], isSuffix: true),
        ],
        [Stream.slice(.trailingR, count: 2), Stream.slice(.trailingR, count: 2, address: 5)],
        [Stream.slice(.cra, count: 9), Stream.filler],
        [Stream.slice(.idrWithRADL)],
      ],
      record: { sets, size in
        guard !sets.isEmpty else { return Stream.hvcC([], size: size) }
        return Stream.hvcC(sets.map { [$0] }, size: size)
      })
  }()
}

/// Every packaging to every packaging.
@Suite(.serialized) struct RepackMatrixTests {
  /// The expected output: VCL NAL units unchanged, parameter sets where the format has them.
  private func expected(_ sample: RepackSample, from input: RepackEnd, to output: RepackEnd) -> [[[UInt8]]] {
    if output.format == .outOfBand { return sample.accessUnits }
    if input.format != .outOfBand { return sample.withSets }
    return sample.accessUnits.enumerated().map { index, unit in index == 1 ? unit : sample.inserting(unit) }
  }

  private func push(_ sample: RepackSample, _ input: RepackEnd, into harness: Harness) throws {
    for (index, unit) in (input.format == .outOfBand ? sample.accessUnits : sample.withSets).enumerated() {
      let buffers = input.alignment == "au" ? [unit] : unit.map { [$0] }
      for nalUnits in buffers {
        var buffer = try RepackStream.buffer(input.pack(nalUnits))
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
  func everyInputConvertsToEveryOutput(input: RepackEnd, output: RepackEnd) throws {
    for sample in RepackSample.all {
      let harness = try sample.harness("nal-length-size=\(output.lengthSize)", to: output)
      harness.setInputCaps(sample.caps(input, more: ", width=32, profile=high-4:2:2"))
      try push(sample, input, into: harness)

      for (index, unit) in expected(sample, from: input, to: output).enumerated() {
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
            #expect(buffer.flags.contains(.header) == sample.isSet(nalUnits[0]))
          }
        }
      }
      #expect(harness.waiting == 0)
      let caps = try harness.outputCaps()
      #expect(caps.first.int("width") == 32 && caps.first.string("profile") == "high-4:2:2")
      try expectRecord(harness, sample, output, input)
    }
  }

  @Test(arguments: RepackEnd.inputs, RepackEnd.outputs)
  func convertingThereAndBackIsTheIdentity(input: RepackEnd, middle: RepackEnd) throws {
    for sample in RepackSample.all {
      let harness = try sample.harness(
        """
        nal-length-size=\(middle.lengthSize) \
        ! video/x-h\(sample.codec),stream-format=\(sample.name(middle.format)),alignment=\(middle.alignment) \
        ! \(sample.element) nal-length-size=\(input.lengthSize)
        """, to: input, alignment: "au")
      harness.setInputCaps(sample.caps(input))
      try push(sample, input, into: harness)
      for unit in sample.accessUnits {
        #expect(input.unpack(try harness.pullBytes()).filter { !sample.isSet($0) } == unit)
      }
      #expect(harness.waiting == 0)
      try expectRecord(harness, sample, input, middle)
    }
  }

  /// Expects the configuration record of the output. A record that was made again has the fields of the SPS.
  private func expectRecord(
    _ harness: Harness, _ sample: RepackSample, _ output: RepackEnd, _ source: RepackEnd
  ) throws {
    let found = try harness.outputCodecData()
    let wanted = sample.record(output) ?? []
    guard sample.codec == "265", !wanted.isEmpty else {
      #expect(found == wanted)
      return
    }
    let record = try H265.DecoderConfigurationRecord(found.span)
    let expected = try H265.DecoderConfigurationRecord(wanted.span)
    #expect(record.nalUnits == expected.nalUnits && record.nalLengthSize == expected.nalLengthSize)
    #expect(record.levelIDC == expected.levelIDC && record.profile.idc == expected.profile.idc)
  }
}
