// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// What the source caps say that the sink caps do not.
@Suite(.serialized) struct H264DecodeCapsTests {
  // MARK: Fields

  @Test func interlacedStreamsSayWhichFieldComesFirst() throws {
    let harness = try Harness.decoder()
    let pictures = try harness.decode(Clip.accessUnits("interlaced.h264"))
    #expect(pictures.count == 25)
    let caps = try harness.outputCaps()
    #expect(caps.first.string("interlace-mode") == "interleaved")
    #expect(caps.first.string("field-order") == "bottom-field-first")
    #expect(harness.takeCapsEvents().count == 1)
    #expect(pictures.allSatisfy { $0.flags.contains(.interlaced) && !$0.flags.contains(.topFieldFirst) })
  }

  @Test func aPictureThatDiffersMakesThemMixed() throws {
    // Picture timing says of the second group that it was filmed frame by frame.
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

  @Test func theSinkCapsInterlaceModeStays() throws {
    let harness = try Harness.decoder(input: Harness.byteStream + ", interlace-mode=progressive")
    _ = try harness.decode(Clip.accessUnits("interlaced.h264"))
    let caps = try harness.outputCaps()
    #expect(caps.first.string("interlace-mode") == "progressive")
    #expect(harness.takeCapsEvents().count == 1)
  }

  /// Behind a splice the pictures of the stream before come out before the caps change, and all of them as they were.
  @Test func aSpliceEndsTheCapsBeforeIt() throws {
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

  // MARK: HDR

  private static let display = "13250:34500:7500:3000:34000:16000:15635:16450:16843009:33686018"
  private static let light = "1000:400"

  @Test func displayMetadataComesFromTheStream() throws {
    var units = try Clip.accessUnits("clip.h264")
    units[0] = inserting(displayMetadata, into: units[0])
    let harness = try Harness.decoder()
    let pictures = try harness.decode(units)
    #expect(try checksum(pictures) == Clip.checksum())
    // It lasts until an IDR picture comes without.
    let caps = harness.takeCapsEvents()
    #expect(caps.count == 2)
    #expect(caps.first?.contains("mastering-display-info=(string)\(Self.display)") == true)
    #expect(caps.first?.contains("content-light-level=(string)\(Self.light)") == true)
    #expect(caps.last?.contains("mastering-display-info") == false)
    #expect(caps.last?.contains("content-light-level") == false)
  }

  @Test func displayMetadataThatGoesOnChangesNothing() throws {
    let units = try Clip.accessUnits("clip.h264").map { isIDR($0) ? inserting(displayMetadata, into: $0) : $0 }
    let harness = try Harness.decoder()
    #expect(try checksum(harness.decode(units)) == Clip.checksum())
    let caps = harness.takeCapsEvents()
    #expect(caps.count == 1)
    #expect(caps.first?.contains(Self.display) == true)
    #expect(harness.statistic("replayed") == 0)
  }

  @Test func theSinkCapsDisplayMetadataStays() throws {
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
