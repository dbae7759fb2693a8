// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

private typealias Stream = RepackStream

@Suite(.serialized) struct RepackTests {
  @Test func byteStreamBecomesAVC() throws {
    let harness = try Harness.repack(to: "avc")
    harness.setInputCaps(Stream.caps("byte-stream", more: ", width=32, height=32, framerate=25/1, parsed=true"))
    let (sps, pps) = (Stream.sps(), Stream.pps())
    let idr = Stream.slice(0, isIDR: true)
    let second = Stream.slice(0, isIDR: true, firstMacroblock: 2)
    #expect(
      harness.push(
        Stream.annexB([Stream.delimiter, sps, pps]) + Stream.annexB([idr, second], startCode: 3), pts: .second,
        dts: .zero, duration: .seconds(2)) == 0)
    #expect(harness.push(Stream.annexB([Stream.slice(1)]), pts: .seconds(3)) == 0)

    let caps = try harness.outputCaps()
    #expect(caps.first.string("stream-format") == "avc" && caps.first.string("alignment") == "au")
    #expect(caps.first.int("width") == 32 && caps.first.fraction("framerate") == Fraction(25, 1))
    #expect(caps.first.boolean("parsed") == true)
    #expect(try harness.outputCodecData() == Stream.avcC([sps], pps: [pps]))

    let first = try harness.pull()
    #expect(try first.copiedBytes() == Stream.lengthPrefixed([Stream.delimiter, idr, second]))
    #expect(first.pts == .second && first.dts == .zero && first.duration == .seconds(2))
    let next = try harness.pull()
    #expect(try next.copiedBytes() == Stream.lengthPrefixed([Stream.slice(1)]))
    #expect(next.pts == .seconds(3))
  }

  @Test func avcBecomesByteStream() throws {
    let harness = try Harness.repack(to: "byte-stream")
    let (sps, pps) = (Stream.sps(), Stream.pps())
    let idr = Stream.slice(0, isIDR: true)
    harness.setInputCaps(Stream.caps("avc", codecData: Stream.avcC([sps], pps: [pps]), more: ", height=32"))
    #expect(harness.push(Stream.lengthPrefixed([Stream.delimiter, Stream.sei, idr])) == 0)
    #expect(harness.push(Stream.lengthPrefixed([Stream.slice(1)])) == 0)
    #expect(harness.push(Stream.lengthPrefixed([idr])) == 0)
    #expect(try harness.pullBytes() == Stream.annexB([Stream.delimiter, sps, pps, Stream.sei, idr]))
    #expect(try harness.pullBytes() == Stream.annexB([Stream.slice(1)]))
    #expect(try harness.pullBytes() == Stream.annexB([sps, pps, idr]))
    let caps = try harness.outputCaps()
    #expect(!caps.first.has("codec_data") && caps.first.int("height") == 32)
  }

  @Test func passesThroughIfNothingChanges() throws {
    let harness = try Harness.repack(to: "byte-stream")
    harness.setInputCaps(Stream.caps("byte-stream"))
    let bytes = Stream.annexB([Stream.sps(), Stream.pps(), Stream.slice(0, isIDR: true)], startCode: 3) + [0, 0]
    #expect(harness.push(bytes) == 0)
    #expect(try harness.pullBytes() == bytes)
    #expect(harness.statistic("untouched") == 1 && harness.statistic("copied") == 0)
  }
}
