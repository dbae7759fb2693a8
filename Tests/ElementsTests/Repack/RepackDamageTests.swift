// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

private typealias Stream = RepackStream

/// Damaged input.
@Suite(.serialized) struct RepackDamageTests {
  private let idr = Stream.slice(0, isIDR: true)
  private let record = RepackStream.avcC([RepackStream.sps()], pps: [RepackStream.pps()])

  private static let tails: [[UInt8]] = [
    [0, 0, 0, 99, 0x41, 1], [0xFF, 0xFF, 0xFF, 0xFF, 0x41], [0x7F, 0xFF, 0xFF, 0xFF], [0, 0, 0], [9],
  ]

  @Test(arguments: tails) func keepsTheGoodPrefixOfDamagedPackets(tail: [UInt8]) throws {
    for format in ["byte-stream", "avc3"] {
      let harness = try Harness.repack("nal-length-size=2", to: format)
      harness.collectMessages()
      harness.setInputCaps(Stream.caps("avc", codecData: record))
      for _ in 0..<3 {
        #expect(harness.push(Stream.lengthPrefixed([Stream.slice(1)]) + tail, pts: .second) == 0)
        let buffer = try harness.pull()
        #expect(try buffer.copiedBytes().suffix(Stream.slice(1).count).elementsEqual(Stream.slice(1)))
        // The others are no NAL units.
        let lacksNALUnit = tail == Self.tails[0]
        #expect(buffer.flags.contains(.corrupted) == lacksNALUnit && buffer.pts == .second)
      }
      // No good NAL unit.
      #expect(harness.push(tail) == 0)
      #expect(harness.waiting == 0)
      #expect(harness.push(Stream.lengthPrefixed([Stream.slice(2)])) == 0)
      let next = try harness.pull()
      #expect(next.flags.contains(.discontinuity) && !next.flags.contains(.corrupted))
      #expect(harness.statistic("damaged") == 4 && harness.statistic("lost") == 1)
      #expect(harness.takeMessages() == ["warning: The stream is damaged; its readable parts are passed on."])
    }
  }

  @Test func emptyNALUnitsAreSkipped() throws {
    let harness = try Harness.repack(to: "byte-stream")
    harness.setInputCaps(Stream.caps("avc", codecData: record))
    #expect(harness.push([0, 0, 0, 0] + Stream.lengthPrefixed([Stream.slice(1)]) + [0, 0, 0, 0]) == 0)
    #expect(try harness.pullBytes().suffix(Stream.slice(1).count + 4).elementsEqual(Stream.annexB([Stream.slice(1)])))
    #expect(harness.statistic("damaged") == 0)
    #expect(harness.push([]) == 0)
    #expect(harness.push([0, 0, 0, 0]) == 0)
    #expect(harness.waiting == 0)
  }

  @Test func startCodesInPacketsAreReplaced() throws {
    let harness = try Harness.repack("insert-parameter-sets=never", to: "byte-stream")
    harness.collectMessages()
    harness.setInputCaps(Stream.caps("avc", codecData: record))
    let units = [Stream.sei, idr, Stream.slice(0, isIDR: true, firstMacroblock: 2)]
    let whole = Stream.annexB(units)
    let packets = [
      // A byte stream, one with a length prefix, one whose first start code is a length, and one with a length missing.
      whole, Stream.lengthPrefixed([whole]), Stream.lengthPrefixed([[UInt8](whole.dropFirst(4))]),
      Stream.lengthPrefixed([units[0], units[1] + [0, 0, 1] + units[2]]), Stream.annexB(units, startCode: 3),
    ]
    for packet in packets {
      #expect(harness.push(packet) == 0)
      let buffer = try harness.pull()
      #expect(try buffer.copiedBytes() == whole)
      #expect(!buffer.flags.contains(.corrupted))
    }
    #expect(harness.takeMessages().count == 1)
    #expect(harness.statistic("misplaced-start-codes") == 3 + 3 + 2 + 1 + 3)
  }

  @Test func truncatedAvcCNeverTraps() throws {
    let whole = Stream.avcC(
      [Stream.sps(profile: 122, constraints: 0)], pps: [Stream.pps()], high: [0xFE, 0xFA, 0xF9, 0])
    for length in 1...whole.count {
      let harness = try Harness.repack(to: "byte-stream")
      harness.collectMessages()
      harness.setInputCaps(Stream.caps("avc", codecData: [UInt8](whole.prefix(length))))
      let flow = harness.push(Stream.lengthPrefixed([idr]))
      let isWhole = length == whole.count || length == whole.count - 4
      #expect((flow == 0) == isWhole, "\(length) bytes")
      if !isWhole { #expect(harness.takeMessages().contains { $0.contains("is not an avcC") }) }
    }
  }

  @Test func badLengthSizesInTheRecordAreRefused() throws {
    var record = record
    record[4] = 0xFC | 2
    let harness = try Harness.repack(to: "byte-stream")
    harness.collectMessages()
    harness.setInputCaps(Stream.caps("avc", codecData: record))
    #expect(harness.push(Stream.lengthPrefixed([idr])) != 0)
    #expect(harness.takeMessages().contains { $0.contains("lengthSizeMinusOne") })
  }

  @Test func keepsUnreadableParameterSetsInPlace() throws {
    let harness = try Harness.repack(to: "avc")
    harness.collectMessages()
    harness.setInputCaps(Stream.caps("byte-stream"))
    #expect(harness.push(Stream.annexB([Stream.sps(), Stream.pps(), idr])) == 0)
    for broken: [UInt8] in [[0x68], [0x67], [0x67, 1], [0x68, 0x80]] {
      #expect(harness.push(Stream.annexB([broken, Stream.slice(1)])) == 0)
    }
    _ = try harness.pullBytes()
    for broken: [UInt8] in [[0x68], [0x67], [0x67, 1], [0x68, 0x80]] {
      #expect(try harness.pullBytes() == Stream.lengthPrefixed([broken, Stream.slice(1)]))
    }
    #expect(harness.statistic("unreadable-parameter-sets") == 4 && harness.takeMessages().count == 1)
  }

  @Test func dropsBytesWithoutAStartCode() throws {
    let harness = try Harness.repack(to: "avc")
    harness.setInputCaps(Stream.caps("byte-stream"))
    #expect(harness.push(Stream.annexB([Stream.sps(), Stream.pps(), idr])) == 0)
    #expect(harness.push([1, 2, 3, 4]) == 0)
    #expect(harness.push([0, 0, 1]) == 0)
    #expect(harness.received == 1 && harness.statistic("lost") == 2)
  }

  /// Random bytes of few values, with many start codes and small lengths.
  @Test func randomBytesNeverTrap() throws {
    var generator = SeededGenerator(state: 42)
    for input in RepackEnd.inputs {
      for output in RepackEnd.outputs {
        let sample = RepackSample.all[Int(generator.next() % 2)]
        let harness = try sample.harness("nal-length-size=\(output.lengthSize)", to: output)
        harness.collectMessages()
        harness.setInputCaps(sample.caps(input))
        harness.push(input.pack(sample.withSets[0]))
        for _ in 0..<40 {
          let pool: [UInt8] = [
            0, 0, 0, 1, 1, 2, 3, 0x65, 0x67, 0x68, 0x06, 0x41, 0x0E, 0x14, 0x40, 0x42, 0x44, 0x4E, 0xFF,
          ]
          let count = Int(generator.next() % 60)
          var bytes = (0..<count).map { _ in pool[Int(generator.next() % UInt64(pool.count))] }
          if generator.next() % 2 == 0 { bytes = input.pack([bytes]) }
          #expect(harness.push(bytes) == 0 || output.lengthSize == 1)
        }
        harness.endOfStream()
      }
    }
  }
}
