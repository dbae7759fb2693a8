// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import GStreamer
import HarnessSupport
import TestSupport
import Testing

/// An accurate seek in a raw file goes on with the last keyframe before its target, not with the last one that was played.
@Suite(.serialized) struct ParserAccurateSeekTests {
  /// A file for the time of a function.
  private static func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
    _ = try Harness.parse()
    let path = FileManager.default.temporaryDirectory.appending(path: "parser-accurate-\(UUID())").path
    try Data(bytes).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  /// Groups of a second: I, then eight times P B B. Each picture has its own size.
  private static func stream(_ codec: StreamCodec, groups: UInt32, size: Int = 100) -> [UInt8] {
    var nalUnits: [[UInt8]] = []
    for group in 0..<groups {
      let size = { (index: UInt32) in size + Int(group * 25 + index) }
      nalUnits += codec.parameterSets(reorder: 1)
      nalUnits.append(codec.picture(.idr, number: 0, order: 0, group: group, size: size(0)))
      for third in UInt32(0)..<8 {
        let first = third * 3 + 1
        nalUnits += [
          codec.picture(.p, number: third + 1, order: first + 2, size: size(first)),
          codec.picture(.b, number: third + 2, order: first, size: size(first + 1)),
          codec.picture(.b, number: third + 2, order: first + 1, size: size(first + 2)),
        ]
      }
    }
    return RepackStream.annexB(nalUnits)
  }

  /// The buffers of a file from its beginning to its end.
  private static func linear(_ path: String, _ elements: String) throws -> [FileRecording.Entry] {
    try FileRecording(of: path, elements).entries.filter { !$0.isCaps }
  }

  /// The number of the buffer that an accurate seek to this time in milliseconds should begin with.
  private static func keyframe(before time: Int, in entries: [FileRecording.Entry]) -> Int? {
    entries.lastIndex { entry in
      !entry.attributes.flags.contains(.deltaUnit)
        && entry.attributes.pts.map { $0.nanoseconds <= UInt64(time) * 1_000_000 } == true
    }
  }

  /// The first buffer that differs, in bytes or times; nil when there is none.
  private static func firstDifference(
    _ arrivals: [GatedPipeline.Arrival], _ entries: ArraySlice<FileRecording.Entry>
  ) -> Int? {
    zip(arrivals, entries).enumerated().first { _, pair in
      pair.0.content != pair.1.content || pair.0.attributes.pts != pair.1.attributes.pts
        || pair.0.attributes.dts != pair.1.attributes.dts
    }?.offset
  }

  /// From 3 to 18 seconds of 20.
  @Test(arguments: StreamCodec.allCases)
  func doesNotPushGroupsBeforeTheTarget(_ codec: StreamCodec) throws {
    try Self.withFile(Self.stream(codec, groups: 20)) { path in
      for format in ["byte-stream", codec.outOfBand] {
        let elements = "\(codec.element)parse ! \(codec.mediaType),stream-format=\(format),alignment=au"
        let whole = try Self.linear(path, elements)
        #expect(whole.count == 500)
        let pipeline = try GatedPipeline("filesrc location=\(path) ! \(elements)", admitting: 75)
        _ = try pipeline.wait()
        try pipeline.seek(to: 18_000, admitting: 1000)
        let (arrivals, segments) = try pipeline.wait()
        let first = try #require(Self.keyframe(before: 18_000, in: whole))
        #expect(first == 425 && arrivals.count == whole.count - first)
        #expect(Self.firstDifference(arrivals, whole[first...]) == nil)
        #expect(arrivals.first?.attributes.flags.contains(.discontinuity) == true)
        #expect(arrivals.dropFirst().allSatisfy { !$0.attributes.flags.contains(.discontinuity) })
        #expect(segments.map(\.start) == [18_000_000_000])
      }
    }
  }

  /// 200 seeks back and forth, while the sink blocks: where the index of the base class reaches and beyond.
  @Test(arguments: StreamCodec.allCases, ["au", "nal"])
  func everySeekBeginsWithTheKeyframeBeforeIt(_ codec: StreamCodec, _ alignment: String) throws {
    try Self.withFile(Self.stream(codec, groups: 30)) { path in
      let elements = "\(codec.element)parse ! \(codec.mediaType),stream-format=byte-stream,alignment=\(alignment)"
      let whole = try Self.linear(path, elements)
      let pipeline = try GatedPipeline("filesrc location=\(path) ! \(elements)", admitting: 1)
      _ = try pipeline.wait()
      var random = SeededGenerator(state: 7)
      for index in 0..<200 {
        let time = Int.random(in: 0..<30_000, using: &random)
        try pipeline.seek(to: time, admitting: Int.random(in: 1..<90, using: &random))
        let arrivals = try pipeline.wait().arrivals
        // In front of the keyframe itself stand NAL units of its access unit.
        var first = Self.keyframe(before: max(time, 40), in: whole) ?? 0
        let time0 = whole[first].attributes.pts
        while first > 0, whole[first - 1].attributes.pts == time0 { first -= 1 }
        #expect(arrivals.first?.attributes.pts == time0, "seek \(index) to \(time)")
        #expect(Self.firstDifference(arrivals, whole[first...]) == nil, "seek \(index) to \(time)")
      }
    }
  }

  /// Recovery points at regular distances, reached some pictures later: the seek begins with the last one that is
  /// reached at its target. Where more than 16 overlap, not all are followed.
  @Test(arguments: StreamCodec.allCases, [(50, 5), (25, 30), (1, 12), (1, 40)])
  func beginsAtARecoveryPointThatIsCompleteAtTheTarget(_ codec: StreamCodec, _ points: (interval: Int, distance: Int))
    throws
  {
    var nalUnits = codec.parameterSets(reorder: 0)
    for index in 0..<400 {
      if index > 0, index % points.interval == 0 { nalUnits.append(codec.recoveryPoint(after: points.distance)) }
      nalUnits.append(
        codec.picture(index == 0 ? .idr : .p, number: UInt32(index), order: UInt32(index), size: 100 + index))
    }
    try Self.withFile(RepackStream.annexB(nalUnits)) { path in
      let elements = "\(codec.element)parse ! \(codec.mediaType),stream-format=byte-stream,alignment=au"
      let whole = try Self.linear(path, elements)
      let pipeline = try GatedPipeline("filesrc location=\(path) ! \(elements)", admitting: 1)
      _ = try pipeline.wait()
      for target in [30, 399, 77, 200, 201, 52, 399] {
        try pipeline.seek(to: target * 40, admitting: 1)
        let arrival = try #require(try pipeline.wait().arrivals.first)
        let place = try #require(whole.firstIndex { $0.attributes.pts == arrival.attributes.pts })
        let best = (0...target).last {
          $0 == 0 || $0 % points.interval == 0 && $0 + points.distance <= target
        }
        let slack = points.interval == 1 ? max(0, points.distance - 15) : 0
        let expected = try #require(best)
        #expect(expected - slack <= place && place <= expected, "to picture \(target)")
        #expect(arrival.content == whole[place].content)
      }
    }
  }

  /// A PPS that came once, seconds before the target, goes out with the first picture after the seek. This is also so
  /// if the keyframe has other parameter sets.
  @Test(arguments: [true, false]) func keepsParameterSetsBeforeTheTarget(_ hasOwn: Bool) throws {
    let late = ParseStream.ppsToOrder(id: 1)
    var nalUnits = [ParseStream.spsToOrder(reorder: 0), ParseStream.ppsToOrder()]
    for group in UInt32(0)..<10 {
      if group == 5 { nalUnits.append(late) }
      if hasOwn, group > 0 { nalUnits += [ParseStream.spsToOrder(reorder: 0), ParseStream.ppsToOrder()] }
      for index in UInt32(0)..<25 {
        nalUnits.append(
          ParseStream.slice(
            index == 0 ? 2 : 0, number: index % 16, order: 2 * index, idr: index == 0, pps: group < 5 ? 0 : 1,
            idrID: group & 1, size: 100))
      }
    }
    try Self.withFile(RepackStream.annexB(nalUnits)) { path in
      let elements = "swifth264parse ! video/x-h264,stream-format=byte-stream,alignment=au"
      let pipeline = try GatedPipeline("filesrc location=\(path) ! \(elements)", admitting: 30)
      _ = try pipeline.wait()
      try pipeline.seek(to: 8500, admitting: 10)
      let arrivals = try pipeline.wait().arrivals
      let first = try #require(arrivals.first)
      #expect(first.attributes.pts == .seconds(8))
      #expect(first.content.firstRange(of: [0, 0, 0, 1] + late) != nil)
      #expect(arrivals.dropFirst().allSatisfy { $0.content.firstRange(of: late) == nil })
      // Once they went out, nothing is inserted.
      try pipeline.seek(to: 9500, admitting: 10)
      let next = try pipeline.wait().arrivals
      #expect(next.first?.attributes.pts == .seconds(9))
    }
  }
}
