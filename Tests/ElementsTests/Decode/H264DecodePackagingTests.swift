// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Every packaging of a stream gives the same pictures.
@Suite(.serialized) struct H264DecodePackagingTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  /// A packaging of the decoder's input.
  struct Packing: Sendable, CustomTestStringConvertible {
    var format: String
    /// Bytes of a length prefix or start code.
    var prefix: Int
    /// NAL units in a buffer; `nil` for whole access units.
    var nalUnitsABuffer: Int?
    /// Whether upstream marks the last NAL unit of an access unit.
    var marks = true

    var testDescription: String {
      let alignment = nalUnitsABuffer.map { "nal, \($0) a buffer, \(marks ? "marked" : "unmarked")" } ?? "au"
      return "\(format), \(prefix) bytes, \(alignment)"
    }

    /// Start codes of three and four bytes, and length prefixes of one, two and four. Length-prefixed streams have
    /// parameter sets in `codec_data` only, in both, and in the stream only.
    static let all: [Packing] = {
      var all: [Packing] = []
      for (format, prefixes) in [("byte-stream", [3, 4]), ("avc", [1, 2, 4]), ("avc3", [1, 2, 4])] {
        for prefix in prefixes {
          all.append(Packing(format: format, prefix: prefix))
          for count in [1, 2] {
            for marks in [true, false] {
              all.append(Packing(format: format, prefix: prefix, nalUnitsABuffer: count, marks: marks))
            }
          }
        }
      }
      return all
    }()

    func pack(_ nalUnits: [[UInt8]]) -> [UInt8] {
      format == "byte-stream"
        ? RepackStream.annexB(nalUnits, startCode: prefix) : RepackStream.lengthPrefixed(nalUnits, prefix)
    }
  }

  @Test(arguments: Packing.all) func decodesEveryPackingExactly(_ packing: Packing) throws {
    let units = packing.prefix == 1 ? try small() : units
    let expected = try Harness.decoder().decode(units)
    let harness = try Harness.decoder(input: try caps(packing, of: units))
    harness.collectMessages()
    let positions = Clip.presentationOrder(units)
    for (index, unit) in units.enumerated() {
      let nalUnits = Clip.nalUnits(unit).filter { packing.format != "avc" || !(7...8 ~= $0[0] & 31) }
      let size = packing.nalUnitsABuffer ?? nalUnits.count
      for start in stride(from: 0, to: nalUnits.count, by: size) {
        let end = min(start + size, nalUnits.count)
        guard var buffer = Buffer(copying: packing.pack(Array(nalUnits[start..<end])).span) else { continue }
        buffer.pts = Clip.time(positions[index])
        if packing.nalUnitsABuffer != nil, packing.marks, end == nalUnits.count { buffer.flags.insert(.marker) }
        #expect(harness.push(buffer) == 0)
      }
    }
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(expected.count == units.count)
    #expect(checksum(pictures) == checksum(expected))
    #expect(pictures.map(\.pts) == expected.map(\.pts))
    #expect(pictures.allSatisfy { !$0.flags.contains(.corrupted) })
    #expect(harness.takeMessages() == [])
  }

  /// Whether a parser gives a picture's duration to the NAL unit with its first slice, or to each.
  @Test(arguments: [true, false]) func picturesOfNALUnitsLastAsLongAsTheirAccessUnits(onlyTheSlice: Bool) throws {
    let harness = try Harness.decoder(input: "video/x-h264, stream-format=byte-stream, alignment=nal")
    for (index, unit) in units.prefix(10).enumerated() {
      for nalUnit in Clip.nalUnits(unit) {
        guard var buffer = Buffer(copying: RepackStream.annexB([nalUnit], startCode: 4).span) else { continue }
        buffer.pts = Clip.time(index)
        let isSlice = [1, 5].contains(nalUnit[0] & 31)
        buffer.duration = isSlice || !onlyTheSlice ? Clip.frameDuration : .zero
        #expect(harness.push(buffer) == 0)
      }
    }
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(pictures.count == 10)
    #expect(pictures.allSatisfy { $0.duration == Clip.frameDuration })
  }

  /// The packagings of the parser.
  @Test(arguments: ["byte-stream", "avc", "avc3"], ["au", "nal"])
  func decodesEveryPackagingOfTheParserExactly(format: String, alignment: String) throws {
    let harness = try Harness.decoder(
      "swifth264parse ! video/x-h264,stream-format=\(format),alignment=\(alignment) ! swifth264dec",
      input: Harness.byteStream)
    harness.push(units: units)
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(pictures.count == Clip.frameCount)
    #expect(try checksum(pictures) == Clip.checksum())
  }

  /// Without markers a picture waits for the next one, which is part of the latency.
  @Test(arguments: [true, false]) func waitingForTheNextAccessUnitAddsLatency(marks: Bool) throws {
    let harness = try Harness.decoder(
      "swifth264dec thread-type=none", input: "video/x-h264, stream-format=byte-stream, alignment=nal")
    let reference = try Harness.decoder("swifth264dec thread-type=none")
    for unit in units.prefix(20) {
      reference.push(unit)
      let nalUnits = Clip.nalUnits(unit)
      for (index, nalUnit) in nalUnits.enumerated() {
        guard var buffer = Buffer(copying: RepackStream.annexB([nalUnit]).span) else { continue }
        if marks && index == nalUnits.count - 1 { buffer.flags.insert(.marker) }
        harness.push(buffer)
      }
    }
    #expect(harness.received == reference.received - (marks ? 0 : 1))
    let latency = try #require(reference.queryLatency())
    #expect(harness.queryLatency() == (marks ? latency : latency + Clip.frameDuration))
  }

  /// New caps without a flush: the pictures before them are output first.
  @Test(arguments: ["byte-stream", "avc3"], ["au", "nal"])
  func packagingChangesWithoutAFlush(format: String, alignment: String) throws {
    let harness = try Harness.decoder("swifth264dec thread-type=none")
    harness.push(units: units)
    let next = Packing(format: format, prefix: 4, nalUnitsABuffer: alignment == "nal" ? 1 : nil)
    harness.setInputCaps(try caps(next, of: units))
    let positions = Clip.presentationOrder(units)
    for (index, unit) in units.enumerated() {
      let nalUnits = Clip.nalUnits(unit)
      for part in alignment == "nal" ? nalUnits.map({ [$0] }) : [nalUnits] {
        #expect(harness.push(next.pack(part), pts: Clip.time(Clip.frameCount + positions[index])) == 0)
      }
    }
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(pictures.map(\.pts) == (0..<2 * Clip.frameCount).map { Clip.time($0) })
    #expect(try checksum(Array(pictures.prefix(Clip.frameCount))) == Clip.checksum())
    #expect(try checksum(Array(pictures.suffix(Clip.frameCount))) == Clip.checksum())
    // The count is of both sessions.
    #expect(harness.statistic("frames-in") == 2 * Clip.frameCount)
  }

  /// A flush drops the NAL units of an incomplete access unit.
  @Test func aFlushDropsAnIncompleteAccessUnit() throws {
    let harness = try Harness.decoder(input: RepackStream.caps("byte-stream", "nal"))
    for nalUnit in Clip.nalUnits(units[0]) { harness.push(RepackStream.annexB([nalUnit])) }
    harness.flush()
    let positions = Clip.presentationOrder(units)
    for (index, unit) in units.enumerated() {
      for nalUnit in Clip.nalUnits(unit) {
        harness.push(RepackStream.annexB([nalUnit]), pts: Clip.time(positions[index]))
      }
    }
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(pictures.first?.pts == .zero)
    #expect(try checksum(pictures) == Clip.checksum())
    #expect(harness.statistic("frames-in") == Clip.frameCount)
  }

  /// Whether the frame rate, for example, comes in caps of its own behind those with the parameter sets.
  @Test(arguments: [false, true]) func newCodecDataReplacesAWrongPPS(twice: Bool) throws {
    let packing = Packing(format: "avc", prefix: 4)
    let sets = Clip.nalUnits(units[0]).filter { 7...8 ~= $0[0] & 31 }
    // pic_parameter_set_id 0, seq_parameter_set_id 0, CAVLC.
    let wrong = RepackStream.annexB(sets.map { $0[0] & 31 == 8 ? [0x68, 0xC0 | 0x0E, 0x3C, 0x80] : $0 })
    let harness = try Harness.decoder("swifth264dec thread-type=none", input: try caps(packing, of: [wrong]))
    func push(_ units: ArraySlice<[UInt8]>) {
      for unit in units {
        let nalUnits = Clip.nalUnits(unit).filter { !(7...8 ~= $0[0] & 31) }
        #expect(harness.push(packing.pack(nalUnits)) == 0)
      }
    }
    push(units.prefix(1))
    let right = try caps(packing, of: units)
    harness.setInputCaps(right)
    if twice { harness.setInputCaps(right + ", framerate=30/1") }
    _ = try harness.takePictures()
    push(units.prefix(3))
    harness.endOfStream()
    let pictures = try harness.takePictures()
    let expected = try Harness.decoder().decode(Array(units.prefix(3)))
    #expect(pictures.suffix(3).map(\.bytes) == expected.map(\.bytes))
  }

  /// New parameter sets that only the caps have reach the running session.
  @Test func parameterSetsMayChangeInCodecDataOnly() throws {
    let other = try Clip.accessUnits("open-gop.h264")
    let packing = Packing(format: "avc", prefix: 4)
    let harness = try Harness.decoder("swifth264dec thread-type=none", input: try caps(packing, of: units))
    var time = 0
    for stream in [units, other, units] {
      harness.setInputCaps(try caps(packing, of: stream))
      let positions = Clip.presentationOrder(stream)
      for (index, unit) in stream.enumerated() {
        let nalUnits = Clip.nalUnits(unit).filter { !(7...8 ~= $0[0] & 31) }
        #expect(harness.push(packing.pack(nalUnits), pts: Clip.time(time + positions[index])) == 0)
      }
      time += stream.count
    }
    harness.endOfStream()
    let sizes = harness.takeCapsEvents().map { $0.contains("width=(int)320") }
    #expect(sizes == [true, false, true])
    let first = try Harness.decoder().decode(units)
    let second = try Harness.decoder().decode(other)
    #expect(harness.received == first.count + second.count + first.count)
    #expect(harness.statistic("failed") == 0 && harness.statistic("corrupted") == 0)
    // The last part has the pictures of the first again.
    for _ in 0..<first.count + second.count { _ = harness.tryPull() }
    #expect(try checksum(harness.takePictures()) == checksum(first))
  }

  // MARK: Helpers

  /// 16 pictures whose NAL units fit a length of one byte.
  private func small() throws -> [[UInt8]] {
    (0..<16).map { index in
      RepackStream.annexB((index == 0 ? [TinyStream.sps, TinyStream.pps] : []) + [TinyStream.picture(UInt32(index))])
    }
  }

  private func caps(_ packing: Packing, of units: [[UInt8]]) throws -> String {
    let alignment = packing.nalUnitsABuffer == nil ? "au" : "nal"
    guard packing.format != "byte-stream" else { return RepackStream.caps("byte-stream", alignment) }
    let sets = Clip.nalUnits(units[0])
    let sps = sets.filter { $0[0] & 31 == 7 }
    let pps = sets.filter { $0[0] & 31 == 8 }
    // High profiles have chroma format and bit depths in avcC, here 4:2:0 and 8 bits.
    let high: [UInt8] = (sps.first.map { $0[1] } ?? 0) >= 100 ? [0xFD, 0xF8, 0xF8, 0] : []
    let isSeparate = packing.format == "avc"
    let record = RepackStream.avcC(isSeparate ? sps : [], pps: isSeparate ? pps : [], size: packing.prefix, high: high)
    return RepackStream.caps(packing.format, alignment, codecData: record)
  }
}

/// A Baseline stream of one grey macroblock a picture: an IDR picture with DC prediction, then skipped macroblocks.
enum TinyStream {
  static let sps: [UInt8] = {
    var writer = BitWriter()
    writer.u(8, 0x67)
    writer.u(24, 0x42C00A)
    writer.ue(0)
    writer.ue(0)  // frame_num of 4 bits
    writer.ue(2)  // picture order by decoding order
    writer.ue(1)
    writer.flag(false)
    writer.ue(0)
    writer.ue(0)
    writer.u(4, 0b1100)
    writer.trailingBits()
    return writer.bytes
  }()

  static let pps = RepackStream.pps()

  /// - Parameters:
  ///   - number: `frame_num`; 0 is an IDR picture.
  ///   - identifier: `idr_pic_id`.
  static func picture(_ number: UInt32, identifier: UInt32 = 0) -> [UInt8] {
    var writer = BitWriter()
    let isIDR = number == 0
    writer.u(8, isIDR ? 0x65 : 0x41)
    writer.ue(0)
    writer.ue(isIDR ? 7 : 5)
    writer.ue(0)
    writer.u(4, number & 15)
    if isIDR {
      writer.ue(identifier)
      writer.u(2, 0)
    } else {
      writer.u(3, 0)  // no other reference count, no reordering, no marking
    }
    writer.se(0)
    if isIDR {
      // Intra_16x16 with DC prediction, and no coefficients.
      writer.ue(3)
      writer.ue(0)
      writer.se(0)
      writer.flag(true)
    } else {
      writer.ue(1)  // one macroblock skipped
    }
    writer.trailingBits()
    return writer.bytes
  }
}
