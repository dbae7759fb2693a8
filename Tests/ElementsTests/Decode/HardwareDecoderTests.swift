// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import HardwareSupport
import HarnessSupport
import TestSupport
import Testing
import VideoDecoding

@testable import Elements

/// Decoder elements on a device, for which the driver in `Tests/VADriver` stands in. All tests share one driver, and it
/// does one thing wrong at a time: they run one after the other, those in other files among them.
@Suite(.enabled(if: ElementDriver.shared != nil), .serialized) struct HardwareDecoderTests {
  let device: ElementDriver

  init() throws {
    device = try #require(ElementDriver.shared)
    PictureSurface.takeSharedMemory()
    device.driver.inject(.none)
  }

  /// The settings under which pictures are software's.
  static let settings = [
    "hardware=auto isolation=process", "hardware=required isolation=process", "hardware=auto isolation=none",
    "hardware=required isolation=none",
  ]

  /// The pictures that software decodes.
  func software(_ clip: String, _ units: [[UInt8]], output: String? = nil, takesVideoMeta: Bool = true) throws
    -> [Picture]
  {
    try device.decoder(clip, "hardware=off", output: output, takesVideoMeta: takesVideoMeta).decodeUntimed(units)
  }

  @Test(arguments: TestScope.rows(ElementDriver.clips, usually: 2), settings)
  func outputsTheSamePictures(_ clip: String, _ settings: String) throws {
    let units = try ElementDriver.accessUnits(clip)
    for output in [nil, "video/x-raw, format=BGRx"] {
      for takesVideoMeta in [true, false] {
        let expected = try software(clip, units, output: output, takesVideoMeta: takesVideoMeta)
        let before = device.driver.decodedCount
        let harness = try device.decoder(clip, settings, output: output, takesVideoMeta: takesVideoMeta)
        let pictures = try harness.decodeUntimed(units)
        #expect(pictures.map(\.fingerprint) == expected.map(\.fingerprint))
        #expect(!pictures.isEmpty)
        #expect(device.driver.decodedCount - before >= pictures.count)
        #expect(harness.statisticText("decoder") == "VA-API, h26x test driver")
        #expect(harness.statistic("software-fallbacks") == nil)
        #expect(harness.takeFaults().isEmpty)
      }
    }
  }

  /// If downstream takes several formats, pictures come as the device has them. Without a device, they come as
  /// libavcodec has them.
  @Test(
    arguments: [("clip.h264", "NV12", "I420"), ("ten-bit.h265", "P010_10LE", "I420_10LE")], settings + ["hardware=off"])
  func picturesOfADeviceAreNotConverted(_ formats: (clip: String, device: String, software: String), _ settings: String)
    throws
  {
    let units = try ElementDriver.accessUnits(formats.clip)
    let isOff = settings == "hardware=off"
    let format = isOff ? formats.software : formats.device
    let expected = try software(formats.clip, units, output: "video/x-raw, format=\(format)")
    for output in ["\(formats.software), \(formats.device)", "\(formats.device), \(formats.software), BGRx"] {
      let harness = try device.decoder(formats.clip, settings, output: "video/x-raw, format={\(output)}")
      let pictures = try harness.decodeUntimed(units)
      let caps = try harness.outputCaps()
      #expect(caps[0].string("format") == format, "\(output)")
      #expect(pictures.map(\.fingerprint) == expected.map(\.fingerprint), "\(output)")
      #expect(harness.statistic("copied") == 0)
      #expect(harness.statistic("software-fallbacks") == nil)
    }
  }

  /// The pools of device, codec and element are smaller than what a sink holds that takes nothing.
  @Test(arguments: ["clip.h264", "clip.h265"], settings)
  func aSinkThatHoldsAllPicturesDoesNotStall(_ clip: String, _ settings: String) throws {
    let units = try ElementDriver.accessUnits(clip)
    let all = units + units + units
    let expected = try software(clip, all).map(\.fingerprint)
    let harness = try device.decoder(clip, settings)
    for unit in all { #expect(harness.push(unit) == 0) }
    harness.endOfStream()
    #expect(harness.waiting == all.count)
    #expect(try harness.takePictures().map(\.fingerprint) == expected)
    #expect(harness.statistic("software-fallbacks") == nil)
  }

  // MARK: What the device does not do

  @Test(
    arguments: ["clip.h264", "clip.h265"],
    [VADriver.Fault.error, .crash, .lostContext, .syncFailure, .refusedProfile, .refusedSize, .fewSurfaces])
  func fallsBackWithOneMessageAndWithoutLoss(_ clip: String, _ fault: VADriver.Fault) throws {
    let units = try ElementDriver.accessUnits(clip)
    let expected = try software(clip, units + units).map(\.fingerprint)
    try device.inject(fault, parameter: 1, at: units.count / 2, of: clip)
    let harness = try device.decoder(clip, "hardware=auto isolation=process")
    // The device fails again in the second round.
    let pictures = try harness.decodeUntimed(units + units)
    #expect(pictures.map(\.fingerprint) == expected)
    let faults = harness.takeFaults()
    #expect(faults.count == 1)
    #expect(faults.first?.isError == false)
    #expect(faults.first?.message == "Decoding continues in software.")
    #expect(faults.first?.details.contains("softwareFallback") == true)
    #expect((harness.statistic("software-fallbacks") ?? 0) >= 1)
    #expect(harness.statistic("lost") == 0)
    #expect(harness.statistic("failed") == 0)
    #expect(harness.statistic("frames-out") == pictures.count)
  }

  /// The element's session is in the application's process, where a driver's crash cannot be survived.
  @Test(arguments: ["clip.h264", "clip.h265"], [VADriver.Fault.error, .lostContext, .syncFailure, .refusedProfile])
  func fallsBackInTheApplicationsProcess(_ clip: String, _ fault: VADriver.Fault) throws {
    let units = try ElementDriver.accessUnits(clip)
    let expected = try software(clip, units).map(\.fingerprint)
    try device.inject(fault, at: units.count / 2, of: clip)
    let harness = try device.decoder(clip, "hardware=auto isolation=none")
    #expect(try harness.decodeUntimed(units).map(\.fingerprint) == expected)
    #expect(harness.takeFaults().count == 1)
    #expect(harness.statistic("software-fallbacks") == 1)
  }

  /// Missing devices, and the errors that report them.
  static let missing = [
    ("/dev/dri/renderD999", "/dev/dri/renderD999 does not exist"), ("nonsense", "'nonsense' names no device"),
    (":9999", "VA-API on :9999"),
  ]

  @Test(arguments: ["isolation=none", "isolation=process"], missing)
  func requiredWithoutADeviceIsOneClearError(_ isolation: String, _ device: (name: String, text: String)) throws {
    let units = try ElementDriver.accessUnits("clip.h264")
    let harness = try self.device.decoder(
      "clip.h264", "hardware=required \(isolation) hardware-device=\(device.name)")
    var result: Int32 = 0
    for unit in units where result == 0 { result = harness.push(unit) }
    #expect(result == GST_FLOW_ERROR.rawValue)
    #expect(harness.received == 0)
    let faults = harness.takeFaults()
    #expect(faults.count == 1)
    #expect(faults.first?.isError == true)
    #expect(faults.first?.message.hasPrefix("No device decodes this stream: ") == true)
    #expect(faults.first?.message.contains(device.text) == true, "\(faults)")
    #expect(faults.first?.message.hasSuffix("hardware=auto would decode it in software.") == true)
  }

  @Test(arguments: ["isolation=none", "isolation=process"])
  func requiredFailsIfTheDeviceRefusesTheStream(_ isolation: String) throws {
    let units = try ElementDriver.accessUnits("clip.h264")
    device.driver.inject(.refusedProfile)
    let harness = try device.decoder("clip.h264", "hardware=required \(isolation)")
    var result: Int32 = 0
    for unit in units where result == 0 { result = harness.push(unit) }
    #expect(result == GST_FLOW_ERROR.rawValue)
    let faults = harness.takeFaults()
    #expect(faults.map(\.isError) == [true])
    #expect(faults.first?.message.hasPrefix("No device decodes this stream: ") == true, "\(faults)")
    // Sources end the stream after an error. The base class then reports that nothing came out, and nobody else does.
    harness.endOfStream()
    let later = harness.takeFaults().map(\.message)
    #expect(later == ["No valid frames decoded before end of stream"])
  }

  @Test(arguments: ["isolation=none", "isolation=process"], missing)
  func autoWithoutADeviceDecodesInSoftware(_ isolation: String, _ device: (name: String, text: String)) throws {
    let units = try ElementDriver.accessUnits("clip.h264")
    let expected = try software("clip.h264", units).map(\.fingerprint)
    let harness = try self.device.decoder("clip.h264", "hardware=auto \(isolation) hardware-device=\(device.name)")
    #expect(try harness.decodeUntimed(units).map(\.fingerprint) == expected)
    let faults = harness.takeFaults()
    #expect(faults.map(\.isError) == [false])
    #expect(faults.first?.debug.contains(device.text) == true, "\(faults)")
    #expect(harness.statisticText("decoder") == "software")
  }
}
