// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Streams that reorder more deeply than `max_num_reorder_frames` says: libavcodec discards their B-frames.
@Suite(.serialized) struct ReorderDepthTests {
  /// The reorder depth that a stream signals.
  struct Signal: Sendable, CustomTestStringConvertible {
    /// `max_num_reorder_frames`; nil for none.
    let reorder: UInt8?
    /// `max_dec_frame_buffering`.
    let buffer: UInt8

    var testDescription: String { reorder.map { "\($0) of \(buffer)" } ?? "unknown" }
  }

  static let signals = [
    Signal(reorder: 0, buffer: 4), Signal(reorder: 0, buffer: 0), Signal(reorder: 1, buffer: 4),
    Signal(reorder: 1, buffer: 1), Signal(reorder: 2, buffer: 4), Signal(reorder: nil, buffer: 0),
  ]

  /// The clip has a depth of 2. Without a thread that is behind, a picture may be output before a depth of 1 turns out
  /// to be too little.
  @Test(
    arguments: signals, ["max-threads=1", "thread-type=slice", "max-threads=2", "max-threads=4", "isolation=process"])
  func everyPictureIsOutputInOrder(_ signal: Signal, _ properties: String) throws {
    let units = try units(signal)
    let expected = try Harness.decoder("swifth264dec max-threads=1").decode(Clip.accessUnits("clip.h264"))
    let harness = try Harness.decoder("swifth264dec \(properties)")
    let pictures = try harness.decode(units)
    #expect(isAscending(pictures))
    let lost = try #require(harness.statistic("lost"))
    #expect(pictures.count + lost == units.count)
    if signal.reorder == 1, ["max-threads=1", "thread-type=slice"].contains(properties) {
      #expect(lost <= 1)
      return
    }
    #expect(lost == 0)
    #expect(pictures.map(\.fingerprint) == expected.map(\.fingerprint))
    #expect(pictures.map(\.pts) == expected.map(\.pts))
  }

  /// If delay matters more, nothing is held back until a picture contradicts the signalled depth. Pictures that come
  /// too late are counted.
  @Test(arguments: signals, ["low-delay=true max-threads=1", "low-delay=true isolation=process"])
  func lowDelayCountsPicturesThatComeTooLate(_ signal: Signal, _ properties: String) throws {
    let units = try units(signal)
    let harness = try Harness.decoder("swifth264dec \(properties)")
    let pictures = try harness.decode(units)
    let lost = try #require(harness.statistic("lost"))
    #expect(isAscending(pictures) && lost <= 3)
    #expect(pictures.count + lost == units.count)
    #expect(harness.statistic("dropped") == lost)
  }

  /// Pictures that are missing make no gap that would be waited for.
  @Test func aMissingPictureDoesNotRestartTheSession() throws {
    let units = try units(Signal(reorder: 2, buffer: 4)).enumerated().filter { $0.offset != 9 }.map(\.element)
    let harness = try Harness.decoder("swifth264dec max-threads=1")
    harness.push(units: units)
    harness.endOfStream()
    #expect(harness.statistic("session-restarts") == 0)
  }

  /// H.265: every picture comes out, whatever `sps_max_num_reorder_pics` and `sps_max_latency_increase_plus1` say, or is
  /// counted as lost. Those that come too late for their place are counted, too.
  @Test(
    arguments: [0, 1, 2] as [UInt8],
    ["max-threads=1", "max-threads=4", "isolation=process", "low-delay=true max-threads=1"])
  func noPictureOfH265IsMissingWithoutACount(_ reorder: UInt8, _ properties: String) throws {
    let units = try Clip.accessUnits("clip.h265", of: H265.self)
    let whole = try decodeH265(units, "max-threads=1")
    for latency in [0, 1, 2] as [UInt32] {
      let changed = try units.map { unit in
        try Clip.nalUnits(unit).flatMap { nalUnit -> [UInt8] in
          guard H265.NALUnitType(headerByte: nalUnit[0]) == .sequenceParameterSet else {
            return [0, 0, 0, 1] + nalUnit
          }
          var sps = try H265.SequenceParameterSet(nalUnit: nalUnit.span)
          for index in sps.buffering.indices {
            sps.buffering[index].maximumReorderPictures = reorder
            sps.buffering[index].maximumLatencyIncreasePlus1 = latency
          }
          return [0, 0, 0, 1] + sps.nalUnit()
        }
      }
      let run = try decodeH265(changed, properties)
      #expect(run.pictures.count + run.lost == units.count, "\(latency)")
      #expect(Set(run.pictures).isSubset(of: whole.pictures), "\(latency)")
      let isInOrder = run.pictures == whole.pictures.filter(run.pictures.contains)
      #expect((run.outOfOrder == 0) == isInOrder, "\(latency)")
    }
  }

  private func decodeH265(
    _ units: [[UInt8]], _ properties: String
  ) throws -> (pictures: [Int], lost: Int, outOfOrder: Int) {
    let harness = try Harness.decoder("swifth265dec \(properties)", input: H265DecodeTests.byteStream)
    for (index, unit) in units.enumerated() { #expect(harness.push(unit, pts: Clip.time(index)) == 0) }
    harness.endOfStream()
    let (lost, outOfOrder) = (
      try #require(harness.statistic("lost")), try #require(harness.statistic("out-of-order"))
    )
    return (try harness.takePictures().map(\.fingerprint), lost, outOfOrder)
  }

  private func isAscending(_ pictures: [Picture]) -> Bool {
    let times = pictures.compactMap(\.pts)
    return times.count == pictures.count && zip(times, times.dropFirst()).allSatisfy { $0 < $1 }
  }

  /// The clip, with another signal.
  private func units(_ signal: Signal) throws -> [[UInt8]] {
    try Clip.accessUnits("clip.h264").map { unit in
      try Clip.nalUnits(unit).flatMap { nalUnit -> [UInt8] in
        guard nalUnit[0] & 31 == 7 else { return [0, 0, 0, 1] + nalUnit }
        var sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
        var restriction = try #require(sps.vui?.bitstreamRestriction)
        restriction.maximumReorderFrames = signal.reorder ?? 0
        restriction.maximumDecodedFrameBuffering = signal.buffer
        sps.vui?.bitstreamRestriction = signal.reorder == nil ? nil : restriction
        return [0, 0, 0, 1] + sps.nalUnit()
      }
    }
  }
}
