// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HardwareSupport
import HarnessSupport
import Testing

/// Pictures in the device's memory whose caps have a modifier (`format=DMA_DRM`, from GStreamer 1.24 on).
extension HardwareDecoderTests {
  private static let isThere = Runtime.isAtLeast(1, 24)
  private static let tiled = "0x0100000000000001"
  private static let any = "video/x-raw(memory:DMABuf), format=DMA_DRM"
  private static let linear = "video/x-raw(memory:DMABuf), format={NV12, P010_10LE}"
  private static let system = "video/x-raw, format={NV12, P010_10LE}"

  private static func drm(_ formats: String) -> String { "\(any), drm-format={\(formats)}" }

  private func name(_ clip: String) -> String { clip == "ten-bit.h265" ? "P010" : "NV12" }

  private func expected(_ clip: String, _ units: [[UInt8]]) throws -> [[UInt8]?] {
    let format = clip == "ten-bit.h265" ? "P010_10LE" : "NV12"
    return try software(clip, units, output: "video/x-raw, format=\(format)").map(\.bytes)
  }

  private func formats(_ recording: HarnessRecording) -> [String] {
    recording.entries.compactMap { entry in
      guard case .caps(let text) = entry else { return nil }
      guard text.contains("memory:DMABuf") else { return "system" }
      guard let caps = Caps(parsing: text), let format = caps.first.string("format") else { return "none" }
      return format == "DMA_DRM" ? caps.first.string("drm-format") ?? "none" : format
    }
  }

  @Test(.enabled(if: isThere), arguments: ElementDriver.clips, settings)
  func capsHaveTheModifier(_ clip: String, _ settings: String) throws {
    let units = try ElementDriver.accessUnits(clip)
    let expected = try expected(clip, units)
    let name = name(clip)
    for isTiled in [false, true] {
      device.driver.inject(isTiled ? .tiledExport : .none)
      let format = isTiled ? "\(name):\(Self.tiled)" : name
      for output in [
        Self.any, "\(Self.any); \(Self.linear); \(Self.system)", Self.drm("P010, \(format), NV12:0x0000000000000042"),
      ] {
        for takesVideoMeta in [true, false] {
          let harness = try device.decoder(clip, settings, output: output, takesVideoMeta: takesVideoMeta)
          let recording = HarnessRecording(harness, keepsBuffers: true)
          let buffers = try harness.decodeToDeviceMemory(units)
          #expect(buffers.map(\.bytes) == expected)
          #expect(buffers.allSatisfy { $0.isOfDevice })
          #expect(formats(recording) == [format])
          #expect(harness.statistic("copied") == 0)
          #expect(harness.statistic("software-fallbacks") == nil)
          #expect(harness.takeFaults().isEmpty)
        }
      }
    }
  }

  /// Downstream's list decides: other modifiers, or caps without any, for pictures that are not row after row.
  @Test(.enabled(if: isThere), arguments: settings)
  func downloadsPicturesOfUnlistedModifiers(_ settings: String) throws {
    let units = try ElementDriver.accessUnits("clip.h264")
    let expected = try expected("clip.h264", units)
    device.driver.inject(.tiledExport)
    for output in ["\(Self.drm("NV12, NV12:0x0200000000000001")); \(Self.system)", "\(Self.linear); \(Self.system)"] {
      let before = device.driver.exportCount
      let harness = try device.decoder("clip.h264", settings, output: output)
      let buffers = try harness.decodeToDeviceMemory(units)
      #expect(buffers.map(\.bytes) == expected)
      #expect(buffers.allSatisfy { !$0.isOfDevice })
      // Those behind the first are not exported.
      #expect(device.driver.exportCount - before <= 5)
      #expect(harness.takeFaults().isEmpty)
    }
  }

  /// Caps without a modifier are enough if downstream takes only pictures row after row and gets such pictures.
  @Test(.enabled(if: isThere), arguments: settings) func linearPicturesNeedNoModifier(_ settings: String) throws {
    let units = try ElementDriver.accessUnits("clip.h264")
    let harness = try device.decoder("clip.h264", settings, output: "\(Self.linear); \(Self.system)")
    let recording = HarnessRecording(harness, keepsBuffers: true)
    #expect(try harness.decodeToDeviceMemory(units).map(\.bytes) == expected("clip.h264", units))
    #expect(formats(recording) == ["NV12"])
  }

  @Test(.enabled(if: isThere), arguments: changes, settings)
  func sizeAndDepthChangeWithModifiers(_ clips: [String], _ settings: String) throws {
    let parts = try clips.map { Array(try ElementDriver.accessUnits($0).prefix(20)) }
    let expected = try zip(clips, parts).flatMap { try self.expected($0, $1) }
    device.driver.inject(.tiledExport)
    let harness = try device.decoder(clips[0], settings, output: "\(Self.any); \(Self.system)")
    let recording = HarnessRecording(harness, keepsBuffers: true)
    let buffers = try harness.decodeToDeviceMemory(parts.flatMap { $0 })
    #expect(buffers.map(\.bytes) == expected)
    #expect(buffers.allSatisfy { $0.isOfDevice })
    #expect(formats(recording) == clips.map { "\(name($0)):\(Self.tiled)" })
    #expect(harness.takeFaults().isEmpty)
  }

  /// Nothing but what is announced changes, which caps alone show.
  @Test(.enabled(if: isThere), arguments: settings) func sendsNewCapsForTheSameSurfaces(_ settings: String) throws {
    let units = try ElementDriver.accessUnits("clip.h264")
    let expected = try expected("clip.h264", units + units)
    let harness = try device.decoder("clip.h264", settings, output: "\(Self.any); \(Self.system)")
    let recording = HarnessRecording(harness, keepsBuffers: true)
    let buffers = try harness.decodeToDeviceMemory(units + units) { index in
      if index == units.count { harness.setInputCaps(Harness.byteStream + ", framerate=50/1") }
    }
    #expect(buffers.map(\.bytes) == expected)
    #expect(buffers.allSatisfy { $0.isOfDevice })
    #expect(formats(recording) == ["NV12", "NV12"])
    let caps = try harness.outputCaps()
    let rate = caps.first.fraction("framerate")
    #expect(rate == Fraction(50, 1))
    #expect(harness.takeFaults().isEmpty)
  }

  /// The driver arranges later surfaces in another way, as some do by their size.
  @Test(.enabled(if: isThere), arguments: settings) func theModifierChangesInMidStream(_ settings: String) throws {
    let units = try ElementDriver.accessUnits("clip.h264")
    let expected = try expected("clip.h264", units + units)
    let harness = try device.decoder("clip.h264", settings, output: "\(Self.any); \(Self.system)")
    let recording = HarnessRecording(harness, keepsBuffers: true)
    let buffers = try harness.decodeToDeviceMemory(units + units) { index in
      if index == units.count / 2 { device.driver.inject(.tiledExport) }
    }
    #expect(buffers.map(\.bytes) == expected)
    #expect(buffers.allSatisfy { $0.isOfDevice })
    #expect(formats(recording) == ["NV12", "NV12:\(Self.tiled)"])
    #expect(harness.takeFaults().isEmpty)
  }

  @Test(.enabled(if: isThere), arguments: ["clip.h264", "clip.h265"], settings)
  func downstreamSwitchesModifiersInMidStream(_ clip: String, _ settings: String) throws {
    let units = try ElementDriver.accessUnits(clip)
    let expected = try expected(clip, units + units)
    let (drm, linear) = ("\(Self.any); \(Self.system)", "\(Self.linear); \(Self.system)")
    for (first, second) in [(drm, linear), (linear, drm), (drm, Self.system), (Self.system, drm)] {
      let harness = try device.decoder(clip, settings, output: first)
      let recording = HarnessRecording(harness, keepsBuffers: true)
      let buffers = try harness.decodeToDeviceMemory(units + units) { index in
        if index == 8 {
          harness.setOutputCaps(second)
          harness.pushUpstream(.reconfigure())
        }
      }
      #expect(buffers.map(\.bytes) == expected)
      #expect(Set(formats(recording)).count == (second == linear || first == linear ? 1 : 2))
      #expect(harness.takeFaults().isEmpty)
    }
  }

  @Test(
    .enabled(if: isThere), arguments: ["clip.h264", "clip.h265"],
    [VADriver.Fault.error, .crash, .lostContext, .refusedProfile])
  func fallingBackRemovesTheModifier(_ clip: String, _ fault: VADriver.Fault) throws {
    let units = try ElementDriver.accessUnits(clip)
    try device.inject(fault, parameter: 1, at: units.count / 2, of: clip)
    let harness = try device.decoder(
      clip, "hardware=auto isolation=process", output: "\(Self.any); \(Self.system)")
    let recording = HarnessRecording(harness, keepsBuffers: true)
    let buffers = try harness.decodeToDeviceMemory(units)
    #expect(buffers.map(\.bytes) == (try expected(clip, units)))
    #expect(Set(formats(recording)) == (fault == .refusedProfile ? ["system"] : ["NV12", "system"]))
    #expect(harness.takeFaults().count == 1)
    #expect(harness.statistic("lost") == 0)
  }
}
