// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import GStreamer
import Glibc
import H26x
import HarnessSupport
import Testing

@testable import Elements

/// The property `isolation` of decoders: their codec is in a process of its own.
@Suite(.serialized) struct IsolationTests {
  private static let isolated = "isolation=process max-threads=2"

  private func accessUnits(_ codec: StreamCodec) throws -> [[UInt8]] {
    codec == .h264
      ? try Clip.accessUnits("clip.h264") : try Clip.accessUnits("clip.h265", of: H265.self)
  }

  private func decoder(
    _ codec: StreamCodec, _ properties: String, output: String? = nil, takesVideoMeta: Bool = true
  ) throws -> Harness {
    let harness = try Harness.decoder(
      codec.chain("swifth264dec \(properties)"),
      input: "video/x-\(codec), stream-format=byte-stream, alignment=au", output: output,
      takesVideoMeta: takesVideoMeta)
    harness.collectMessages()
    return harness
  }

  /// Pushes access units in decoding order without times of their own.
  private func decode(_ units: [[UInt8]], _ harness: Harness) throws -> [Picture] {
    for unit in units { #expect(harness.push(unit) == 0) }
    harness.endOfStream()
    return try harness.takePictures()
  }

  /// An error or warning, but not that the machine, or a sanitizer, does not allow all protection.
  private func fault(_ harness: Harness) -> Harness.Fault? {
    while let fault = harness.takeFault() {
      if !fault.details.contains("incompleteSandbox") { return fault }
    }
    return nil
  }

  private func signal(_ number: Int32, to harness: Harness) throws {
    kill(Int32(try #require(harness.statistic("codec-process"))), number)
  }

  @Test(arguments: StreamCodec.allCases, ["I420", "NV12", "BGRx"])
  func outputsTheSamePictures(_ codec: StreamCodec, _ format: String) throws {
    let units = try accessUnits(codec)
    let output = "video/x-raw, format=\(format)"
    for takesVideoMeta in [true, false] {
      let expected = try decode(
        units, try decoder(codec, "max-threads=2", output: output, takesVideoMeta: takesVideoMeta))
      let harness = try decoder(codec, Self.isolated, output: output, takesVideoMeta: takesVideoMeta)
      let pictures = try decode(units, harness)
      #expect(pictures.map(\.fingerprint) == expected.map(\.fingerprint))
      #expect(pictures.count == units.count)
      #expect(harness.statistic("processes-lost") == 0)
    }
  }

  @Test(arguments: StreamCodec.allCases) func losesNoPictureWhenTheProcessIsKilled(_ codec: StreamCodec) throws {
    let units = try accessUnits(codec)
    let expected = try decode(units, try decoder(codec, "max-threads=2"))
    let harness = try decoder(codec, Self.isolated)
    for (index, unit) in units.enumerated() {
      if index % 20 == 15 { try signal(SIGKILL, to: harness) }
      #expect(harness.push(unit) == 0)
    }
    harness.endOfStream()
    #expect(try harness.takePictures().map(\.fingerprint) == expected.map(\.fingerprint))
    #expect(fault(harness) == nil)
    #expect(harness.statistic("processes-lost") == 3)
    #expect(harness.statistic("session-restarts") == 3)
  }

  /// libavcodec logs "Broken frame packetizing" without its codec context.
  @Test(arguments: ["", "thread-type=slice"]) func twoPicturesInAnAccessUnitDoNotEndTheProcess(_ properties: String)
    throws
  {
    var units = try accessUnits(.h264)
    let points = units.indices.filter { unit in
      Clip.nalUnits(units[unit]).contains { $0[0] & 31 == 5 }
    }
    for point in points.dropFirst().reversed() {
      units[point - 1] += units[point]
      units.remove(at: point)
    }
    let expected = try decode(units, try decoder(.h264, "max-threads=2 " + properties))
    let harness = try decoder(.h264, Self.isolated + " " + properties)
    let pictures = try decode(units, harness)
    #expect(pictures.map(\.fingerprint) == expected.map(\.fingerprint))
    #expect(!pictures.isEmpty)
    #expect(harness.statistic("processes-lost") == 0)
  }

  /// Whether the thread of this name is in poll(2).
  private func isPolling(_ thread: String) -> Bool {
    let tasks = "/proc/self/task"
    for number in (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? [] {
      guard let name = try? String(contentsOfFile: "\(tasks)/\(number)/comm", encoding: .utf8), name == thread + "\n",
        let text = try? String(contentsOfFile: "\(tasks)/\(number)/syscall", encoding: .utf8)
      else { continue }
      // poll or ppoll of x86-64, ppoll of aarch64.
      return ["7", "271", "73"].contains(text.prefix { $0 != " " })
    }
    return false
  }

  @Test(arguments: StreamCodec.allCases) func aFlushDoesNotWaitForAProcessThatHangs(_ codec: StreamCodec) throws {
    let units = try accessUnits(codec)
    let expected = try decode(units, try decoder(codec, "max-threads=2"))
    // Nobody waits for an hour: the test ends, or never does.
    let harness = try decoder(codec, Self.isolated + " codec-timeout=3600000000000")
    for unit in units.prefix(20) { #expect(harness.push(unit) == 0) }
    _ = try harness.takePictures()
    try signal(SIGSTOP, to: harness)
    nonisolated(unsafe) let pushed = harness
    let pusher = Thread {
      try? "pusher-\(codec)".write(toFile: "/proc/thread-self/comm", atomically: false, encoding: .utf8)
      // The process gets some ahead of its answers.
      for unit in units[20...] where unsafe pushed.push(unit) != 0 { break }
    }
    pusher.start()
    // A flush that comes before the wait leaves the process to the next one.
    while !isPolling("pusher-\(codec)") { usleep(1000) }
    harness.push(Event.flushStart())
    while !pusher.isFinished { usleep(1000) }
    harness.flush()
    #expect(try decode(units, harness).suffix(units.count).map(\.fingerprint) == expected.map(\.fingerprint))
    #expect(fault(harness) == nil)
  }

  @Test(arguments: StreamCodec.allCases) func stoppingDoesNotWaitForAProcessThatHangs(_ codec: StreamCodec) throws {
    let units = try accessUnits(codec)
    let harness = try decoder(codec, Self.isolated + " codec-timeout=3600000000000")
    for unit in units.prefix(20) { #expect(harness.push(unit) == 0) }
    try signal(SIGSTOP, to: harness)
    nonisolated(unsafe) let pushed = harness
    let pusher = Thread { for unit in units[20...] where unsafe pushed.push(unit) != 0 { break } }
    pusher.start()
    unsafe gst_element_set_state(harness.element, GST_STATE_NULL)
    while !pusher.isFinished { usleep(1000) }
  }

  /// Several pictures come at once.
  @Test(arguments: StreamCodec.allCases) func outputsNothingAfterTheEndIsReturned(_ codec: StreamCodec) throws {
    let units = try accessUnits(codec)
    let harness = try decoder(codec, Self.isolated + " name=decoder ! identity eos-after=2")
    let bin = unsafe UnsafeMutableRawPointer(harness.element).assumingMemoryBound(to: GstBin.self)
    let element = try unsafe #require(gst_bin_get_by_name(bin, "decoder"))
    defer { unsafe gst_object_unref(element) }
    let pad = try unsafe #require(gst_element_get_static_pad(element, "src"))
    defer { unsafe gst_object_unref(pad) }
    nonisolated(unsafe) var count = 0
    try unsafe withUnsafeMutablePointer(to: &count) { count in
      let probe = unsafe gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_BUFFER,
        { _, _, data in
          unsafe data?.assumingMemoryBound(to: Int.self).pointee += 1
          return GST_PAD_PROBE_OK
        }, count, nil)
      #expect(units.lazy.map { harness.push($0) }.first { $0 != 0 } == GST_FLOW_EOS.rawValue)
      unsafe gst_pad_remove_probe(pad, probe)
      _ = try harness.takePictures()
    }
    #expect(unsafe count == 2)
  }

  /// The flush comes when the format is negotiated: the process is started next.
  @Test(arguments: StreamCodec.allCases) func flushesWhileTheProcessStarts(_ codec: StreamCodec) throws {
    let units = try accessUnits(codec)
    let expected = try decode(units, try decoder(codec, "max-threads=2"))
    let harness = try decoder(codec, Self.isolated)
    let pad = try unsafe #require(gst_element_get_static_pad(harness.element, "src"))
    defer { unsafe gst_object_unref(pad) }
    let probe = unsafe gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      { _, info, data in
        guard let data = unsafe data, let query = unsafe gst_pad_probe_info_get_query(info),
          unsafe query.pointee.type == GST_QUERY_ALLOCATION
        else { return GST_PAD_PROBE_OK }
        unsafe Unmanaged<Harness>.fromOpaque(data).takeUnretainedValue().push(Event.flushStart())
        return GST_PAD_PROBE_OK
      }, Unmanaged.passUnretained(harness).toOpaque(), nil)
    #expect(harness.push(units[0]) == GST_FLOW_FLUSHING.rawValue)
    unsafe gst_pad_remove_probe(pad, probe)
    #expect(harness.statistic("codec-process") == nil, "no process was started")
    harness.flush()
    #expect(try decode(units, harness).map(\.fingerprint) == expected.map(\.fingerprint))
    #expect(fault(harness) == nil)
  }

  /// Wherever the start is when the pipeline is stopped.
  @Test(arguments: StreamCodec.allCases) func stopsWhileTheProcessStarts(_ codec: StreamCodec) throws {
    let file = Clip.path("clip.\(codec)")
    let pipeline = try PlayedPipeline(
      "filesrc location=\(file) ! "
        + codec.chain("swifth264parse ! swifth264dec \(Self.isolated) ! fakesink name=sink"))
    for milliseconds in 0..<40 {
      pipeline.begin(GST_STATE_PLAYING)
      usleep(UInt32(milliseconds) * 1000)
      #expect(pipeline.go(to: GST_STATE_READY) && !pipeline.hasFailed)
    }
    #expect(pipeline.go(to: GST_STATE_PLAYING) && pipeline.waits(for: GST_MESSAGE_EOS))
  }

  /// Wherever the start is when the application seeks, also backwards to an interval that another seek leaves at once.
  @Test(arguments: StreamCodec.allCases) func seeksWhileTheProcessStarts(_ codec: StreamCodec) throws {
    let file = Clip.path("clip\(codec == .h264 ? "" : "-h265").mp4")
    let description =
      "filesrc location=\(file) ! qtdemux ! "
      + codec.chain("swifth264parse ! swifth264dec \(Self.isolated) ! fakesink name=sink")
    for milliseconds in 0..<20 {
      let pipeline = try PlayedPipeline(description)
      #expect(pipeline.go(to: GST_STATE_PAUSED))
      _ = pipeline.seek(rate: -1, GST_SEEK_FLAG_FLUSH, GST_SEEK_FLAG_ACCURATE, from: 0, to: 363_000_000)
      pipeline.begin(GST_STATE_PLAYING)
      usleep(UInt32(milliseconds) * 1000)
      #expect(pipeline.seek(GST_SEEK_FLAG_FLUSH, GST_SEEK_FLAG_ACCURATE, from: 800_000_000, to: 1_200_000_000))
      #expect(pipeline.waits(for: GST_MESSAGE_EOS))
    }
  }
}
