// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

private typealias Stream = RepackStream

/// Placement of parameter sets, and changes of `codec_data`.
@Suite(.serialized) struct RepackParameterSetTests {
  private let idr = Stream.slice(0, isIDR: true)

  /// The number of caps events since the last call.
  private func capsEvents(_ harness: Harness) -> Int {
    var count = 0
    while let event = harness.tryPullEvent() {
      if event.kind == .caps { count += 1 }
    }
    return count
  }

  @Test func capsWaitForTheParameterSets() throws {
    let harness = try Harness.repack(to: "avc")
    harness.collectMessages()
    harness.setInputCaps(Stream.caps("byte-stream"))
    #expect(harness.push(Stream.annexB([idr])) == 0)
    #expect(harness.push(Stream.annexB([Stream.slice(1)])) == 0)
    #expect(throws: Harness.Failure.noCaps) { _ = try harness.outputCaps() }
    #expect(harness.takeMessages().filter { $0.hasPrefix("warning") }.count == 1)
    #expect(harness.statistic("dropped-before-parameter-sets") == 2)

    // Alone, long before their slices, and in the wrong order.
    #expect(harness.push(Stream.annexB([Stream.pps()])) == 0)
    #expect(harness.push(Stream.annexB([Stream.delimiter, Stream.sps()])) == 0)
    #expect(harness.push(Stream.annexB([idr])) == 0)
    let first = try harness.pull()
    #expect(try first.copiedBytes() == Stream.lengthPrefixed([idr]))
    #expect(first.flags.contains(.discontinuity))
    #expect(try harness.outputCodecData() == Stream.avcC([Stream.sps()], pps: [Stream.pps()]))
    #expect(harness.takeMessages().isEmpty && harness.waiting == 0)
    #expect(capsEvents(harness) == 1)
  }

  @Test func aStreamWithoutParameterSetsEndsWithAnError() throws {
    for format in ["avc", "avc3"] {
      let harness = try Harness.repack(to: format)
      harness.collectMessages()
      harness.setInputCaps(Stream.caps("byte-stream"))
      #expect(harness.push(Stream.annexB([idr])) == 0)
      harness.endOfStream()
      #expect(harness.takeMessages().contains { $0.hasPrefix("error: The stream has no parameter sets") })
      #expect(harness.received == 0)
    }
  }

  /// A seek back from the end to where the parameter sets are.
  @Test func findsParameterSetsAfterASeekFromTheEnd() throws {
    for format in ["avc", "avc3"] {
      let harness = try Harness.repack(to: format)
      harness.setInputCaps(Stream.caps("byte-stream"))
      #expect(harness.push(Stream.annexB([idr])) == 0)
      harness.endOfStream()
      harness.flush()
      while harness.tryPullEvent() != nil {}
      #expect(harness.push(Stream.annexB([Stream.sps(), Stream.pps(), idr])) == 0)
      let bytes = try harness.pullBytes()
      #expect(bytes.suffix(idr.count) == idr[...])
      var kinds: [Event.Kind] = []
      while let event = harness.tryPullEvent() { kinds.append(event.kind) }
      #expect(kinds == [.caps, .segment])
    }
  }

  @Test func repeatedParameterSetsSendNoNewCaps() throws {
    let harness = try Harness.repack(to: "avc")
    harness.setInputCaps(Stream.caps("byte-stream"))
    for _ in 0..<5 {
      #expect(harness.push(Stream.annexB([Stream.sps(), Stream.pps(), idr])) == 0)
      #expect(harness.push(Stream.annexB([Stream.pps()])) == 0)
      #expect(harness.push(Stream.annexB([Stream.slice(1)])) == 0)
    }
    for _ in 0..<5 {
      #expect(try harness.pullBytes() == Stream.lengthPrefixed([idr]))
      #expect(try harness.pullBytes() == Stream.lengthPrefixed([Stream.slice(1)]))
    }
    #expect(harness.waiting == 0 && capsEvents(harness) == 1 && harness.statistic("parameter-set-changes") == 0)
  }

  @Test func newCapsComeBeforeTheBufferThatNeedsThem() throws {
    let harness = try Harness.repack(to: "avc")
    harness.setInputCaps(Stream.caps("byte-stream"))
    #expect(harness.push(Stream.annexB([Stream.sps(), Stream.pps(), idr])) == 0)
    #expect(capsEvents(harness) == 1)
    #expect(harness.push(Stream.annexB([Stream.sps(level: 41), Stream.pps(), idr])) == 0)
    #expect(capsEvents(harness) == 1)
    #expect(try harness.outputCodecData() == Stream.avcC([Stream.sps(level: 41)], pps: [Stream.pps()]))
    // A set of another id: codec_data has all.
    #expect(harness.push(Stream.annexB([Stream.sps(3), Stream.pps(9, sps: 3), idr])) == 0)
    let both = Stream.avcC([Stream.sps(level: 41), Stream.sps(3)], pps: [Stream.pps(), Stream.pps(9, sps: 3)])
    #expect(try harness.outputCodecData() == both)
    #expect(harness.push(Stream.annexB([Stream.sps(3), Stream.pps(9, sps: 3), idr])) == 0)
    #expect(capsEvents(harness) == 1 && harness.statistic("parameter-set-changes") == 2)
    for _ in 0..<4 { #expect(try harness.pullBytes() == Stream.lengthPrefixed([idr])) }
  }

  @Test func aChangeInMidSequenceStaysInBandUntilTheNextKeyframe() throws {
    let harness = try Harness.repack(to: "avc")
    harness.setInputCaps(Stream.caps("byte-stream"))
    let other = Stream.pps(qp: 3)
    #expect(harness.push(Stream.annexB([Stream.sps(), Stream.pps(), idr])) == 0)
    #expect(harness.push(Stream.annexB([other])) == 0)
    #expect(harness.push(Stream.annexB([Stream.slice(1)])) == 0)
    #expect(harness.push(Stream.annexB([Stream.slice(2)])) == 0)
    #expect(capsEvents(harness) == 1)
    #expect(harness.push(Stream.annexB([idr])) == 0)
    #expect(capsEvents(harness) == 1)
    #expect(try harness.outputCodecData() == Stream.avcC([Stream.sps()], pps: [other]))
    for expected in [[idr], [other, Stream.slice(1)], [Stream.slice(2)], [idr]] {
      #expect(try harness.pullBytes() == Stream.lengthPrefixed(expected))
    }
  }

  @Test func setsAfterTheSlicesBelongToTheNextPicture() throws {
    let harness = try Harness.repack(to: "avc")
    harness.setInputCaps(Stream.caps("byte-stream"))
    #expect(harness.push(Stream.annexB([Stream.sps(), Stream.pps(), idr, Stream.pps(qp: 5)])) == 0)
    #expect(try harness.outputCodecData() == Stream.avcC([Stream.sps()], pps: [Stream.pps()]))
    #expect(harness.push(Stream.annexB([idr])) == 0)
    #expect(try harness.outputCodecData() == Stream.avcC([Stream.sps()], pps: [Stream.pps(qp: 5)]))
  }

  @Test func writesTheRecordExtensionOfHighProfiles() throws {
    let harness = try Harness.repack(to: "avc")
    harness.setInputCaps(Stream.caps("byte-stream"))
    let sps = Stream.sps(profile: 122, constraints: 0)
    #expect(harness.push(Stream.annexB([sps, Stream.spsExtension(), Stream.pps(), idr])) == 0)
    let high = [0xFE, 0xFA, 0xF9, 1] + Stream.lengthPrefixed([Stream.spsExtension()], 2)
    #expect(try harness.outputCodecData() == Stream.avcC([sps], pps: [Stream.pps()], high: high))
    #expect(try harness.pullBytes() == Stream.lengthPrefixed([idr]))
  }

  @Test func keepsBytesAfterTheRecord() throws {
    let harness = try Harness.repack("nal-length-size=2", to: "avc")
    let record = Stream.avcC([Stream.sps()], pps: [Stream.pps()], high: [1, 2, 3])
    harness.setInputCaps(Stream.caps("avc", codecData: record))
    #expect(harness.push(Stream.lengthPrefixed([idr])) == 0)
    #expect(
      try harness.outputCodecData() == Stream.avcC([Stream.sps()], pps: [Stream.pps()], size: 2, high: [1, 2, 3]))
  }
}
