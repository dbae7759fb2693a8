// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

private typealias Stream = RepackStream

/// The property `nal-length-size` of repackagers.
@Suite(.serialized) struct NALLengthSizeTests {
  @Test func aNALUnitTooLongForItsLengthIsAnError() throws {
    for (size, length) in [(1, 256), (2, 65536)] {
      let harness = try Harness.repack("nal-length-size=\(size)", to: "avc")
      harness.collectMessages()
      harness.setInputCaps(Stream.caps("byte-stream"))
      let sets = Stream.annexB([Stream.sps(), Stream.pps()])
      let fitting = [UInt8](repeating: 0x65, count: length - 1)
      #expect(harness.push(sets + Stream.annexB([fitting])) == 0)
      #expect(harness.push(Stream.annexB([fitting + [0x65]])) == FlowError.error.rawValue)
      let message = harness.takeMessages().first ?? ""
      #expect(message.contains("\(length) bytes") && message.contains("nal-length-size=\(size)"))
      #expect(message.contains("\(length - 1)"))
    }
  }

  @Test func takesEffectWithTheNextBuffer() throws {
    let idr = Stream.slice(0, isIDR: true)
    let bytes = Stream.annexB([Stream.delimiter, Stream.sps(), Stream.pps(), idr])
    let lengths = try Harness.repack(to: "avc")
    lengths.setInputCaps(Stream.caps("byte-stream"))
    #expect(lengths.push(bytes) == 0)
    lengths.set("nal-length-size", "2")
    #expect(lengths.push(bytes) == 0)
    #expect(try lengths.pullBytes() == Stream.lengthPrefixed([Stream.delimiter, idr]))
    #expect(try lengths.pullBytes() == Stream.lengthPrefixed([Stream.delimiter, idr], 2))
    #expect(try lengths.outputCodecData() == Stream.avcC([Stream.sps()], pps: [Stream.pps()], size: 2))
  }
}
