// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The presentation times of raw streams whose order is known only from pictures that come later.
@Suite(.serialized) struct H264ParseOrderTests {
  typealias Stream = ParseStream

  /// The presentation times of pictures, in frames from the first one shown, after their decoding times were checked.
  ///
  /// - Parameter orders: POCs; each 0 is an IDR picture.
  private func places(_ orders: [Int], reorder: UInt32?, pieces: Int) throws -> [Int] {
    let harness = try Harness.parse(
      "framerate=25/1", from: "video/x-h264", to: "stream-format=byte-stream, alignment=au")
    var stream = Stream.byteStream(Stream.spsToOrder(rate: nil, reorder: reorder), Stream.ppsToOrder())
    for (index, order) in orders.enumerated() {
      // I slices: their headers can be read whole.
      stream += Stream.byteStream(
        Stream.slice(
          2, number: UInt32(order == 0 ? 0 : index % 16), order: UInt32(order & 255), idr: order == 0,
          idrID: UInt32(index % 2)))
    }
    for start in stride(from: 0, to: stream.count, by: pieces) {
      #expect(harness.push([UInt8](stream[start..<min(start + pieces, stream.count)])) == 0)
    }
    harness.endOfStream()
    var (shown, last) = ([Int](), ClockTime.zero)
    for _ in orders {
      let buffer = try harness.pull()
      let (presentation, decoding) = (buffer.pts ?? .zero, buffer.dts ?? .zero)
      #expect(decoding <= presentation && decoding >= last)
      #expect(presentation.nanoseconds % 40_000_000 == 0)
      last = decoding
      shown.append(Int(presentation.nanoseconds / 40_000_000))
    }
    #expect(harness.waiting == 0)
    let first = shown.min() ?? 0
    return shown.map { $0 - first }
  }

  /// Pictures that are decoded after an IDR picture and shown before it.
  @Test(arguments: [nil, 1] as [UInt32?], [11, 100_000])
  func timesPicturesThatAreShownBeforeAnIDRPicture(_ reorder: UInt32?, pieces: Int) throws {
    #expect(try places([0, 0, -4, -2, 2], reorder: reorder, pieces: pieces) == [0, 3, 1, 2, 4])
    // Far behind what is read before the first picture goes out.
    let before = (0..<40).map { 2 * $0 }
    let places = try places(before + [0, -6, -4, -2, 2, 4, 0, 2], reorder: 1, pieces: pieces)
    #expect(places == Array(0..<40) + [43, 40, 41, 42, 44, 45, 46, 47])
  }

  /// A reorder depth that is not sent shows only in the pictures that are reordered. Earlier pictures, in order or each
  /// an IDR picture, do not change it.
  @Test(arguments: [[0, 2, 4, 6], [0, 0, 0, 0]], [11, 100_000])
  func lateReorderingDoesNotChangeEarlierTimes(_ before: [Int], pieces: Int) throws {
    let base = before[3]
    let places = try places(
      before + [16, 8, 4, 2, 6, 12, 10, 14].map { base + $0 }, reorder: nil, pieces: pieces)
    #expect(places == [0, 1, 2, 3, 11, 7, 5, 4, 6, 9, 8, 10])
  }
}
