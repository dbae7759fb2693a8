// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import HardwareSupport
import HarnessSupport
import Testing

/// Flushes, and formats that change in mid-stream.
extension HardwareDecoderTests {
  @Test(arguments: ["clip.h264", "clip.h265", "open-gop.h265", "interlaced.h264"], settings)
  func flushesAsSoftwareDoes(_ clip: String, _ settings: String) throws {
    let units = try ElementDriver.accessUnits(clip)
    func decode(_ settings: String) throws -> [Int] {
      let harness = try device.decoder(clip, settings)
      var pictures: [Int] = []
      for count in [1, 7, 20] {
        for unit in units.prefix(count) { #expect(harness.push(unit) == 0) }
        harness.flush()
        pictures += try harness.takePictures().map(\.fingerprint)
      }
      pictures += try harness.decodeUntimed(units).map(\.fingerprint)
      #expect(harness.statistic("software-fallbacks") == nil)
      return pictures
    }
    let expected = try decode("hardware=off")
    #expect(try decode(settings) == expected)
    #expect(expected.count >= units.count / 2)
  }

  /// The streams that follow each other in one stream.
  static let changes = [
    ["clip.h264", "wide.h264", "interlaced.h264", "clip.h264"],
    ["clip.h265", "wide.h265", "ten-bit.h265", "clip.h265"],
  ]

  /// Every buffer, and the caps events, in the order in which they come out.
  private func output(_ clips: [String], _ settings: String) throws -> [String] {
    let harness = try device.decoder(clips[0], settings, takesVideoMeta: false)
    let recording = HarnessRecording(harness)
    for clip in clips {
      for unit in try ElementDriver.accessUnits(clip).prefix(20) { #expect(harness.push(unit) == 0) }
    }
    harness.endOfStream()
    return recording.entries.compactMap { entry in
      let text = "\(entry)"
      return text.contains("latency") ? nil : text
    }
  }

  @Test(arguments: changes, settings)
  func sizeAndDepthChangeInMidStream(_ clips: [String], _ settings: String) throws {
    let before = device.driver.decodedCount
    let output = try output(clips, settings)
    #expect(output == (try self.output(clips, "hardware=off")))
    #expect(output.count { $0.contains("video/x-raw") } >= clips.count)
    #expect(device.driver.decodedCount - before >= 15 * clips.count)
  }

  /// Downstream asks for another layout of the samples: the next session begins with the same references.
  @Test(arguments: ["clip.h264", "clip.h265"], settings)
  func downstreamRequestsAnotherFormatInMidStream(_ clip: String, _ settings: String) throws {
    let units = Array(try ElementDriver.accessUnits(clip).prefix(24))
    for (first, second) in [("I420", "NV12"), ("NV12", "I420")] {
      let old = try software(clip, units, output: "video/x-raw, format=\(first)")
      let new = try software(clip, units, output: "video/x-raw, format=\(second)")
      let harness = try device.decoder(clip, settings, output: "video/x-raw, format=\(first)")
      var pictures: [Picture] = []
      for (index, unit) in units.enumerated() {
        if index == 8 {
          harness.setOutputCaps("video/x-raw, format=\(second)")
          harness.pushUpstream(.reconfigure())
        }
        #expect(harness.push(unit) == 0)
        pictures += try harness.takePictures()
      }
      harness.endOfStream()
      pictures += try harness.takePictures()
      #expect(pictures.count == new.count)
      let wrong = pictures.indices.filter { index in
        pictures[index].bytes != new[index].bytes
          && (index > new.count - 8 || pictures[index].bytes != old[index].bytes)
      }
      #expect(wrong.isEmpty, "\(first) to \(second)")
      #expect(harness.takeFaults().isEmpty)
      #expect(harness.statistic("software-fallbacks") == nil)
    }
  }

  /// What takes effect with the next session changes nothing before; all others take effect, and lose no picture.
  @Test(arguments: ["clip.h264", "clip.h265"], ["isolation=none", "isolation=process"])
  func propertiesChangeWhileItRuns(_ clip: String, _ isolation: String) throws {
    let units = try ElementDriver.accessUnits(clip)
    let expected = try software(clip, units + units).map(\.fingerprint)
    let harness = try device.decoder(clip, "hardware=auto \(isolation)")
    let values = ["off", "auto", "required"]
    for (index, unit) in units.enumerated() {
      #expect(harness.push(unit) == 0)
      harness.set("hardware", values[index % 3])
      harness.set("session-retries", "\(index % 4)")
      harness.set("output-corrupt", index % 2 == 0 ? "true" : "false")
    }
    #expect(harness.statisticText("decoder") == "VA-API, h26x test driver")
    harness.set("session-retries", "5")
    try device.inject(.error, at: 3, of: clip, times: 1)
    #expect(try harness.decodeUntimed(units).map(\.fingerprint) == expected)
    #expect(harness.takeFaults().count == 1)
  }
}
