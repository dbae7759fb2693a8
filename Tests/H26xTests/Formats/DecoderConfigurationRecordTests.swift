// SPDX-License-Identifier: MPL-2.0
import TestSupport
import Testing

@testable import H26x

@Suite struct DecoderConfigurationRecordTests {
  typealias Record = H264.DecoderConfigurationRecord

  private func record() throws -> Record {
    try Record(
      sequenceParameterSets: [Samples.highSPS, Samples.highSPS], pictureParameterSets: [Samples.highPPS, [0x68, 1]],
      extensions: [[0x6D, 0x98]], nalLengthSize: .two)
  }

  @Test func writtenRecordsComeBack() throws {
    let record = try record()
    let bytes = try record.bytes()
    #expect(Array(bytes.prefix(6)) == [1, 0x64, 0x00, 0x1F, 0xFD, 0xE2])
    #expect(try Record(bytes: bytes) == record)
    #expect(record.high?.lumaBitDepth == 8)
    let padded = try Record(bytes: bytes + [9, 8, 7])
    #expect(padded.trailingBytes == [9, 8, 7])
    #expect(try padded.bytes() == bytes + [9, 8, 7])
  }

  @Test func truncationIsAnErrorAtEveryByte() throws {
    let bytes = try record().bytes()
    let withoutExtension = bytes.count - 8
    for end in bytes.indices where end != withoutExtension {
      let error = failure { () throws(BitstreamError) in _ = try Record(bytes: Array(bytes[..<end])) }
      #expect(error?.reason == .truncated, "at \(end)")
    }
    // Many writers omit the extension.
    #expect(try Record(bytes: Array(bytes[..<withoutExtension])).high == nil)
  }

  @Test func checksCountsOfParameterSets() throws {
    let avc3: [UInt8] = [1, 0x64, 0x00, 0x1F, 0xFF, 0xE0, 0x00]
    #expect(try Record(bytes: avc3).bytes() == avc3)
    var record = try record()
    record.nalLengthSize = .four
    #expect(try record.withoutParameterSets.bytes() == avc3)
    // As many sets as their counts can hold, and one more.
    for (sequences, pictures, extensions, isLegal) in [
      (31, 255, 255, true), (32, 0, 0, false), (0, 256, 0, false), (0, 0, 256, false),
    ] {
      var full = try self.record()
      full.sequenceParameterSets = [[UInt8]](repeating: Samples.highSPS, count: sequences)
      full.pictureParameterSets = [[UInt8]](repeating: Samples.highPPS, count: pictures)
      full.high?.sequenceParameterSetExtensions = [[UInt8]](repeating: [0x6D, 0x98], count: extensions)
      let error = failure { () throws(BitstreamError) in _ = try full.bytes() }
      let wrong = BitstreamError(.lengthNotRepresentable, "numOfSequenceParameterSets", bitOffset: 40)
      #expect(error == (isLegal ? nil : wrong))
      if isLegal { #expect(try Record(bytes: full.bytes()) == full) }
    }
    for (count, isLegal) in [(65535, true), (65536, false)] {
      var long = try self.record()
      long.sequenceParameterSets = [[UInt8](repeating: 1, count: count)]
      let error = failure { () throws(BitstreamError) in _ = try long.bytes() }
      #expect(error == (isLegal ? nil : BitstreamError(.lengthNotRepresentable, "parameterSetLength", bitOffset: 48)))
    }
    // A length size of three, another version, an empty PPS.
    #expect(
      failure { () throws(BitstreamError) in _ = try Record(bytes: [1, 66, 0, 30, 0xFE, 0xE0, 0]) }
        == BitstreamError(.valueOutOfRange, "lengthSizeMinusOne", bitOffset: 38))
    #expect(
      failure { () throws(BitstreamError) in _ = try Record(bytes: [2, 66, 0, 30, 0xFF, 0xE0, 0]) }
        == BitstreamError(.unsupported, "configurationVersion", bitOffset: 0))
    #expect(try Record(bytes: [1, 66, 0, 30, 0xFF, 0xE0, 1, 0, 0]).pictureParameterSets.isEmpty)
    record.sequenceParameterSets = [[UInt8]](repeating: Samples.highSPS, count: 32)
    #expect(failure { () throws(BitstreamError) in _ = try record.bytes() }?.reason == .lengthNotRepresentable)
    record.sequenceParameterSets = [[UInt8](repeating: 1, count: 65536)]
    #expect(failure { () throws(BitstreamError) in _ = try record.bytes() }?.reason == .lengthNotRepresentable)
  }

  /// Emulation prevention bytes in the first bytes of the SPS are not in the record's header.
  @Test func headerBytesLackEmulationPrevention() throws {
    var sps = try Samples.sps()
    sps.profile = H264.Profile(idc: 0, constraintFlags: 0)
    sps.levelIDC = 1
    let nalUnit = sps.nalUnit()
    #expect(Array(nalUnit.prefix(5)) == [0x67, 0, 0, 3, 1])
    let record = try Record(sequenceParameterSets: [nalUnit], pictureParameterSets: [])
    #expect(Array(try record.bytes().prefix(4)) == [1, 0, 0, 1])
  }

  @Test func randomRecordsNeverTrap() throws {
    var generator = SeededGenerator(state: 13)
    let good = try record().bytes()
    for _ in 0..<5000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...5, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      if let record = try? Record(bytes: bytes) { _ = try? FormatDescription(decoderConfigurationRecord: record) }
    }
  }

  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.rows(codec: "h264", container: "mp4"))
  func muxersRecordsComeBack(_ row: Vectors.Row) throws {
    let file = try Vectors.bytes(row.file)
    let found = boxes(named: "avcC", in: file)
    #expect(!found.isEmpty)
    for bytes in found {
      let record = try Record(bytes: bytes)
      #expect(try record.bytes() == bytes)
      let description = try FormatDescription(decoderConfigurationRecord: record)
      #expect(description.croppedSize.width > 0)
      #expect(description.nalLengthSize == record.nalLengthSize)
      let made = try description.h264DecoderConfigurationRecord()
      #expect(made.sequenceParameterSets == record.sequenceParameterSets)
      #expect(made.profile == record.profile && made.levelIDC == record.levelIDC)
    }
  }

  /// The contents of all boxes of that name, wherever they are.
  private func boxes(named name: String, in file: [UInt8]) -> [[UInt8]] {
    let name = Array(name.utf8)
    var found: [[UInt8]] = []
    guard file.count > 8 else { return [] }
    for index in 4..<file.count - 4 where file[index] == name[0] && Array(file[index..<index + 4]) == name {
      let size = file[index - 4..<index].reduce(0) { $0 << 8 | Int($1) }
      guard size >= 15, index - 4 + size <= file.count else { continue }
      found.append(Array(file[index + 4..<index - 4 + size]))
    }
    return found
  }
}
