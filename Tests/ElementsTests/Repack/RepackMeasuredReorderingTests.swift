// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

@testable import Elements

/// `edit="latency=measured"`: headers get the reorder depth of the pictures before them, and with a number where that
/// proves too small.
@Suite struct RepackMeasuredReorderingTests {
  init() { #expect(Registration.succeeded) }

  /// The access units of a clip whose pictures have a reorder depth of 2.
  private func clip(_ codec: String) throws -> [[UInt8]] {
    try codec == "264" ? Clip.accessUnits("clip.h264") : Clip.accessUnits("clip.h265", of: H265.self)
  }

  /// The reorder depths that headers announce when the input's headers announce 4, and the messages on the bus.
  private func depths(
    _ codec: String, _ units: [[UInt8]], discontinuities: Set<Int> = [], latency: String = "measured"
  ) throws -> (announced: [Int?], messages: [String]) {
    let harness = try Harness(
      "swifth\(codec)repack edit=latency=4 ! swifth\(codec)repack edit=latency=\(latency)")
    harness.collectMessages()
    harness.setInputCaps("video/x-h\(codec), stream-format=byte-stream, alignment=au")
    var announced: [Int?] = []
    for (index, unit) in units.enumerated() {
      var buffer = try RepackStream.buffer(unit)
      if discontinuities.contains(index) { buffer.flags.insert(.discontinuity) }
      #expect(harness.push(buffer) == 0)
      while let output = harness.tryPull() { announced += try Self.depths(codec, output.copiedBytes()) }
    }
    return (announced, harness.takeMessages())
  }

  /// What each SPS in an access unit announces.
  private static func depths(_ codec: String, _ bytes: [UInt8]) throws -> [Int?] {
    try Clip.nalUnits(bytes).compactMap { nalUnit -> Int?? in
      if codec == "264", nalUnit[0] & 31 == 7 {
        return .some(try H264.SequenceParameterSet(nalUnit: nalUnit.span).sentReorderFrames)
      }
      if codec == "265", nalUnit[0] >> 1 == 33 {
        return .some(try H265.SequenceParameterSet(nalUnit: nalUnit.span).maximumReorderFrames)
      }
      return .none
    }
  }

  @Test(arguments: ["264", "265"]) func announcesTheDepthOfThePreviousSequence(codec: String) throws {
    let units = try clip(codec)
    let (announced, messages) = try depths(codec, units + units + units)
    #expect(announced.count >= 3 && announced.first == 4)
    #expect(announced.dropFirst(announced.count / 3).allSatisfy { $0 == 2 }, "\(announced)")
    #expect(messages == [])
  }

  /// One picture shows nothing of those that follow.
  @Test(arguments: ["264", "265"]) func raisesAMeasuredDepthThatProvesTooSmall(codec: String) throws {
    let units = try clip(codec)
    let (announced, messages) = try depths(codec, Array(units[..<1]) + units + units)
    #expect(announced.first == 4 && announced.dropFirst().first == 0 && announced.last == 2, "\(announced)")
    #expect(messages.count == 1, "\(messages)")
    #expect(messages.allSatisfy { $0.contains("reordered more than the edited headers") })
  }

  /// A number is the least: a smaller one than the pictures need holds for one sequence, with a warning.
  @Test(arguments: ["264", "265"]) func raisesAGivenDepthThatProvesTooSmall(codec: String) throws {
    let units = try clip(codec)
    let (announced, messages) = try depths(codec, units + units + units, latency: "0")
    let sequence = announced.count / 3
    #expect(announced.first == 0 && announced.dropFirst(sequence).allSatisfy { $0 == 2 }, "\(announced)")
    #expect(messages.count == 1 && messages.allSatisfy { $0.contains("reordered more than the edited headers") })
    let enough = try depths(codec, units + units, latency: "3")
    #expect(enough.announced.allSatisfy { $0 == 3 } && enough.messages == [])
  }

  /// Behind a loss, orders may begin anew.
  @Test(arguments: ["264", "265"]) func doesNotCompareOrdersAcrossALoss(codec: String) throws {
    let units = try clip(codec)
    // The second half of the pictures, and the first ones of the same sequence behind them.
    let lossy = Array(units[..<1]) + Array(units[30...]) + Array(units[1..<30])
    let place = lossy.count - 29
    let (announced, _) = try depths(codec, lossy + units, discontinuities: [1, place])
    #expect(announced.last.map { ($0 ?? 99) <= 4 } == true, "\(announced)")
  }

  /// With `pic_order_cnt_type` 2 the first headers have it already.
  @Test func announcesNoReorderingFromTheStartIfTheTypeExcludesIt() throws {
    let sample = RepackSample.all[0]
    let harness = try sample.harness("edit=\"latency=measured\"", to: RepackEnd(format: .byteStream, alignment: "au"))
    harness.setInputCaps(sample.caps(RepackEnd(format: .byteStream, alignment: "au")))
    let input = RepackEnd(format: .byteStream, alignment: "au")
    #expect(harness.push(try RepackStream.buffer(input.pack(sample.withSets[0]))) == 0)
    let sets = try EditTests.pullAll(harness, input).filter { EditTests.isSet($0, sample) }
    let format = try EditTests.description(sets, [], sample)
    #expect(format.sentReorderFrames == 0)
  }
}
