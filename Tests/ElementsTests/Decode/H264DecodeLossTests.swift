// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CGStreamer
import H26x
import HarnessSupport
import Testing

@testable import Elements
@testable import GStreamer
@testable import VideoDecoding

/// Streams without random access points.
@Suite(.serialized) struct H264DecodeLossTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  /// A stream of P pictures with gradual refresh, without its recovery point SEI.
  private func unmarked() throws -> [[UInt8]] {
    let whole = try Clip.accessUnits("intra-refresh.h264")
    let sets = Clip.nalUnits(whole[0]).filter { 7...8 ~= $0[0] & 31 }
    return whole.dropFirst().enumerated().map { index, unit in
      let bare = Clip.nalUnits(unit).filter { 1...5 ~= $0[0] & 31 }
      return RepackStream.annexB((index == 0 ? sets : []) + bare)
    }
  }

  /// At the end the held pictures are output, all flagged; a keyframe was requested before.
  @Test func aShortStreamWithoutARandomAccessPointIsShownAtTheEnd() throws {
    let harness = try Harness.decoder("swifth264dec thread-type=none")
    harness.collectMessages()
    let units = try unmarked()
    for (index, unit) in units.enumerated() { #expect(harness.push(unit, pts: Clip.time(index)) == 0) }
    #expect(harness.received == 0)
    #expect(harness.takeForceKeyUnitEvents() >= 1)
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(pictures.count >= units.count - 1)
    #expect(pictures.allSatisfy { $0.flags.contains(.corrupted) })
    let fault = try #require(harness.takeFault())
    #expect(!fault.isError && fault.message.contains("no random access point"))
    #expect(fault.details.contains("reason=(string)referenceMissing"))
    #expect(harness.takeFault() == nil)
  }

  /// After ten seconds the pictures that were held from the start on are output.
  @Test func outputsHeldPicturesAfterTenSeconds() throws {
    let harness = try Harness.decoder("swifth264dec thread-type=none")
    harness.collectMessages()
    let units = try unmarked()
    // Two pictures a second.
    for index in 0..<20 { #expect(harness.push(units[index], pts: Clip.time(index * 25 / 2)) == 0) }
    #expect(harness.received == 0 && harness.takeFault() == nil)
    for index in 20..<25 { #expect(harness.push(units[index], pts: Clip.time(index * 25 / 2)) == 0) }
    #expect(harness.received > 0)
    #expect(harness.takeFault()?.isError == false)
    harness.endOfStream()
    #expect(try harness.takePictures().count >= 24)
    #expect(harness.takeFault() == nil)
  }

  /// Pictures in front of the end of a gradual refresh are flagged, or not output if damage is not wanted. All pictures
  /// behind it are the same as in the whole stream.
  @Test(arguments: [true, false]) func aGradualRefreshIsFlaggedUntilItsEnd(_ outputCorrupt: Bool) throws {
    let units = try Clip.accessUnits("intra-refresh.h264")
    let sets = Clip.nalUnits(units[0]).filter { 7...8 ~= $0[0] & 31 }
    let whole = try Harness.decoder("swifth264dec thread-type=none")
    whole.push(units: units)
    whole.endOfStream()
    let expected = try whole.takePictures().map(\.bytes)
    let points = units.indices.dropFirst().filter { index in
      Clip.nalUnits(units[index]).contains { $0.starts(with: [6, 6]) }
    }
    #expect(points.count >= 4)
    for start in points.prefix(4) {
      let harness = try Harness.decoder("swifth264dec thread-type=none output-corrupt=\(outputCorrupt)")
      harness.push(units: [RepackStream.annexB(sets) + units[start]] + units[(start + 1)...])
      harness.endOfStream()
      let pictures = try harness.takePictures()
      let unflagged = pictures.drop { $0.flags.contains(.corrupted) }
      #expect(unflagged.allSatisfy { !$0.flags.contains(.corrupted) })
      let flagged = pictures.count - unflagged.count
      #expect(outputCorrupt ? 1..<30 ~= flagged : flagged == 0, "from \(start): \(flagged)")
      #expect(outputCorrupt ? pictures.count == units.count - start : unflagged.count > units.count - start - 30)
      for (picture, bytes) in zip(unflagged.reversed(), expected.reversed()) {
        #expect(picture.bytes == bytes, "from \(start)")
      }
    }
  }

  /// A flush drops the pictures that were held.
  @Test func aFlushDropsHeldPictures() throws {
    let harness = try Harness.decoder("swifth264dec thread-type=none")
    harness.collectMessages()
    for (index, unit) in try unmarked().prefix(10).enumerated() { harness.push(unit, pts: Clip.time(index)) }
    harness.flush()
    #expect(try checksum(harness.decode(units)) == Clip.checksum())
    #expect(harness.takeFault() == nil)
  }
}
