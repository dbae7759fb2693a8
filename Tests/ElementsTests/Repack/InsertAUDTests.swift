// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

private typealias Stream = RepackStream

/// The property `insert-aud` of repackagers.
@Suite(.serialized) struct InsertAUDTests {
  private let idr = Stream.slice(0, isIDR: true)

  @Test func insertsDelimitersBeforeAccessUnitsThatLackOne() throws {
    let harness = try Harness.repack("insert-aud=true", to: "byte-stream")
    harness.setInputCaps(Stream.caps("avc", codecData: Stream.avcC([Stream.sps()], pps: [Stream.pps()])))
    #expect(harness.push(Stream.lengthPrefixed([[0x09, 0x10], idr])) == 0)
    #expect(harness.push(Stream.lengthPrefixed([Stream.slice(1)])) == 0)
    #expect(try harness.pullBytes() == Stream.annexB([[0x09, 0x10], Stream.sps(), Stream.pps(), idr]))
    #expect(try harness.pullBytes() == Stream.annexB([Stream.delimiter, Stream.slice(1)]))
    #expect(harness.statistic("inserted-auds") == 1)
  }

  /// An inserted delimiter has the TemporalId of its picture (7.4.2.2).
  @Test func delimitersHaveTheSubLayerOfTheirPicture() throws {
    let harness = try H265RepackTests.repack("insert-aud=true", to: "byte-stream")
    harness.setInputCaps(H265Stream.caps("hev1", codecData: nil))
    let higher = H265Stream.slice(.tsaN, count: 1, temporalID: 2)
    #expect(harness.push(RepackStream.lengthPrefixed(H265Stream.headers + [H265Stream.idr])) == 0)
    #expect(harness.push(RepackStream.lengthPrefixed([higher])) == 0)
    harness.endOfStream()
    #expect(
      try harness.pullBytes() == H265Stream.byteStream([H265Stream.delimiter] + H265Stream.headers + [H265Stream.idr]))
    #expect(try harness.pullBytes() == H265Stream.byteStream([0x46, 0x03, 0x50], higher))
  }
}
