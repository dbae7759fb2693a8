// SPDX-License-Identifier: MPL-2.0
import Foundation
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// After an accurate seek in a raw file, pictures are those of a run from the beginning, in bytes and times.
@Suite(.serialized) struct AccurateSeekDecodeTests {
  /// Clips with several keyframes: 25 pictures a second, of closed and open groups, and 30, whose times are rounded.
  @Test(arguments: StreamCodec.allCases, ["clip", "open-gop", "thirty"])
  func accurateSeeksShowThePicturesOfALinearRun(_ codec: StreamCodec, _ name: String) throws {
    let bytes = try Clip.read("\(name == "thirty" ? "clip" : name).\(codec.rawValue)")
    try seek(codec, name == "thirty" ? codec.thirtyPerSecond(bytes) : bytes)
  }

  /// Recovery points that are reached four frames later, and no IDR picture but the first. The encoder has not kept the
  /// promise of the one at picture 80: who begins there gets other pictures than the encoder's until picture 94.
  @Test func picturesAfterAGradualRefreshAreCorrect() throws {
    try seek(.h264, Clip.read("intra-refresh.h264"), except: 84 * 40..<94 * 40)
  }

  /// - Parameter wrong: milliseconds of pictures that are not right by the stream's own fault.
  private func seek(_ codec: StreamCodec, _ bytes: [UInt8], except wrong: Range<Int> = 0..<0) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "accurate-\(UUID())").path
    try Data(bytes).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    Harness.initialise()
    #expect(Registration.succeeded)
    let elements = "filesrc location=\(path) ! \(codec.element)parse ! \(codec.element)dec max-threads=1"
    let linear = try GatedPipeline(elements, admitting: 1000).wait().arrivals
    let pipeline = try GatedPipeline(elements, admitting: 1)
    _ = try pipeline.wait()
    var random = SeededGenerator(state: 22)
    for index in 0..<60 {
      let end = try #require(linear.last?.attributes.end).nanoseconds
      let time = Int.random(in: 0..<Int(end / 1_000_000), using: &random)
      let count = Int.random(in: 1..<6, using: &random)
      guard !wrong.overlaps(time..<time + count * 40) else { continue }
      try pipeline.seek(to: time, admitting: count)
      let arrivals = try pipeline.wait().arrivals
      let start = UInt64(time) * 1_000_000
      let first = try #require(linear.firstIndex { $0.attributes.end.map { $0.nanoseconds > start } == true })
      let expected = linear[first...].prefix(count)
      #expect(arrivals.map(\.content) == expected.map(\.content), "seek \(index) to \(time)")
      #expect(arrivals.allSatisfy { !$0.attributes.flags.contains(.corrupted) }, "seek \(index) to \(time)")
      // The first picture is clipped to the target.
      #expect(
        arrivals.dropFirst().map(\.attributes.pts) == expected.dropFirst().map(\.attributes.pts),
        "seek \(index) to \(time)")
    }
  }
}

extension StreamCodec {
  /// A byte stream at 30 pictures a second.
  fileprivate func thirtyPerSecond(_ bytes: [UInt8]) -> [UInt8] {
    Clip.nalUnits(bytes).flatMap { [0, 0, 0, 1] + (thirtyPerSecond(parameterSet: $0) ?? $0) }
  }

  /// An SPS of 30 pictures a second; nil for another NAL unit.
  private func thirtyPerSecond(parameterSet nalUnit: [UInt8]) -> [UInt8]? {
    switch self {
    case .h264:
      guard nalUnit[0] & 31 == 7, var sps = try? H264.SequenceParameterSet(nalUnit: nalUnit.span) else { return nil }
      sps.vui?.timing = .init(unitsInTick: 1, timeScale: 60, isFixedFrameRate: true)
      return sps.nalUnit()
    case .h265:
      guard nalUnit[0] >> 1 == 33, var sps = try? H265.SequenceParameterSet(nalUnit: nalUnit.span) else { return nil }
      sps.vui?.timing = .init(unitsInTick: 1, timeScale: 30)
      return sps.nalUnit()
    }
  }
}
