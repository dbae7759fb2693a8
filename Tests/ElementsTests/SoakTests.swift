// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// Long runs in short: many access units through all elements, with new parameter sets every few pictures, flushes and
/// seeks. Memory and file descriptors at the end must be those after the warm-up.
///
/// `SOAK_ACCESS_UNITS` sets their number; `make soak` runs 200,000. Without it a few thousand are pushed and nothing is
/// measured, because other tests of this process use memory and descriptors too.
@Suite(.serialized) struct SoakTests {
  init() { #expect(Registration.succeeded) }

  static let accessUnits =
    ProcessInfo.processInfo.environment["SOAK_ACCESS_UNITS"].flatMap(Int.init) ?? 4000

  @Test(arguments: StreamCodec.allCases)
  func memoryDoesNotGrowAfterWarmUp(codec: StreamCodec) throws {
    let streams = SoakStream.all(codec)
    let wanted = Self.accessUnits
    let harness = try Harness(
      codec.chain(
        "swifth264parse ! swifth264repack ! video/x-h264,stream-format=avc ! swifth264parse ! swifth264dec max-threads=1"
      ))
    harness.setInputCaps("\(codec.mediaType), stream-format=byte-stream")
    harness.play()
    var random = SeededGenerator(state: 6)
    var sent = 0
    var pictures = 0
    var seeks = 0
    var settled: Usage?
    while sent < wanted {
      let stream = try #require(streams.randomElement(using: &random))
      for start in stride(from: 0, to: stream.bytes.count, by: 4000) {
        let flow = harness.push(Array(stream.bytes[start..<min(start + 4000, stream.bytes.count)]))
        try #require(flow == 0)
      }
      sent += stream.accessUnits
      switch UInt8.random(in: 0..<16, using: &random) {
      case 0: harness.flush()
      case 1:
        try seek(harness)
        seeks += 1
      default: break
      }
      while harness.tryPull() != nil { pictures += 1 }
      // The harness keeps buffers until they are pulled; its memory must not count as the elements'.
      while harness.tryPullEvent() != nil {}
      while harness.tryPullUpstreamEvent() != nil {}
      if settled == nil, sent > wanted / 4 { settled = try Usage() }
    }
    let end = try Usage()
    let before = try #require(settled)
    #expect(pictures > sent / 2)
    #expect(seeks > 0)
    guard Self.isAlone else { return }
    #expect(end.descriptors <= before.descriptors)
    #expect(
      Double(end.residentKiB) <= Double(before.residentKiB) * 1.05,
      "\(before.residentKiB) KiB after warm-up, \(end.residentKiB) KiB after \(sent) access units")
    print(
      "soak: \(codec), \(sent) access units, \(pictures) pictures, \(seeks) seeks, "
        + "\(before.residentKiB) → \(end.residentKiB) KiB")
  }

  /// A seek event from downstream, on which upstream flushes and continues.
  private func seek(_ harness: Harness) throws {
    while harness.tryPullUpstreamEvent() != nil {}
    let event = unsafe gst_event_new_seek(
      1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, -1)
    try #require(harness.pushUpstream(unsafe Event(owning: #require(unsafe event))))
    var arrived = false
    while let event = harness.tryPullUpstreamEvent() { if event.kind == .seek { arrived = true } }
    try #require(arrived)
    harness.flush()
  }

  /// Many seeks in a file through all elements: to any time, to a keyframe, with a stop, backwards, and
  /// during another seek.
  @Test(arguments: StreamCodec.allCases)
  func seeksDoNotGrowMemory(codec: StreamCodec) throws {
    let streams = SoakStream.all(codec)
    let file = FileManager.default.temporaryDirectory.appending(path: "soak-\(getpid()).\(codec)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(streams.flatMap(\.bytes)).write(to: file)
    let pipeline = try SeekPipeline(file: file.path, of: codec)
    // At 25 pictures a second. In a shorter file, some seeks are beyond its end.
    let end = gint64(streams.map(\.accessUnits).reduce(0, +)) * 40_000_000
    var random = SeededGenerator(state: 12)
    var settled: Usage?
    var seeks = 0
    while pipeline.pictures < Self.accessUnits {
      try pipeline.seek(before: end, &random)
      // Half of them come while the one before is in progress.
      if Bool.random(using: &random) { try pipeline.waitForTheEnd() }
      seeks += 1
      try #require(seeks < 4 * Self.accessUnits, "\(pipeline.pictures) pictures")
      if settled == nil, pipeline.pictures > Self.accessUnits / 4 { settled = try Usage() }
    }
    try pipeline.seek(before: end, &random)
    try pipeline.waitForTheEnd()
    let after = try Usage()
    let before = try #require(settled)
    guard Self.isAlone else { return }
    #expect(after.descriptors == before.descriptors)
    #expect(
      Double(after.residentKiB) <= Double(before.residentKiB) * 1.05,
      "\(before.residentKiB) KiB after warm-up, \(after.residentKiB) KiB after \(seeks) seeks")
    print(
      "soak: \(codec), \(seeks) seeks, \(pipeline.pictures) pictures, \(before.residentKiB) → \(after.residentKiB) KiB, "
        + "\(before.descriptors) → \(after.descriptors) descriptors")
  }

  /// New parameter sets of random ids with every picture, and much SEI.
  @Test(arguments: StreamCodec.allCases, [true, false])
  func endlessParameterSetsDoNotGrowMemory(codec: StreamCodec, isByteStream: Bool) throws {
    let format = isByteStream ? "byte-stream" : codec.outOfBand
    let wanted = Self.accessUnits * (Self.isAlone ? 4 : 1)
    let harness = try Harness("\(codec.element)parse config-interval=-1")
    harness.setOutputCaps("\(codec.mediaType), stream-format=\(format), alignment=au")
    harness.setInputCaps("\(codec.mediaType), stream-format=byte-stream, alignment=au")
    var random = SeededGenerator(state: 9)
    // More than the tables have room for; to make one takes longer than to parse it.
    let units = (0..<1000).map { Self.unitWithParameterSets($0, codec, &random) }
    var settled: Usage?
    var received = 0
    for sent in 0..<wanted {
      try #require(harness.push(units.randomElement(using: &random) ?? [], pts: .seconds(UInt64(sent))) == 0)
      while harness.tryPull() != nil { received += 1 }
      while harness.tryPullEvent() != nil {}
      if sent == wanted / 4 { settled = try Usage() }
    }
    #expect(received == wanted)
    let end = try Usage()
    let before = try #require(settled)
    guard Self.isAlone else { return }
    #expect(
      Double(end.residentKiB) <= Double(before.residentKiB) * 1.02,
      "\(before.residentKiB) KiB after warm-up, \(end.residentKiB) KiB after \(wanted) access units")
    print("soak: \(wanted) access units of \(format), \(before.residentKiB) → \(end.residentKiB) KiB")
  }

  /// An access unit with parameter sets of random ids and sizes, and SEI.
  private static func unitWithParameterSets(
    _ number: Int, _ codec: StreamCodec, _ random: inout SeededGenerator
  ) -> [UInt8] {
    let isH264 = codec == .h264
    let sequence = UInt32.random(in: 0..<(isH264 ? 32 : 16), using: &random)
    let picture = UInt32.random(in: 0..<(isH264 ? 256 : 64), using: &random)
    let messages = (0..<4).map { index in
      let count = Int.random(in: 16..<200, using: &random)
      let type = SEIPayloadType(rawValue: index == 0 ? 5 : .random(in: 0..<300, using: &random))
      return (type: type, payload: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count))
    }
    let width = UInt32.random(in: 1...8, using: &random)
    return RepackStream.annexB(
      isH264
        ? [
          ParseStream.spsToOrder(id: sequence, width: width), ParseStream.ppsToOrder(id: picture, sps: sequence),
          seiNALUnit(messages),
          ParseStream.slice(2, number: 0, order: 0, idr: true, pps: picture, idrID: UInt32(number & 1)),
        ]
        : [
          H265Stream.vps,
          H265Stream.sps { sps in
            sps.id = .init(UInt8(sequence))
            sps.codedSize.width = Int(width) * 64
          }, H265Stream.pps(id: .init(UInt8(picture)), sps: .init(UInt8(sequence))),
          seiNALUnit(messages, header: [0x4E, 1]),
          H265Stream.slice(.idrWithoutLeading, pps: picture),
        ])
  }

  /// Whether the process is measured: SOAK_ACCESS_UNITS is set.
  static let isAlone = ProcessInfo.processInfo.environment["SOAK_ACCESS_UNITS"] != nil

  /// Memory and descriptors of the process.
  struct Usage {
    let residentKiB: Int
    let descriptors: Int

    init() throws {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
      residentKiB = try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
      descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
  }
}

/// A short byte stream.
private struct SoakStream: Sendable {
  let bytes: [UInt8]
  let accessUnits: Int

  /// Small pictures of several sizes, profiles and parameter sets: this project's clips, and vectors where they are.
  static func all(_ codec: StreamCodec) -> [SoakStream] {
    let clips = ["open-gop", "interlaced", "wide"].map { Clip.path("\($0).\(codec)") }
    return (clips + vectors(codec).compactMap { Clip.vector($0, of: codec) }).compactMap { path in
      guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
      let bytes = [UInt8](data)
      return SoakStream(bytes: bytes, accessUnits: codec.accessUnits(in: bytes).count)
    }
  }

  private static func vectors(_ codec: StreamCodec) -> [String] {
    switch codec {
    case .h264:
      [
        "cros_64x64-I-P-B-P-high.h264", "oxide_mbaff_iframe_128x96.h264", "SVA_Base_B.264", "SVA_BA2_D.264",
        "BASQP1_Sony_C.jsv",
      ]
    case .h265:
      [
        "cros_64x64-I-P-B-P.h265", "g2b_bframes3_128x128.h265", "g2b_main12_176x144.h265",
        "oxide_seed-tile-cols-2.hevc",
      ]
    }
  }
}
