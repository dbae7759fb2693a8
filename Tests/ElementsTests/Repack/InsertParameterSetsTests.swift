// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

private typealias Stream = RepackStream

/// The property `insert-parameter-sets` of repackagers.
@Suite(.serialized) struct InsertParameterSetsTests {
  private let idr = Stream.slice(0, isIDR: true)

  private static let policies: [(String, [Bool])] = [
    ("auto", [true, true, false, true]), ("keyframes", [true, true, false, true]),
    ("changes", [true, false, false, false]), ("never", [false, false, false, false]),
  ]

  @Test(arguments: policies)
  func insertsSetsByPolicy(policy: String, expected: [Bool]) throws {
    for format in ["byte-stream", "avc3"] {
      let harness = try Harness.repack("insert-parameter-sets=\(policy)", to: format)
      harness.setInputCaps(Stream.caps("avc", codecData: Stream.avcC([Stream.sps()], pps: [Stream.pps()])))
      let units = [[idr], [Stream.recoveryPoint, Stream.slice(1)], [Stream.slice(2)], [idr]]
      for (unit, hasSets) in zip(units, expected) {
        #expect(harness.push(Stream.lengthPrefixed(unit)) == 0)
        let result = (hasSets ? [Stream.sps(), Stream.pps()] : []) + unit
        #expect(
          try harness.pullBytes() == (format == "avc3" ? Stream.lengthPrefixed(result) : Stream.annexB(result)))
      }
    }
  }

  @Test func insertsNewCodecDataInBandAtOnce() throws {
    let harness = try Harness.repack(to: "byte-stream")
    harness.setInputCaps(Stream.caps("avc", codecData: Stream.avcC([Stream.sps()], pps: [Stream.pps()])))
    #expect(harness.push(Stream.lengthPrefixed([idr])) == 0)
    let other = Stream.pps(qp: 2)
    harness.setInputCaps(Stream.caps("avc", codecData: Stream.avcC([Stream.sps()], pps: [other])))
    #expect(harness.push(Stream.lengthPrefixed([Stream.slice(1)])) == 0)
    _ = try harness.pullBytes()
    #expect(try harness.pullBytes() == Stream.annexB([Stream.sps(), other, Stream.slice(1)]))
  }

  @Test func doesNotInsertSetsThatArePresent() throws {
    let harness = try Harness.repack(to: "byte-stream")
    harness.setInputCaps(Stream.caps("avc", codecData: Stream.avcC([Stream.sps()], pps: [Stream.pps()])))
    #expect(harness.push(Stream.lengthPrefixed([Stream.sps(), Stream.pps(), idr])) == 0)
    #expect(try harness.pullBytes() == Stream.annexB([Stream.sps(), Stream.pps(), idr]))
    // Changed in the stream: the sets of codec_data are replaced.
    let other = Stream.pps(qp: 2)
    #expect(harness.push(Stream.lengthPrefixed([other, Stream.slice(1)])) == 0)
    #expect(try harness.pullBytes() == Stream.annexB([other, Stream.slice(1)]))
    #expect(harness.push(Stream.lengthPrefixed([idr])) == 0)
    #expect(try harness.pullBytes() == Stream.annexB([Stream.sps(), other, idr]))
  }

  @Test func insertsSetsAgainAfterAFlush() throws {
    let harness = try Harness.repack("insert-parameter-sets=changes", to: "byte-stream")
    harness.setInputCaps(Stream.caps("avc", codecData: Stream.avcC([Stream.sps()], pps: [Stream.pps()])))
    #expect(harness.push(Stream.lengthPrefixed([idr])) == 0)
    harness.flush()
    #expect(harness.push(Stream.lengthPrefixed([Stream.slice(1)])) == 0)
    _ = try harness.pullBytes()
    #expect(try harness.pullBytes() == Stream.annexB([Stream.sps(), Stream.pps(), Stream.slice(1)]))
  }
}
