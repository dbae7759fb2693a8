// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CGStreamer
import H26x
import HarnessSupport
import Testing

@testable import Elements
@testable import GStreamer
@testable import VideoDecoding

/// A lost codec, and streams without random access points.
@Suite(.serialized) struct H264DecodeLossTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  private var secondGroup: Int {
    units.indices.dropFirst().first { index in Clip.nalUnits(units[index]).contains { $0[0] & 31 == 5 } } ?? 0
  }

  /// A decoder whose codecs fail whenever they are given one of these access units, counted from 0.
  private func decoder(_ properties: String, losing places: Range<Int64>) throws -> Harness {
    let harness = try Harness.decoder("swifth264dec thread-type=none \(properties)")
    harness.collectMessages()
    harness.play()
    let element = unsafe swiftObject(
      UnsafeMutableRawPointer(harness.element), behind: H264Decode.parentType.instanceSize, as: H264Decode.self)
    element.core = DecoderCore<H264>(log: H264Decode.log) { (format, configuration, allocator) throws(DecodeError) in
      try DecompressionSession(format: format, configuration: configuration, allocator: allocator) {
        (settings, bridge) throws(AVError) in
        RunningCodec(LosingCodec(try CodecContext(settings, buffers: bridge), places))
      }
    }
    // Caps that differ from the first, so that the core opens another session.
    harness.setInputCaps(Harness.byteStream + ", framerate=25/1")
    return harness
  }

  private func accounts(_ harness: Harness, for count: Int) -> Bool {
    let ended = (harness.statistic("dropped") ?? 0) + (harness.statistic("failed") ?? 0)
    return harness.statistic("frames-in") == count && (harness.statistic("frames-out") ?? 0) + ended == count
  }

  /// One warning; decoding continues at the next random access point.
  @Test(arguments: [0, 1, 5]) func aLostCodecPostsOneWarning(retries: Int) throws {
    let harness = try decoder("session-retries=\(retries)", losing: 10..<Int64(secondGroup))
    #expect(harness.push(units: units).allSatisfy { $0 == 0 })
    harness.endOfStream()
    let fault = try #require(harness.takeFault())
    #expect(!fault.isError && fault.domain == "gst-resource-error-quark")
    #expect(fault.details.contains("videotoolbox-status=(int)-12911"))
    #expect(fault.debug.contains("next random access point"))
    #expect(harness.takeFault() == nil)
    #expect(harness.statistic("session-restarts") == retries + 1)
    #expect(accounts(harness, for: units.count))
    let whole = try Harness.decoder().decode(units)
    let pictures = try harness.takePictures()
    #expect(checksum(pictures.suffix(units.count - secondGroup)) == checksum(Array(whole[secondGroup...])))
    // The pictures that the codec held when it was lost are output too.
    #expect(pictures.count == units.count - secondGroup + 10)
  }

  /// Attempts are those that are set when the codec is lost, not those that the session began with.
  @Test func sessionRetriesTakesEffectWhilePlaying() throws {
    let harness = try decoder("session-retries=5", losing: 10..<Int64(secondGroup))
    #expect(harness.push(units: Array(units[..<5])).allSatisfy { $0 == 0 })
    harness.set("session-retries", "1")
    #expect(harness.push(units: Array(units[5...])).allSatisfy { $0 == 0 })
    harness.endOfStream()
    #expect(harness.statistic("session-restarts") == 2)
    #expect(accounts(harness, for: units.count))
  }

  /// Without a random access point after it, the end of the stream is an error.
  @Test func aLostCodecAtTheEndIsAnError() throws {
    let harness = try decoder("session-retries=2", losing: Int64(secondGroup) + 3..<Int64.max)
    #expect(harness.push(units: Array(units[..<(secondGroup + 8)])).allSatisfy { $0 == 0 })
    #expect(harness.takeFault()?.isError == false)
    harness.endOfStream()
    let fault = try #require(harness.takeFault())
    #expect(fault.isError && fault.debug.contains("the stream ended before"))
    #expect(harness.takeFault() == nil)
    #expect(accounts(harness, for: secondGroup + 8))
    #expect(harness.received == secondGroup + 3)
  }

  // MARK: No random access point

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

  /// Pictures in front of the end of a gradual refresh are flagged, or not output where damage is not wanted; all that
  /// follow are those of the whole stream.
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

/// A libavcodec context whose calls fail at some access units, as with a device that is gone.
private final class LosingCodec: PacketCodec {
  private let codec: CodecContext
  private let places: Range<Int64>

  init(_ codec: CodecContext, _ places: Range<Int64>) { (self.codec, self.places) = (codec, places) }

  func send(_ packet: Packet) throws(AVError) {
    if places.contains(packet.timestamp) { throw .external }
    try codec.send(packet)
  }
  func sendEndOfStream() throws(AVError) { try codec.sendEndOfStream() }
  func receive(_ frame: borrowing Frame) throws(AVError) -> CodecContext.Reception { try codec.receive(frame) }
  func takeErrors(timestamp: Int64) -> FrameErrors { codec.takeErrors(timestamp: timestamp) }
  func flush() { codec.flush() }
  var reorderDepth: Int { codec.reorderDepth }
  var threadDelay: Int { codec.threadDelay }
  var skip: CodecSettings.Skip {
    get { codec.skip }
    set { codec.skip = newValue }
  }
}
