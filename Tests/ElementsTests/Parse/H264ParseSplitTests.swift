// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Whole access units are split into NAL units.
@Suite(.serialized) struct H264ParseSplitTests {
  typealias Stream = ParseStream

  private static let input = "video/x-h264, stream-format=byte-stream, alignment=au"
  private static let output = "stream-format=byte-stream, alignment=nal"
  private static let sps = Stream.spsToOrder()
  private static let pps = Stream.ppsToOrder()
  private static let sei: [UInt8] = [0x06, 0x05, 0x11] + [UInt8](repeating: 7, count: 16) + [0x33, 0x80]

  private struct Piece: Equatable {
    var bytes: [UInt8]
    var flags: Buffer.Flags
    var pts: ClockTime?
    var duration: ClockTime?
    var userData: Int
  }

  private func pull(_ harness: Harness) throws -> Piece {
    let buffer = try harness.pull()
    return Piece(
      bytes: try buffer.copiedBytes(), flags: buffer.flags, pts: buffer.pts, duration: buffer.duration,
      userData: buffer.metaCount(gst_video_sei_user_data_unregistered_meta_api_get_type()))
  }

  @Test func everyNALUnitIsABufferOfItsOwn() throws {
    let harness = try Harness.parse(from: Self.input, to: Self.output)
    let slices = [0, 2].map { Stream.slice(2, number: 0, order: 0, idr: true, first: $0) }
    let second = [0, 2].map { Stream.slice(1, number: 1, order: 2, reference: 0, first: $0) }
    let time = ClockTime(nanoseconds: 40_000_000)
    // With a truncated NAL unit, and trailing zeros.
    #expect(
      harness.push(
        Stream.byteStream(Self.sps, Self.pps, Self.sei, [0x41], slices[0], slices[1]) + [0, 0, 0], pts: .zero,
        dts: .zero)
        == 0)
    #expect(harness.push(Stream.byteStream(second[0], second[1]), pts: time, dts: time) == 0)
    #expect(harness.waiting == 9)

    let delimiter = try pull(harness)
    #expect(delimiter.bytes == Stream.byteStream(Stream.delimiter))
    let expected: [(nalUnit: [UInt8], flags: Buffer.Flags, duration: ClockTime)] = [
      (Self.sps, [.header, .deltaUnit], .zero), (Self.pps, [.header, .deltaUnit], .zero),
      (Self.sei, [.header, .deltaUnit], .zero), (slices[0], [], time), (slices[1], [.marker], .zero),
    ]
    for (nalUnit, flags, duration) in expected {
      let piece = try pull(harness)
      #expect(piece.bytes == Stream.byteStream(nalUnit))
      #expect(piece.flags.subtracting(.discontinuity) == flags)
      #expect(piece.flags.contains(.discontinuity) == (nalUnit == Self.sps))
      #expect(piece.pts == .zero && piece.duration == duration)
      #expect(piece.userData == (nalUnit == Self.sei ? 1 : 0))
    }
    _ = try pull(harness)
    for (index, nalUnit) in second.enumerated() {
      let piece = try pull(harness)
      #expect(piece.bytes == Stream.byteStream(nalUnit))
      #expect(piece.flags == (index == 0 ? [.deltaUnit, .droppable] : [.deltaUnit, .droppable, .marker]))
      #expect(piece.pts == time && piece.duration == (index == 0 ? time : .zero))
    }
  }
}
