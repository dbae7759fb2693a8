// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

private typealias Stream = RepackStream

/// Unreadable `codec_data`, and parameter sets in `codec_data` only.
@Suite(.serialized) struct RepackCodecDataTests {
  private let idr = Stream.slice(0, isIDR: true)
  private static let broken: [[UInt8]] = [
    [1, 0x64], [2, 0x64, 0, 30, 0xFF, 0xE0, 0], [1, 0x64, 0, 30, 0xFE, 0xE0, 0],
  ]

  @Test(arguments: broken, ["avc", "avc3"])
  func unreadableCodecDataPassesIfNothingChanges(record: [UInt8], format: String) throws {
    let harness = try Harness.repack(to: format)
    harness.collectMessages()
    harness.setInputCaps(Stream.caps(format, codecData: record))
    let packets = [Stream.lengthPrefixed([idr]), Stream.lengthPrefixed([Stream.slice(1)], 2), [1, 2, 3]]
    for packet in packets {
      #expect(harness.push(packet) == 0)
      #expect(try harness.pullBytes() == packet)
    }
    #expect(try harness.outputCodecData() == record)
    let messages = harness.takeMessages()
    #expect(messages == ["warning: codec_data cannot be read; the stream is passed through unchanged."])
    #expect(harness.statistic("untouched") == 3 && harness.statistic("bytes-out") == packets.joined().count)
  }

  @Test func unreadableCodecDataCannotBeConverted() throws {
    for (format, properties) in [("avc3", ""), ("byte-stream", ""), ("avc", "drop=sei")] {
      let harness = try Harness.repack(properties, to: format)
      harness.collectMessages()
      harness.setInputCaps(Stream.caps("avc", codecData: Self.broken[0]))
      #expect(harness.push(Stream.lengthPrefixed([idr])) != 0, "\(format)")
      #expect(harness.takeMessages().filter { $0.hasPrefix("error") }.count == 1, "\(format)")
      #expect(harness.received == 0)
    }
  }

  /// Samples of avc3 need not repeat the parameter sets of `codec_data`.
  @Test(arguments: [1, 2, 4]) func insertsParameterSetsOfAvc3CodecDataInBand(lengthSize: Int) throws {
    let sets = [Stream.sps(), Stream.pps()]
    let record = Stream.avcC([sets[0]], pps: [sets[1]], size: lengthSize)
    let harness = try Harness.repack(to: "byte-stream")
    harness.setInputCaps(Stream.caps("avc3", codecData: record))
    for unit in [idr, Stream.slice(1), idr] { #expect(harness.push(Stream.lengthPrefixed([unit], lengthSize)) == 0) }
    #expect(try harness.pullBytes() == Stream.annexB(sets + [idr]))
    #expect(try harness.pullBytes() == Stream.annexB([Stream.slice(1)]))
    #expect(try harness.pullBytes() == Stream.annexB(sets + [idr]))
    #expect(harness.statistic("inserted-parameter-sets") == 4)

    let described = try Harness.repack(to: "avc")
    described.setInputCaps(Stream.caps("avc3", codecData: record))
    #expect(described.push(Stream.lengthPrefixed([idr], lengthSize)) == 0)
    #expect(try described.pullBytes() == Stream.lengthPrefixed([idr]))
    #expect(try described.outputCodecData() == Stream.avcC([sets[0]], pps: [sets[1]]))
  }

  /// After passing buffers through, the element holds them back while new caps wait for parameter sets.
  @Test func newCapsWaitForParameterSetsAfterPassthrough() throws {
    let harness = try Harness.repack(to: "avc")
    let (sps, pps) = (Stream.sps(), Stream.pps())
    harness.setInputCaps(Stream.caps("avc", codecData: Stream.avcC([sps], pps: [pps])))
    #expect(harness.push(Stream.lengthPrefixed([idr])) == 0)
    #expect(harness.statistic("untouched") == 1)
    harness.setInputCaps(Stream.caps("byte-stream"))
    #expect(harness.push(Stream.annexB([sps, Stream.pps(qp: 3), idr])) == 0)
    #expect(harness.push(Stream.annexB([Stream.slice(1)])) == 0)
    for unit in [idr, idr, Stream.slice(1)] { #expect(try harness.pullBytes() == Stream.lengthPrefixed([unit])) }
    #expect(try harness.outputCodecData() == Stream.avcC([sps], pps: [Stream.pps(qp: 3)]))
    #expect(harness.waiting == 0)
  }

  /// A damaged change of parameter sets makes no new caps; the stream continues.
  @Test func aDamagedChangeOfParameterSetsDoesNotEndTheStream() throws {
    let harness = try Harness.repack(to: "avc3")
    harness.collectMessages()
    harness.setInputCaps(Stream.caps("byte-stream"))
    let sps = Stream.sps()
    #expect(harness.push(Stream.annexB([sps, Stream.pps(), idr])) == 0)
    let record = try harness.outputCodecData()
    // The only PPS refers to another SPS now.
    #expect(harness.push(Stream.annexB([Stream.pps(sps: 5), idr])) == 0)
    #expect(harness.push(Stream.annexB([Stream.pps(), idr])) == 0)
    for sets in [[sps, Stream.pps()], [Stream.pps(sps: 5)], [Stream.pps()]] {
      #expect(try harness.pullBytes() == Stream.lengthPrefixed(sets + [idr]))
    }
    #expect(try harness.outputCodecData() == record && harness.takeMessages() == [])
  }
}
