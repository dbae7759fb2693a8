// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Fields of the source caps that come from the stream, not from the sink caps.
@Suite(.serialized) struct H264DecodeCapsTests {
  // MARK: Fields

  @Test func reportsTheFirstFieldOfInterlacedStreams() throws {
    let harness = try Harness.decoder()
    let pictures = try harness.decode(Clip.accessUnits("interlaced.h264"))
    #expect(pictures.count == 25)
    let caps = try harness.outputCaps()
    #expect(caps.first.string("interlace-mode") == "interleaved")
    #expect(caps.first.string("field-order") == "bottom-field-first")
    #expect(harness.takeCapsEvents().count == 1)
    #expect(pictures.allSatisfy { $0.flags.contains(.interlaced) && !$0.flags.contains(.topFieldFirst) })
  }

  @Test func aProgressivePictureMakesTheInterlaceModeMixed() throws {
    // By picture timing, the second group was filmed frame by frame.
    let units = try Clip.accessUnits("interlaced.h264")
    let second = try #require(units.indices.dropFirst().first { isIDR(units[$0]) })
    let changed = units.indices.map { index in
      index < second ? units[index] : replacing([6, 1, 1, 0x42, 0x80], by: [6, 1, 1, 0x04, 0x80], in: units[index])
    }
    #expect(changed.dropFirst(second) != units.dropFirst(second))
    let harness = try Harness.decoder("swifth264dec thread-type=none")
    let pictures = try harness.decode(changed)
    let caps = harness.takeCapsEvents()
    #expect(caps.count == 2)
    #expect(caps.first?.contains("interlace-mode=(string)interleaved") == true)
    #expect(caps.last?.contains("interlace-mode=(string)mixed") == true)
    #expect(pictures.map { $0.flags.contains(.interlaced) } == units.indices.map { $0 < second })
    #expect(try checksum(pictures) == checksum(Harness.decoder().decode(units)))
  }

  @Test func keepsTheInterlaceModeOfSinkCaps() throws {
    let harness = try Harness.decoder(input: Harness.byteStream + ", interlace-mode=progressive")
    _ = try harness.decode(Clip.accessUnits("interlaced.h264"))
    let caps = try harness.outputCaps()
    #expect(caps.first.string("interlace-mode") == "progressive")
    #expect(harness.takeCapsEvents().count == 1)
  }

  /// Pictures of one format that come out behind the first access unit of another keep their interlace mode.
  @Test(arguments: ["thread-type=none", "max-threads=4"]) func eachFormatHasItsInterlaceMode(_ threads: String) throws {
    let clips = ["clip.h264", "wide.h264", "interlaced.h264", "clip.h264"]
    let harness = try Harness.decoder("swifth264dec \(threads)")
    harness.push(units: try clips.flatMap { try Clip.accessUnits($0).prefix(20) })
    harness.endOfStream()
    let modes = harness.takeCapsEvents().map { text in
      guard let caps = Caps(parsing: text) else { return "" }
      return "\(caps.first.int("width") ?? 0) \(caps.first.string("interlace-mode") ?? "")"
    }
    #expect(modes == ["320 progressive", "128 progressive", "96 interleaved", "320 progressive"])
  }

  /// At a splice, all pictures of the first stream come out before the caps change.
  @Test func picturesBeforeASpliceComeBeforeTheNewCaps() throws {
    let first = try Clip.accessUnits("interlaced.h264")
    let second = try Clip.accessUnits("intra-refresh.h264")
    let splice = try #require(second.indices.dropFirst().first { Clip.nalUnits(second[$0]).first?.first == 0x67 })
    let harness = try Harness.decoder("swifth264dec thread-type=none")
    harness.push(units: first)
    var time = first.count
    for index in second.indices.dropFirst(splice) {
      _ = harness.push(second[index], pts: Clip.time(time), duration: Clip.frameDuration)
      time += 1
      guard index == splice else { continue }
      #expect(try checksum(harness.takePictures()) == checksum(Harness.decoder().decode(first)))
    }
    harness.endOfStream()
    #expect(try harness.takePictures().count > second.count - splice - 15)
    let caps = harness.takeCapsEvents()
    #expect(caps.count == 2)
    #expect(caps.last?.contains("interlace-mode=(string)progressive") == true)
  }

  // MARK: Colour

  /// Colour descriptions of the sink caps and of the stream.
  struct Colour: Sendable, CustomTestStringConvertible {
    var isFullRange: Bool?
    var primaries: UInt8?, transfer: UInt8 = 2, matrix: UInt8 = 2
    /// In the sink caps.
    var caps: String?
    var expected: String?

    var testDescription: String { "\(isFullRange.map(String.init) ?? "-") \(primaries ?? 0) \(caps ?? "-")" }
  }

  /// Each unknown part is taken from the stream; range and matrix that neither has, from the size.
  @Test(arguments: [
    Colour(expected: nil),
    Colour(isFullRange: false, primaries: 2, matrix: 1, expected: "2:3:0:0"),
    Colour(isFullRange: false, primaries: 2, matrix: 1, caps: "0:3:0:0", expected: "2:3:0:0"),
    Colour(isFullRange: true, primaries: 2, matrix: 1, caps: "0:3:0:0", expected: "1:3:0:0"),
    Colour(isFullRange: true, primaries: 1, transfer: 1, matrix: 1, caps: "2:4:0:0", expected: "2:4:5:1"),
    Colour(isFullRange: true, primaries: 1, transfer: 1, matrix: 1, caps: "bt601", expected: "bt601"),
    Colour(caps: "0:3:0:0", expected: "2:3:0:0"),
    Colour(isFullRange: false, expected: "2:0:0:0"),
    Colour(isFullRange: false, primaries: 2, expected: "2:0:0:0"),
    Colour(isFullRange: false, primaries: 2, caps: "0:0:0:0", expected: "2:0:0:0"),
    Colour(caps: "2:0:0:0", expected: "2:0:0:0"),
    // Without a matrix other elements would ignore the range.
    Colour(isFullRange: true, expected: "1:4:0:0"),
    Colour(isFullRange: false, primaries: 1, expected: "2:4:0:1"),
  ]) func completesColorimetryFromTheStream(_ colour: Colour) throws {
    let units = try Clip.accessUnits("clip.h264").prefix(3).map { unit in
      try Clip.nalUnits(unit).flatMap { nalUnit -> [UInt8] in
        guard nalUnit[0] & 31 == 7 else { return [0, 0, 0, 1] + nalUnit }
        var sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
        sps.vui?.videoSignal = colour.isFullRange.map { isFullRange in
          H264.VUI.VideoSignal(
            isFullRange: isFullRange,
            colour: colour.primaries.map {
              ColourDescription(primaries: $0, transfer: colour.transfer, matrix: colour.matrix)
            })
        }
        return [0, 0, 0, 1] + sps.nalUnit()
      }
    }
    let field = colour.caps.map { ", colorimetry=(string)\($0)" } ?? ""
    let harness = try Harness.decoder(input: Harness.byteStream + field)
    _ = try harness.decode(units)
    let caps = try harness.outputCaps()
    #expect(caps.first.string("colorimetry") == colour.expected)
  }

  /// Limited range and a BT.709 matrix, primaries and transfer unspecified, after a parser that loses the range.
  @Test(.enabled(if: Clip.vector("vali_test_rot_90_deg.mp4") != nil)) func colorimetryMatchesTheStockDecoder() throws {
    let path = try #require(Clip.vector("vali_test_rot_90_deg.mp4"))
    for parser in ["", "h264parse ! ", "swifth264parse ! "] {
      let ours = try negotiatedCaps("filesrc location=\(path) ! qtdemux ! \(parser)swifth264dec")
      let stock = try negotiatedCaps("filesrc location=\(path) ! qtdemux ! \(parser)avdec_h264")
      #expect(ours.contains("colorimetry=(string)2:3:0:0"))
      #expect(ours == stock)
    }
  }

  /// The caps that reach a sink in a pipeline.
  private func negotiatedCaps(_ description: String) throws -> String {
    let pipeline = try PlayedPipeline(description + " ! fakesink name=sink")
    #expect(pipeline.go(to: GST_STATE_PAUSED))
    return pipeline.sinkCaps
  }

  // MARK: What passes through

  @Test func multiviewFieldsPassThrough() throws {
    let flags = "(GstVideoMultiviewFlagsSet)7:ffffffff:+right-view-first+left-flipped+left-flopped"
    let harness = try Harness.decoder(
      input: Harness.byteStream + ", multiview-mode=(string)top-bottom, multiview-flags=\(flags)")
    _ = try harness.decode(Array(Clip.accessUnits("clip.h264").prefix(3)))
    let caps = try harness.outputCaps()
    #expect(caps.first.string("multiview-mode") == "top-bottom")
    #expect(caps.description.contains("+right-view-first+left-flipped+left-flopped/right-flipped"))
    let plain = try Harness.decoder()
    _ = try plain.decode(Array(Clip.accessUnits("clip.h264").prefix(3)))
    let without = try plain.outputCaps()
    #expect(!without.first.has("multiview-mode") && !without.first.has("multiview-flags"))
  }

  /// The decoder answers accept-caps queries by its template.
  @Test(arguments: [
    (Harness.byteStream, true), ("video/x-h264, stream-format=avc3, alignment=nal, width=64", true),
    ("video/x-h264, stream-format=byte-stream, alignment=none", false), ("video/x-h264, alignment=au", false),
    ("video/x-h264, stream-format=hvc1, alignment=au", false), ("video/x-h265, stream-format=byte-stream", false),
  ]) func acceptsCapsByItsTemplate(caps: String, accepted: Bool) throws {
    let harness = try Harness.decoder()
    guard let caps = Caps(parsing: caps) else { throw Harness.Failure.noCaps }
    let isAccepted = harness.sinkAccepts(caps)
    #expect(isAccepted == accepted)
  }

  // MARK: HDR

  private static let display = "13250:34500:7500:3000:34000:16000:15635:16450:16843009:33686018"
  private static let light = "1000:400"

  @Test func displayMetadataComesFromTheStream() throws {
    var units = try Clip.accessUnits("clip.h264")
    units[0] = inserting(displayMetadata, into: units[0])
    let harness = try Harness.decoder()
    let pictures = try harness.decode(units)
    #expect(try checksum(pictures) == Clip.checksum())
    // It lasts until an IDR picture without it.
    let caps = harness.takeCapsEvents()
    #expect(caps.count == 2)
    #expect(caps.first?.contains("mastering-display-info=(string)\(Self.display)") == true)
    #expect(caps.first?.contains("content-light-level=(string)\(Self.light)") == true)
    #expect(caps.last?.contains("mastering-display-info") == false)
    #expect(caps.last?.contains("content-light-level") == false)
  }

  @Test func repeatedDisplayMetadataSendsNoNewCaps() throws {
    let units = try Clip.accessUnits("clip.h264").map { isIDR($0) ? inserting(displayMetadata, into: $0) : $0 }
    let harness = try Harness.decoder()
    #expect(try checksum(harness.decode(units)) == Clip.checksum())
    let caps = harness.takeCapsEvents()
    #expect(caps.count == 1)
    #expect(caps.first?.contains(Self.display) == true)
    #expect(harness.statistic("replayed") == 0)
  }

  @Test func keepsTheDisplayMetadataOfSinkCaps() throws {
    var units = try Clip.accessUnits("clip.h264")
    units[0] = inserting(displayMetadata, into: units[0])
    let harness = try Harness.decoder(input: Harness.byteStream + ", content-light-level=(string)\"1:2\"")
    _ = try harness.decode(units)
    let caps = harness.takeCapsEvents()
    #expect(caps.first?.contains("content-light-level=(string)1:2") == true)
    #expect(caps.first?.contains(Self.display) == true)
    #expect(caps.last?.contains("content-light-level=(string)1:2") == true)
  }

  // MARK: Helpers

  /// Messages 137 and 144 in one SEI NAL unit, primaries in the order green, blue, red. No byte of them is zero next to
  /// another zero.
  private var displayMetadata: [UInt8] {
    var writer = BitWriter()
    writer.u(8, 6)
    writer.u(8, 137)
    writer.u(8, 24)
    for value in [7500, 3000, 34000, 16000, 13250, 34500, 15635, 16450] as [UInt32] { writer.u(16, value) }
    writer.u(32, 0x0101_0101)
    writer.u(32, 0x0202_0202)
    writer.u(8, 144)
    writer.u(8, 4)
    writer.u(16, 1000)
    writer.u(16, 400)
    writer.trailingBits()
    return writer.bytes
  }

  private func isIDR(_ unit: [UInt8]) -> Bool { Clip.nalUnits(unit).contains { $0[0] & 31 == 5 } }

  /// Before the first slice.
  private func inserting(_ nalUnit: [UInt8], into unit: [UInt8]) -> [UInt8] {
    var nalUnits = Clip.nalUnits(unit)
    nalUnits.insert(nalUnit, at: nalUnits.firstIndex { 1...5 ~= $0[0] & 31 } ?? 0)
    return nalUnits.flatMap { [0, 0, 0, 1] + $0 as [UInt8] }
  }

  private func replacing(_ old: [UInt8], by new: [UInt8], in unit: [UInt8]) -> [UInt8] {
    Clip.nalUnits(unit).flatMap { [0, 0, 0, 1] + ($0 == old ? new : $0) as [UInt8] }
  }
}
