// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

@testable import Elements

/// When edits begin to hold: those of parameter sets with a coded video sequence, those of SEI with an access unit.
@Suite(.serialized) struct EditWhilePlayingTests {
  private static let end = RepackEnd(format: .byteStream, alignment: "au")
  private static let avc = RepackEnd(format: .outOfBand, alignment: "au")

  private func push(_ nalUnits: [[UInt8]], _ input: RepackEnd, into harness: Harness) throws -> [[UInt8]] {
    #expect(harness.push(try RepackStream.buffer(input.pack(nalUnits))) == 0)
    return try EditTests.pullAll(harness, input)
  }

  private func colorimetry(_ harness: Harness) throws -> String? {
    let caps = try harness.outputCaps()
    return caps.first.string("colorimetry")
  }

  private func colour(_ sets: [[UInt8]], _ sample: RepackSample, codecData: [UInt8] = []) throws -> UInt8? {
    try EditTests.description(
      sets.filter { EditTests.isSet($0, sample) }, codecData, sample
    ).colour?.primaries
  }

  /// A property that is set in mid-sequence waits for an IDR picture, and one message reports that.
  @Test func waitsForTheNextSequence() throws {
    for sample in RepackSample.all {
      let harness = try sample.harness("", to: Self.end)
      harness.collectMessages()
      harness.setInputCaps(sample.caps(Self.end, more: ", colorimetry=bt601"))
      #expect(try push(sample.withSets[0], Self.end, into: harness) == sample.withSets[0])
      harness.set("edit", "colour=bt2020-pq")
      for unit in sample.accessUnits[1...2] { #expect(try push(unit, Self.end, into: harness) == unit) }
      #expect(try colorimetry(harness) == "bt601")
      #expect(harness.takeMessages() == ["element: edit-pending"])
      let last = try push(sample.withSets[3], Self.end, into: harness)
      #expect(last.count == sample.withSets[3].count && last.last == sample.withSets[3].last)
      #expect(try colour(last, sample) == 9)
      #expect(try colorimetry(harness) == "bt2100-pq")
      #expect(harness.takeMessages() == [])
    }
  }

  /// Of a stream that sends its parameter sets once, they are sent again in their new form, all of them.
  @Test func sendsKnownSetsAgain() throws {
    for sample in RepackSample.all {
      let harness = try sample.harness("edit=\"colour=bt709\"", to: Self.end)
      harness.setInputCaps(sample.caps(Self.end))
      #expect(try colour(push(sample.withSets[0], Self.end, into: harness), sample) == 1)
      harness.set("edit", "colour=bt2020-hlg")
      #expect(try push(sample.accessUnits[1], Self.end, into: harness) == sample.accessUnits[1])
      let again = try push(sample.accessUnits[3], Self.end, into: harness)
      #expect(again.count == sample.sets.count + sample.accessUnits[3].count)
      #expect(try colour(again, sample) == 9)
      #expect(again.last == sample.accessUnits[3].last)
      // And back: unedited, and then untouched.
      harness.set("edit", "")
      #expect(try push(sample.accessUnits[3], Self.end, into: harness) == sample.sets + sample.accessUnits[3])
      let untouched = harness.statistic("untouched") ?? 0
      for unit in sample.accessUnits { #expect(try push(unit, Self.end, into: harness) == unit) }
      #expect(harness.statistic("untouched") == untouched + 4)
      #expect(try colorimetry(harness) == nil)
    }
  }

  /// In `codec_data` the change comes with the caps in front of the IDR picture.
  @Test func changesCodecDataWithTheSequence() throws {
    for sample in RepackSample.all {
      let harness = try sample.harness("", to: Self.avc)
      harness.setInputCaps(sample.caps(Self.avc))
      #expect(try push(sample.accessUnits[0], Self.avc, into: harness) == sample.accessUnits[0])
      let before = try harness.outputCodecData()
      harness.set("edit", "colour=bt709")
      #expect(try push(sample.accessUnits[1], Self.avc, into: harness) == sample.accessUnits[1])
      #expect(try harness.outputCodecData() == before)
      #expect(try push(sample.accessUnits[3], Self.avc, into: harness) == sample.accessUnits[3])
      #expect(try colour([], sample, codecData: harness.outputCodecData()) == 1)
      #expect(try colorimetry(harness) == "bt709")
      harness.set("edit", "")
      #expect(try push(sample.accessUnits[3], Self.avc, into: harness) == sample.accessUnits[3])
      #expect(try harness.outputCodecData() == before)
    }
  }

  /// Caps that were sent before the edit was set, or taken back, come again with the first picture.
  @Test(arguments: ["", "colour=bt2020-pq"]) func changesCodecDataBeforeTheFirstPicture(first: String) throws {
    for sample in RepackSample.all {
      for second in ["colour=bt709", ""] {
        let harness = try sample.harness("edit=\"\(first)\"", to: Self.avc)
        harness.setInputCaps(sample.caps(Self.avc, more: ", colorimetry=bt601"))
        #expect(try colour([], sample, codecData: harness.outputCodecData()) == (first.isEmpty ? nil : 9))
        harness.set("edit", second)
        #expect(try push(sample.accessUnits[0], Self.avc, into: harness) == sample.accessUnits[0])
        #expect(try colour([], sample, codecData: harness.outputCodecData()) == (second.isEmpty ? nil : 1))
        #expect(try colorimetry(harness) == (second.isEmpty ? "bt601" : "bt709"))
      }
    }
  }

  /// Edits of SEI hold from the next access unit on, also beside others that wait.
  @Test func editsMessagesAtOnce() throws {
    let sample = RepackSample.all[0]
    let harness = try sample.harness("", to: Self.end)
    harness.setInputCaps(sample.caps(Self.end))
    _ = try push(sample.withSets[0], Self.end, into: harness)
    let unit = [RepackStream.sei, RepackStream.slice(1)]
    #expect(try push(unit, Self.end, into: harness) == unit)
    harness.set("edit", "remove-sei=5,colour=bt709")
    #expect(try push(unit, Self.end, into: harness) == [unit[1]])
    // An access unit of which nothing is left is no buffer.
    #expect(try push([RepackStream.sei], Self.end, into: harness) == [])
    harness.set("edit", "")
    #expect(try push(unit, Self.end, into: harness) == unit)
  }

  /// Picture timing that the VUI may demand goes with a sequence, whose SPS does not demand it.
  @Test func removesPictureTimingWithASequence() throws {
    let sample = RepackSample.all[0]
    let harness = try sample.harness("", to: Self.end)
    harness.collectMessages()
    harness.setInputCaps(sample.caps(Self.end))
    let plain = RepackStream.sps()
    var sps = try H264.SequenceParameterSet(nalUnit: plain.span)
    sps.vui = H264.VUI()
    sps.vui?.isPictureStructurePresent = true
    sps.vui?.isOverscanAppropriate = false
    let (timing, idr): ([UInt8], [UInt8]) = ([6, 1, 1, 0x40, 0x80], RepackStream.slice(0, isIDR: true))
    let first = [sps.nalUnit(), RepackStream.pps(), timing, idr]
    #expect(try push(first, Self.end, into: harness) == first)
    harness.set("edit", "keep-sei=none")
    let second = [timing, RepackStream.slice(1)]
    #expect(try push(second, Self.end, into: harness) == second)
    #expect(harness.takeMessages() == ["element: edit-pending"])
    sps.vui?.isPictureStructurePresent = false
    #expect(try push(first, Self.end, into: harness) == [sps.nalUnit(), RepackStream.pps(), idr])
    #expect(try push(second, Self.end, into: harness) == [second[1]])
  }

  /// A flush keeps what holds and what waits.
  @Test func aFlushKeepsEdits() throws {
    for sample in RepackSample.all {
      let harness = try sample.harness("edit=\"colour=bt709\"", to: Self.end)
      harness.setInputCaps(sample.caps(Self.end))
      _ = try push(sample.withSets[0], Self.end, into: harness)
      harness.set("edit", "colour=bt2020-pq")
      harness.flush()
      let unit = sample.accessUnits[1]
      #expect(try push(unit, Self.end, into: harness) == unit)
      #expect(try colour(push(sample.withSets[3], Self.end, into: harness), sample) == 9)
    }
  }

  /// An open-GOP stream has no second sequence, unless its first is ended, or it is cut.
  @Test(arguments: ["end", "flush", "none"]) func aCRAPictureBeginsASequenceOnlyAfterAnEndOfSequence(event: String)
    throws
  {
    typealias Stream = H265Stream
    let sample = RepackSample.all[1]
    let harness = try sample.harness("", to: Self.end)
    harness.collectMessages()
    harness.setInputCaps(sample.caps(Self.end))
    let cra = { (count: UInt32) in Stream.headers + [Stream.slice(.cra, count: count)] }
    #expect(try push(cra(1), Self.end, into: harness) == cra(1))
    harness.set("edit", "range=full,colour=bt709")
    #expect(try push(cra(9), Self.end, into: harness) == cra(9))
    #expect(harness.takeMessages() == ["element: edit-pending"])
    if event == "flush" { harness.flush() }
    let ended = [Stream.slice(.trailingR, count: 11)] + (event == "end" ? [Stream.endOfSequence] : [])
    #expect(try push(ended, Self.end, into: harness) == ended)
    let next = try push(cra(20), Self.end, into: harness)
    // Behind the flush, the picture that is no random access point was the first.
    #expect(try colour(next, sample) == (event == "end" ? 1 : nil))
    #expect(harness.takeMessages() == [])
  }

  /// Every set with every id is edited; caps are those of the SPS that the pictures refer to.
  @Test func editsEveryID() throws {
    typealias Stream = RepackStream
    let harness = try Harness.repack("edit=\"level=auto,colour=bt709\"", to: "byte-stream")
    harness.setInputCaps(Stream.caps("byte-stream"))
    let sets = [Stream.sps(), Stream.sps(1, level: 51), Stream.pps(), Stream.pps(1, sps: 1)]
    let first = try push(sets + [Stream.slice(0, isIDR: true)], Self.end, into: harness)
    #expect(first.count == 5)
    for nalUnit in first[..<2] {
      let sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
      #expect(sps.level.name == "5.1" && sps.vui?.videoSignal?.colour?.primaries == 1)
    }
    #expect(Array(first[2...]) == sets[2...] + [Stream.slice(0, isIDR: true)])
    #expect(try push([Stream.slice(0, isIDR: true, pps: 1)], Self.end, into: harness).count == 1)
    #expect(try colorimetry(harness) == "bt709")
  }

  /// Another stream begins with the edits that are asked for by then.
  @Test func anotherStreamBeginsWithTheCurrentEdits() throws {
    for sample in RepackSample.all {
      let harness = try sample.harness("", to: Self.end)
      harness.setInputCaps(sample.caps(Self.end))
      _ = try push(sample.withSets[0], Self.end, into: harness)
      harness.set("edit", "colour=bt709")
      harness.push(Event.streamStart("second"))
      harness.setInputCaps(sample.caps(Self.end, more: ", width=32"))
      let unit = sample.inserting(sample.accessUnits[1])
      #expect(try colour(push(unit, Self.end, into: harness), sample) == 1)
    }
  }
}
