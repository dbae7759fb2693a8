// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

/// Pictures of a raw stream, timed at 25 a second.
@Suite struct TimelineTests {
  /// A stream, and its timeline, read picture by picture.
  private struct Stream {
    var timeline = H264.Timeline()
    let sets: H264.ParameterSets

    init(_ sets: H264.ParameterSets) { self.sets = sets }

    /// Reads a picture of one slice. Returns whether that was enough.
    mutating func read(_ bytes: [UInt8], rate: Fraction? = Fraction(25, 1)) throws -> Bool {
      let slice = try H264.SliceHeader(bytes: bytes, sets, depth: .referenceMarking)
      let stream = MinimalStream.annexB([bytes])
      if timeline.read(slice, rate: rate, generation: 1) { return true }
      return timeline.read(
        slice, isContinued: false, endsSequence: false, rate: rate, parameterSets: sets,
        generation: 1, lookingAt: stream.span, from: stream.count, isComplete: true)
    }

    /// When the picture read last is shown, in milliseconds.
    mutating func takeTime() -> UInt64? { timeline.takeTimes().map { $0.presentation / 1_000_000 } }
  }

  private func minimal() throws -> Stream {
    var sets = H264.ParameterSets()
    try sets.insert(bytes: MinimalStream.sps())
    try sets.insert(bytes: MinimalStream.pps())
    return Stream(sets)
  }

  @Test func eachPictureHasItsTimesOnce() throws {
    var stream = try minimal()
    #expect(!stream.timeline.hasPicture && stream.timeline.takeTimes() == nil)
    for (index, expected) in [0, 40, 80].enumerated() {
      #expect(try stream.read(MinimalStream.slice(isIDR: index == 0)))
      #expect(stream.timeline.hasPicture)
      #expect(stream.takeTime() == UInt64(expected))
      #expect(!stream.timeline.hasPicture && stream.timeline.takeTimes() == nil)
    }
  }

  /// What was moved stays moved, where another sequence begins too.
  @Test(arguments: [(UInt64(40), UInt64(1000), UInt64(1040), UInt64(1080))])
  func timesAreMoved(_ from: UInt64, _ to: UInt64, _ next: UInt64, _ end: UInt64) throws {
    var stream = try minimal()
    for index in 0..<2 {
      #expect(try stream.read(MinimalStream.slice(isIDR: index == 0)))
      _ = stream.takeTime()
    }
    stream.timeline.move(from * 1_000_000, to: to * 1_000_000)
    var other = stream
    #expect(try stream.read(MinimalStream.slice(isIDR: false)))
    #expect(stream.takeTime() == next)
    #expect(try stream.read(MinimalStream.slice(isIDR: true), rate: Fraction(50, 1)))
    #expect(stream.takeTime() == end)
    // At once.
    #expect(try other.read(MinimalStream.slice(isIDR: true), rate: Fraction(50, 1)))
    #expect(other.takeTime() == next)
  }
}
