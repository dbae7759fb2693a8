// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import GStreamer
import HardwareSupport
import HarnessSupport
import TestSupport
import Testing
import VideoDecoding

/// Pipelines: seeks, reverse playback, and states.
extension HardwareDecoderTests {
  private static let end = Clip.time(Clip.frameCount).nanoseconds

  private func pipeline(_ codec: StreamCodec, _ settings: String) throws -> PlayedPipeline {
    let clip = Clip.path(codec == .h264 ? "clip.mp4" : "clip-h265.mp4")
    return try PlayedPipeline(
      "filesrc location=\(clip) ! qtdemux ! "
        + codec.chain("swifth264dec hardware-device=\(device.driver.display) max-threads=1 \(settings)")
        + " ! fakesink name=sink sync=false")
  }

  /// The numbers and samples of the pictures that come while `play` runs.
  private func frames(
    _ codec: StreamCodec, _ settings: String, _ play: (PlayedPipeline) -> Void
  ) throws -> [String] {
    let pipeline = try pipeline(codec, settings)
    #expect(pipeline.go(to: GST_STATE_PAUSED))
    play(pipeline)
    return zip(pipeline.takeFrameNumbers(), pipeline.takeFingerprints()).map { "\($0.0) \($0.1)" }
  }

  @Test(arguments: StreamCodec.allCases, settings)
  func seeksShowTheSamePictures(_ codec: StreamCodec, _ settings: String) throws {
    func play(_ pipeline: PlayedPipeline) {
      for frame in [30, 5, 61, 0, 26, 24] {
        let time = Clip.time(frame).nanoseconds
        #expect(pipeline.seek(GST_SEEK_FLAG_FLUSH, GST_SEEK_FLAG_ACCURATE, from: time, to: Self.end))
        #expect(pipeline.go(to: GST_STATE_PAUSED))
      }
    }
    let before = device.driver.decodedCount
    let frames = try frames(codec, settings, play)
    #expect(frames == (try self.frames(codec, "hardware=off", play)))
    #expect(frames.count == 7)
    #expect(device.driver.decodedCount > before + 6)
  }

  @Test(arguments: StreamCodec.allCases, settings)
  func reversePlaybackShowsTheSamePictures(_ codec: StreamCodec, _ settings: String) throws {
    func play(_ pipeline: PlayedPipeline) {
      #expect(pipeline.seek(rate: -1, GST_SEEK_FLAG_FLUSH, from: 0, to: Self.end))
      #expect(pipeline.go(to: GST_STATE_PAUSED))
      #expect(pipeline.go(to: GST_STATE_PLAYING))
      #expect(pipeline.waits(for: GST_MESSAGE_EOS))
    }
    let (decoded, garbage) = (device.driver.decodedCount, device.driver.garbageCount)
    let frames = try frames(codec, settings, play)
    #expect(frames == (try self.frames(codec, "hardware=off", play)))
    #expect(frames.count == Clip.frameCount + 1)
    #expect(device.driver.decodedCount - decoded >= Clip.frameCount)
    // The picture that is never output.
    #expect(device.driver.garbageCount - garbage <= 1)
  }

  @Test(arguments: StreamCodec.allCases, ["hardware=auto isolation=process", "hardware=auto isolation=none"])
  func aHundredRunsLeakNothing(_ codec: StreamCodec, _ settings: String) throws {
    let surfaces = device.driver.liveSurfaces
    let displays = device.driver.liveDisplays
    let pipeline = try PlayedPipeline(
      codec.chain(
        "filesrc location=\(Clip.path("clip.\(codec)")) ! swifth264parse "
          + "! swifth264dec hardware-device=\(device.driver.display) max-threads=1 \(settings) "
          + "! fakesink name=sink sync=false"))
    let states = [GST_STATE_NULL, GST_STATE_READY]
    for number in 0..<100 {
      #expect(pipeline.go(to: GST_STATE_PAUSED))
      #expect(pipeline.go(to: states[number % 2]))
    }
    _ = pipeline.takeFrameNumbers()
    #expect(pipeline.go(to: GST_STATE_PLAYING))
    #expect(pipeline.waits(for: GST_MESSAGE_EOS))
    #expect(pipeline.takeFrameNumbers().count == Clip.frameCount)
    #expect(pipeline.go(to: GST_STATE_NULL))
    guard settings.hasSuffix("process") else {
      #expect(device.driver.liveDisplays == displays)
      #expect(device.driver.liveSurfaces == surfaces)
      return
    }
    // A process that ends takes nothing back from the driver's counts, and ends at its own pace.
    let starter = try #require(CodecStarter.shared.hardware?.processIdentifier)
    #expect(comesTrue { children(of: starter).isEmpty })
  }

  private func children(of process: Int32) -> String {
    (try? String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)) ?? ""
  }
}
