// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

private typealias Stream = RepackStream

/// The property `drop` of repackagers.
@Suite(.serialized) struct DropTests {
  private let idr = Stream.slice(0, isIDR: true)
  private var sets: [[UInt8]] { [Stream.sps(), Stream.pps()] }

  private static let drops: [(String, Set<UInt8>)] = [
    ("aud", [9]), ("filler", [12]), ("sei", [6]), ("end-of-sequence", [10, 11]), ("parameter-sets", [7, 8]),
    ("aud+filler+sei+end-of-sequence+parameter-sets", [6, 7, 8, 9, 10, 11, 12]),
  ]

  @Test(arguments: drops)
  func dropsNALUnitsOfTheTypes(drop: String, types: Set<UInt8>) throws {
    let all = [
      Stream.delimiter, Stream.sps(), Stream.pps(), Stream.sei, idr, Stream.filler, Stream.endOfSequence, [0x0B],
    ]
    for format in ["byte-stream", "avc3"] {
      let harness = try Harness.repack("drop=\(drop)", to: format)
      harness.setInputCaps(Stream.caps("byte-stream"))
      #expect(harness.push(Stream.annexB(all)) == 0)
      let left = all.filter { !types.contains($0[0] & 31) }
      #expect(try harness.pullBytes() == (format == "avc3" ? Stream.lengthPrefixed(left) : Stream.annexB(left)))
      #expect(harness.statistic("dropped-nal-units") == all.count - left.count)
    }
  }

  @Test func dropsPrefixAndSuffixSEI() throws {
    let harness = try H265RepackTests.repack("drop=sei", to: "byte-stream")
    harness.setInputCaps(H265Stream.caps("byte-stream"))
    let hash = H265Stream.sei(132, [2, 0, 0, 0, 1], isSuffix: true)
    #expect(
      harness.push(H265Stream.byteStream(H265Stream.headers + [H265Stream.contentLight, H265Stream.idr, hash])) == 0)
    harness.endOfStream()
    #expect(try harness.pullBytes() == H265Stream.byteStream(H265Stream.headers + [H265Stream.idr]))
  }

  @Test func takesEffectWithTheNextBuffer() throws {
    let harness = try Harness.repack(to: "byte-stream")
    harness.setInputCaps(Stream.caps("byte-stream"))
    let bytes = Stream.annexB([Stream.delimiter] + sets + [idr])
    #expect(harness.push(bytes) == 0)
    harness.set("drop", "aud")
    #expect(harness.push(bytes) == 0)
    harness.set("drop", "0")
    #expect(harness.push(bytes) == 0)
    #expect(try harness.pullBytes() == bytes)
    #expect(try harness.pullBytes() == Stream.annexB(sets + [idr]))
    #expect(try harness.pullBytes() == bytes)
  }

  /// Upstream may send its caps again between the setting and the next buffer: the base class does not negotiate then.
  @Test func takesEffectIfTheSameCapsComeAgain() throws {
    let harness = try Harness.repack(to: "byte-stream")
    harness.setInputCaps(Stream.caps("byte-stream"))
    let bytes = Stream.annexB([Stream.delimiter] + sets + [idr])
    for drop in ["0", "aud", "0"] {
      harness.set("drop", drop)
      harness.setInputCaps(Stream.caps("byte-stream"))
      #expect(harness.push(bytes) == 0)
      #expect(try harness.pullBytes() == (drop == "0" ? bytes : Stream.annexB(sets + [idr])))
    }
  }
}
