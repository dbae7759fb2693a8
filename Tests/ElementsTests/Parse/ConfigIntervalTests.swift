// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// The property `config-interval` of parsers.
@Suite(.serialized) struct ConfigIntervalTests {
  typealias Stream = ParseStream

  private static let input = "video/x-h264, stream-format=byte-stream, alignment=au"
  private static let accessUnits = "stream-format=byte-stream, alignment=au"
  private static let nalUnits = "stream-format=byte-stream, alignment=nal"
  private static let sps = Stream.spsToOrder()
  private static let pps = Stream.ppsToOrder()
  private static let sei: [UInt8] = [0x06, 0x05, 0x11] + [UInt8](repeating: 7, count: 16) + [0x33, 0x80]

  @Test func insertsParameterSetsBeforeEveryIDRPictureOnce() throws {
    let harness = try Harness.parse("config-interval=-1", from: "video/x-h264", to: Self.accessUnits)
    #expect(
      harness.push(
        Stream.byteStream(
          Stream.sps, Stream.pps, Stream.idr, Stream.delimiter, Stream.bufferingPeriod, Stream.idr, Stream.sps,
          Stream.pps,
          Stream.idr)) == 0)
    harness.endOfStream()
    #expect(
      try harness.pullAll() == [
        Stream.byteStream(Stream.delimiter, Stream.sps, Stream.pps, Stream.idr),
        Stream.byteStream(Stream.delimiter, Stream.sps, Stream.pps, Stream.bufferingPeriod, Stream.idr),
        Stream.byteStream(Stream.delimiter, Stream.sps, Stream.pps, Stream.idr),
      ])
  }

  @Test func insertsParameterSetsEveryFewSeconds() throws {
    let harness = try Harness.parse("config-interval=2", from: Self.input, to: Self.accessUnits)
    let sets = Stream.byteStream(Stream.spsToOrder(reorder: 1), Self.pps)
    let idr = Stream.byteStream(Stream.slice(2, number: 0, order: 0, idr: true))
    for second in 0..<6 as Range<UInt64> {
      let bytes = (second == 0 ? sets : []) + idr
      #expect(harness.push(bytes, pts: .milliseconds(400 + 1000 * second), duration: .milliseconds(40)) == 0)
    }
    let delimiter = Stream.byteStream(Stream.delimiter)
    let expected = [true, false, true, false, true, false].map { delimiter + ($0 ? sets : []) + idr }
    #expect(try harness.pullAll() == expected)
  }

  /// SPS and PPS are inserted before the SEI of an IDR picture that has none.
  @Test func insertsParameterSetsBeforeTheSEIOfAnIDRPicture() throws {
    let harness = try Harness.parse("config-interval=-1", from: Self.input, to: Self.nalUnits)
    let idr = Stream.slice(2, number: 0, order: 0, idr: true)
    let next = Stream.slice(2, number: 0, order: 0, idr: true, idrID: 1)
    #expect(harness.push(Stream.byteStream(Self.sps, Self.pps, idr), pts: .zero) == 0)
    #expect(harness.push(Stream.byteStream(Stream.delimiter, Self.sei, next), pts: .second) == 0)
    let all = try harness.pullAll()
    let expected = [Stream.delimiter, Self.sps, Self.pps, idr, Stream.delimiter, Self.sps, Self.pps, Self.sei, next]
    #expect(all == expected.map { Stream.byteStream($0) })
  }

  /// Between two slices of a picture they would begin another access unit (7.4.1.2.3).
  @Test(arguments: ["alignment=au", "alignment=nal", "parsed=false"])
  func insertsParameterSetsOncePerPicture(alignment: String) throws {
    let harness = try Harness.parse(
      "config-interval=-1", from: "video/x-h264, stream-format=byte-stream, \(alignment)", to: Self.nalUnits)
    let slices = [0, 2, 3].map { Stream.slice(2, number: 0, order: 0, idr: true, first: $0, idrID: 1) }
    let pictures: [[[UInt8]]] = [
      [Stream.delimiter, Self.sps, Self.pps, Stream.slice(2, number: 0, order: 0, idr: true)],
      [Stream.delimiter] + slices,
    ]
    let buffers = alignment == "alignment=nal" ? pictures.joined().map { [$0] } : pictures
    for (index, buffer) in buffers.enumerated() {
      #expect(harness.push(buffer.flatMap { Stream.byteStream($0) }, pts: index == 0 ? .zero : nil) == 0)
    }
    harness.endOfStream()
    let expected = pictures[0] + [Stream.delimiter, Self.sps, Self.pps] + slices
    #expect(try harness.pullAll() == expected.map { Stream.byteStream($0) })
  }

  @Test func insertsTheVPSToo() throws {
    let harness = try Harness.parseH265(
      "config-interval=-1", from: "video/x-h265, stream-format=byte-stream", to: Self.accessUnits)
    let cra = H265Stream.slice(.cra, count: 8)
    #expect(
      harness.push(H265Stream.byteStream(H265Stream.headers + [H265Stream.idr, H265Stream.contentLight, cra])) == 0)
    harness.endOfStream()
    let expected = [H265Stream.delimiter] + H265Stream.headers + [H265Stream.contentLight, cra]
    #expect(try harness.pullAll().last == H265Stream.byteStream(expected))
  }
}
