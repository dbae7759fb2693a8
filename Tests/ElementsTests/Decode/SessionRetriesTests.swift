// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CGStreamer
import H26x
import HarnessSupport
import Testing

@testable import Elements
@testable import GStreamer
@testable import VideoDecoding

/// The property `session-retries` of decoders.
@Suite(.serialized) struct SessionRetriesTests {
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
    element(of: harness).core = DecoderCore<H264>(log: H264Decode.log) {
      (format, configuration, allocator) throws(DecodeError) in
      try DecompressionSession(format: format, configuration: configuration, allocator: allocator) {
        (settings, bridge) throws(CodecFailure) in
        do throws(AVError) {
          return RunningCodec(LosingCodec(try CodecContext(settings, buffers: bridge), places))
        } catch { throw CodecFailure(error) }
      }
    }
    // Caps that differ from the first, so that the core opens another session.
    harness.setInputCaps(Harness.byteStream + ", framerate=25/1")
    return harness
  }

  private func element(of harness: Harness) -> H264Decode {
    unsafe swiftObject(
      UnsafeMutableRawPointer(harness.element), behind: H264Decode.parentType.instanceSize, as: H264Decode.self)
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
  @Test func takesEffectWhilePlaying() throws {
    let harness = try decoder("session-retries=5", losing: 10..<Int64(secondGroup))
    #expect(harness.push(units: Array(units[..<5])).allSatisfy { $0 == 0 })
    harness.set("session-retries", "1")
    #expect(harness.push(units: Array(units[5...])).allSatisfy { $0 == 0 })
    #expect(element(of: harness).core.session.current?.configuration.retries == 1)
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
