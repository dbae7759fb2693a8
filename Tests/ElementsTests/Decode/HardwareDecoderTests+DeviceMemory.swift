// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HardwareSupport
import HarnessSupport
import TestSupport
import Testing

/// Pictures that go downstream in the device's memory (`memory:DMABuf`).
extension HardwareDecoderTests {
  /// What a sink lists that imports a device's memory.
  private static let both =
    "video/x-raw(memory:DMABuf), format={NV12, P010_10LE}; video/x-raw, format={NV12, P010_10LE}"

  private func format(_ clip: String) -> String { clip == "ten-bit.h265" ? "P010_10LE" : "NV12" }

  /// The samples that software decodes.
  private func expected(_ clip: String, _ units: [[UInt8]]) throws -> [[UInt8]?] {
    try software(clip, units, output: "video/x-raw, format=\(format(clip))").map(\.bytes)
  }

  @Test(arguments: TestScope.rows(ElementDriver.clips, usually: 2), settings)
  func picturesStayInDeviceMemory(_ clip: String, _ settings: String) throws {
    let units = try ElementDriver.accessUnits(clip)
    let expected = try expected(clip, units)
    for output in ["video/x-raw(memory:DMABuf)", Self.both, "video/x-raw(memory:DMABuf), format=\(format(clip))"] {
      for takesVideoMeta in [true, false] {
        let before = device.driver.exportCount
        let harness = try device.decoder(clip, settings, output: output, takesVideoMeta: takesVideoMeta)
        let buffers = try harness.decodeToDeviceMemory(units)
        #expect(buffers.map(\.bytes) == expected)
        #expect(buffers.allSatisfy { $0.isOfDevice && $0.format == format(clip) })
        #expect(device.driver.exportCount - before == buffers.count)
        let caps = try harness.outputCaps().description
        #expect(caps.contains("video/x-raw(memory:DMABuf)"))
        #expect(harness.statistic("copied") == 0)
        #expect(harness.statistic("software-fallbacks") == nil)
        #expect(harness.takeFaults().isEmpty)
      }
    }
  }

  /// Downstream prefers the system's memory, or lists nothing, or no device decodes.
  @Test(arguments: ["clip.h264", "ten-bit.h265"], ["isolation=none", "isolation=process"])
  func usesSystemMemoryIfDownstreamPrefersIt(_ clip: String, _ isolation: String) throws {
    let units = try ElementDriver.accessUnits(clip)
    let expected = try expected(clip, units)
    let format = format(clip)
    for (hardware, output) in [
      ("required", "video/x-raw, format=\(format); video/x-raw(memory:DMABuf)"), ("off", Self.both),
      ("required", "video/x-raw, format=\(format)"),
    ] {
      let before = device.driver.exportCount
      let harness = try device.decoder(clip, "hardware=\(hardware) \(isolation)", output: output)
      let buffers = try harness.decodeToDeviceMemory(units)
      #expect(buffers.map(\.bytes) == expected)
      #expect(buffers.allSatisfy { !$0.isOfDevice })
      #expect(device.driver.exportCount == before)
    }
  }

  @Test func softwareOutputsSystemMemory() throws {
    let units = try ElementDriver.accessUnits("clip.h264")
    let harness = try device.decoder("clip.h264", "hardware=off", output: "video/x-raw(memory:DMABuf)")
    var result: Int32 = 0
    for unit in units where result == 0 { result = harness.push(unit) }
    #expect(result == GST_FLOW_ERROR.rawValue)
    #expect(
      harness.takeFaults().map(\.message) == ["Downstream accepts no format that the decoder can output."])
  }

  /// More than the device can spare is downloaded, under other caps.
  @Test(arguments: ["clip.h264", "clip.h265"], settings)
  func downloadsPicturesIfDownstreamHoldsTooMany(_ clip: String, _ settings: String) throws {
    let units = try ElementDriver.accessUnits(clip)
    let harness = try device.decoder(clip, settings, output: Self.both)
    for unit in units { #expect(harness.push(unit) == 0) }
    harness.endOfStream()
    let buffers = try harness.takeDeviceBuffers()
    #expect(buffers.map(\.bytes) == (try expected(clip, units)))
    #expect(buffers.map(\.isOfDevice) == buffers.indices.map { $0 < 8 })
    #expect(harness.statistic("software-fallbacks") == nil)
    // After a flush there is room again.
    harness.flush()
    let again = try harness.decodeToDeviceMemory(units)
    #expect(again.map(\.bytes) == (try expected(clip, units)))
    #expect(again.allSatisfy { $0.isOfDevice })
    #expect(harness.takeFaults().isEmpty)
  }

  @Test(
    arguments: ["clip.h264", "clip.h265"],
    [VADriver.Fault.error, .crash, .lostContext, .syncFailure, .refusedProfile, .fewSurfaces])
  func fallingBackSwitchesToSystemMemory(_ clip: String, _ fault: VADriver.Fault) throws {
    let units = try ElementDriver.accessUnits(clip)
    let expected = try expected(clip, units)
    for isolation in fault == .crash ? ["process"] : ["process", "none"] {
      try device.inject(fault, parameter: 1, at: units.count / 2, of: clip)
      let harness = try device.decoder(clip, "hardware=auto isolation=\(isolation)", output: Self.both)
      let buffers = try harness.decodeToDeviceMemory(units)
      #expect(buffers.map(\.bytes) == expected)
      #expect(buffers.contains { !$0.isOfDevice })
      let isAtStart = fault == .refusedProfile || fault == .fewSurfaces
      #expect((buffers.first?.isOfDevice == true) == !isAtStart)
      #expect(harness.takeFaults().count == 1)
      #expect(harness.statistic("lost") == 0)
    }
  }

  /// The device fails once, and decodes again from the next random access point on.
  @Test(
    arguments: ["clip.h264", "clip.h265"],
    [
      ("isolation=none", both), ("isolation=process", both),
      ("isolation=process", "video/x-raw(memory:DMABuf); video/x-raw"),
    ])
  func returnsToDeviceMemoryAfterAFallback(_ clip: String, _ other: (isolation: String, output: String)) throws {
    let units = try ElementDriver.accessUnits(clip)
    try device.inject(.error, at: units.count / 2, of: clip, times: 1)
    let harness = try device.decoder(clip, "hardware=auto \(other.isolation)", output: other.output)
    let recording = HarnessRecording(harness, keepsBuffers: true)
    let buffers = try harness.decodeToDeviceMemory(units + units)
    #expect(buffers.map(\.bytes) == (try expected(clip, units + units)))
    #expect(buffers.first?.isOfDevice == true)
    #expect(buffers.last?.isOfDevice == true)
    #expect(buffers.contains { !$0.isOfDevice })
    let caps = recording.entries.compactMap { if case .caps(let text) = $0 { text } else { nil } }
    #expect(caps.map { $0.contains("memory:DMABuf") } == [true, false, true])
  }

  @Test(arguments: changes, settings)
  func sizeAndDepthChangeInDeviceMemory(_ clips: [String], _ settings: String) throws {
    let parts = try clips.map { Array(try ElementDriver.accessUnits($0).prefix(20)) }
    let expected = try zip(clips, parts).flatMap { try self.expected($0, $1) }
    let harness = try device.decoder(clips[0], settings, output: Self.both)
    let buffers = try harness.decodeToDeviceMemory(parts.flatMap { $0 })
    #expect(buffers.map(\.bytes) == expected)
    #expect(buffers.allSatisfy { $0.isOfDevice })
    #expect(Set(buffers.map(\.format)) == Set(clips.map(format)))
    #expect(harness.takeFaults().isEmpty)
  }

  /// What downstream takes in the system's memory alone is no longer exported once the first picture has shown that.
  @Test(arguments: settings) func downloadsPicturesThatDownstreamTakesInSystemMemoryOnly(_ settings: String) throws {
    let clips = ["clip.h265", "ten-bit.h265", "clip.h265"]
    let parts = try clips.map { Array(try ElementDriver.accessUnits($0).prefix(20)) }
    let expected = try zip(clips, parts).flatMap { try self.expected($0, $1) }
    let before = device.driver.exportCount
    let harness = try device.decoder(
      clips[0], settings,
      output: "video/x-raw(memory:DMABuf), format=NV12; video/x-raw, format={NV12, P010_10LE}")
    let buffers = try harness.decodeToDeviceMemory(parts.flatMap { $0 })
    #expect(buffers.map(\.bytes) == expected)
    #expect(buffers.map(\.isOfDevice) == buffers.map { $0.format == "NV12" })
    let deviceCount = buffers.count { $0.isOfDevice }
    #expect(deviceCount == parts[0].count + parts[2].count)
    #expect(deviceCount...deviceCount + 4 ~= device.driver.exportCount - before)
    #expect(harness.takeFaults().isEmpty)
  }

  /// A group is held back until it goes downstream backwards, under the caps that were sent first.
  @Test(arguments: settings) func reversePlaybackUsesSystemMemory(_ settings: String) throws {
    let units = try ElementDriver.accessUnits("clip.h264")
    let groups = units.indices.filter { index in Clip.nalUnits(units[index]).contains { $0[0] & 31 == 5 } }
    let positions = Clip.presentationOrder(units)
    let expected = try expected("clip.h264", units)
    let harness = try device.decoder("clip.h264", settings, output: Self.both)
    let recording = HarnessRecording(harness, keepsBuffers: true)
    for unit in units.prefix(6) { #expect(harness.push(unit) == 0) }
    #expect(try harness.takeDeviceBuffers().allSatisfy { $0.isOfDevice })
    harness.flush()
    var segment = GstSegment()
    unsafe gst_segment_init(&segment, GST_FORMAT_TIME)
    segment.rate = -1
    segment.stop = guint64(Clip.time(units.count).nanoseconds)
    segment.position = segment.stop
    harness.push(unsafe Event(owning: gst_event_new_segment(&segment)))
    for (start, end) in zip(groups, groups.dropFirst() + [units.count]).reversed() {
      for index in start..<end {
        let unit = units[index]
        guard var buffer = Buffer(copying: unit.span) else { throw Harness.Failure.noBuffer }
        buffer.pts = Clip.time(positions[index])
        buffer.dts = Clip.time(index)
        buffer.duration = Clip.frameDuration
        if index == start { buffer.flags.insert(.discontinuity) } else { buffer.flags.insert(.deltaUnit) }
        #expect(harness.push(buffer) == 0)
      }
    }
    harness.endOfStream()
    let buffers = try harness.takeDeviceBuffers()
    #expect(buffers.map(\.bytes) == expected.reversed())
    #expect(buffers.allSatisfy { !$0.isOfDevice })
    harness.flush()
    let forwards = try harness.decodeToDeviceMemory(units)
    #expect(forwards.map(\.bytes) == expected)
    #expect(forwards.last?.isOfDevice == true)
    let caps = recording.entries.compactMap { if case .caps(let text) = $0 { text } else { nil } }
    #expect(caps.map { $0.contains("memory:DMABuf") } == [true, false, true])
    #expect(harness.takeFaults().isEmpty)
  }

  /// Downstream changes its mind in mid-stream, with pictures on their way. None is lost, and none is mapped.
  @Test(arguments: ["clip.h264", "clip.h265"], settings)
  func downstreamSwitchesMemoryInMidStream(_ clip: String, _ settings: String) throws {
    let units = try ElementDriver.accessUnits(clip)
    let expected = try expected(clip, units + units)
    let system = "video/x-raw, format=NV12"
    for (first, second, third) in [(Self.both, system, Self.both), (system, Self.both, system)] {
      let harness = try device.decoder(clip, settings, output: first)
      let buffers = try harness.decodeToDeviceMemory(units + units) { index in
        if index == 8 || index == 16 + units.count {
          harness.setOutputCaps(index == 8 ? second : third)
          harness.pushUpstream(.reconfigure())
        }
      }
      #expect(buffers.map(\.bytes) == expected)
      #expect(Set(buffers.map(\.isOfDevice)) == [true, false])
      #expect(harness.takeFaults().isEmpty)
      #expect(harness.statistic("software-fallbacks") == nil)
    }
  }

  /// Pictures that the device cannot pass on are downloaded.
  @Test(arguments: [VADriver.Fault.tiledExport, .unknownExport, .compressedExport, .exportFailure], settings)
  func downloadsPicturesThatTheDeviceCannotExport(_ fault: VADriver.Fault, _ settings: String) throws {
    let units = try ElementDriver.accessUnits("clip.h264")
    device.driver.inject(fault)
    let harness = try device.decoder("clip.h264", settings, output: Self.both)
    let buffers = try harness.decodeToDeviceMemory(units)
    #expect(buffers.map(\.bytes) == (try expected("clip.h264", units)))
    #expect(buffers.allSatisfy { !$0.isOfDevice })
    #expect(harness.takeFaults().isEmpty)
  }

  @Test(arguments: ["clip.h264"], ["hardware=required isolation=none"])
  func buffersOutliveTheElement(_ clip: String, _ settings: String) throws {
    let units = try ElementDriver.accessUnits(clip)
    let before = device.driver.liveSurfaces
    do {
      let harness = try device.decoder(clip, settings, output: "video/x-raw(memory:DMABuf)")
      for unit in units.prefix(4) { #expect(harness.push(unit) == 0) }
      let buffer = try harness.pull()
      let caps = try harness.outputCaps()
      harness.flush()
      let bytes = try DeviceBuffer(buffer, caps).bytes
      let expected = try expected(clip, units)
      #expect(bytes == expected[0])
    }
    #expect(device.driver.liveSurfaces == before)
  }
}
