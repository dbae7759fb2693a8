// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

/// Pictures of a raw stream, timed at 25 a second.
@Suite struct TimelineTests {
  /// A stream, and its timeline, read picture by picture.
  private struct Stream {
    var timeline = H264.Timeline()
    let sets: H264.ParameterSets

    init(_ sets: H264.ParameterSets) { self.sets = sets }

    /// Reads a picture of one slice. Returns whether that was enough.
    mutating func read(_ bytes: [UInt8], rate: Ratio? = Ratio(25, 1)) throws -> Bool {
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

  @Test func givesEachPictureItsTimesOnce() throws {
    var stream = try minimal()
    #expect(!stream.timeline.hasPicture && stream.timeline.takeTimes() == nil)
    for (index, expected) in [0, 40, 80].enumerated() {
      #expect(try stream.read(MinimalStream.slice(isIDR: index == 0)))
      #expect(stream.timeline.hasPicture)
      #expect(stream.takeTime() == UInt64(expected))
      #expect(!stream.timeline.hasPicture && stream.timeline.takeTimes() == nil)
    }
  }

  /// Times that were moved stay moved, even if another sequence begins.
  @Test(arguments: [(UInt64(40), UInt64(1000), UInt64(1040), UInt64(1080))])
  func movesTimes(_ from: UInt64, _ to: UInt64, _ next: UInt64, _ end: UInt64) throws {
    var stream = try minimal()
    for index in 0..<2 {
      #expect(try stream.read(MinimalStream.slice(isIDR: index == 0)))
      _ = stream.takeTime()
    }
    stream.timeline.move(from * 1_000_000, to: to * 1_000_000)
    var other = stream
    #expect(try stream.read(MinimalStream.slice(isIDR: false)))
    #expect(stream.takeTime() == next)
    #expect(try stream.read(MinimalStream.slice(isIDR: true), rate: Ratio(50, 1)))
    #expect(stream.takeTime() == end)
    // At once.
    #expect(try other.read(MinimalStream.slice(isIDR: true), rate: Ratio(50, 1)))
    #expect(other.takeTime() == next)
  }

  /// Times are exact to the nanosecond, and the first picture is shown at 0.
  @Test(
    arguments: [(30000, 1001, 33_366_666), (24, 1, 41_666_666), (1, 3, 3_000_000_000)] as [(UInt32, UInt32, UInt64)])
  func framesLastAsLongAsTheRateGives(_ frames: UInt32, _ seconds: UInt32, _ duration: UInt64) throws {
    var stream = try minimal()
    let rate = Ratio(frames, seconds)
    #expect(try stream.read(MinimalStream.slice(isIDR: true), rate: rate))
    #expect(stream.timeline.takeTimes() == PresentationTimes(presentation: 0, decoding: 0, duration: duration))
    #expect(try stream.read(MinimalStream.slice(isIDR: false), rate: rate))
    let next = PresentationTimes(presentation: duration, decoding: duration, duration: duration)
    #expect(stream.timeline.takeTimes() == next)
    #expect(try stream.read(MinimalStream.slice(isIDR: false), rate: nil))
    #expect(try !stream.read(MinimalStream.slice(isIDR: false), rate: nil) || stream.timeline.hasPicture)
  }

  /// Without a look ahead, only a known sequence continues: these parameter sets, this rate, this SPS.
  @Test func continuesWithoutLookAheadInAKnownSequence() throws {
    var stream = try minimal()
    #expect(try stream.read(MinimalStream.slice(isIDR: true)))
    let slice = try H264.SliceHeader(bytes: MinimalStream.slice(isIDR: false), stream.sets)
    func isEnough(_ rate: Ratio?, _ generation: UInt64) -> Bool {
      var timeline = stream.timeline
      return timeline.read(slice, rate: rate, generation: generation)
    }
    #expect(isEnough(Ratio(25, 1), 1))
    #expect(!isEnough(Ratio(25, 1), 2) && !isEnough(Ratio(24, 1), 1) && !isEnough(nil, 1))
    var sets = stream.sets
    try sets.insert(bytes: MinimalStream.sps(id: 1))
    try sets.insert(bytes: MinimalStream.pps(id: 1, sps: 1))
    let other = try H264.SliceHeader(bytes: MinimalStream.slice(isIDR: false, pps: 1), sets)
    var timeline = stream.timeline
    let isEnoughForAnother = timeline.read(other, rate: Ratio(25, 1), generation: 1)
    #expect(!isEnoughForAnother)
  }

  /// A time before the beginning is moved to the beginning; a later one moves all.
  @Test func nothingIsShownBeforeTheBeginning() throws {
    var stream = try minimal()
    #expect(try stream.read(MinimalStream.slice(isIDR: true)))
    stream.timeline.move(1_000_000_000, to: 0)
    #expect(stream.takeTime() == 0)
    stream.timeline.move(0, to: .max)
    #expect(try stream.read(MinimalStream.slice(isIDR: false)))
    let last = stream.timeline.takeTimes()
    #expect(last?.presentation == .max && last?.decoding == .max)
  }
}

/// Pictures of H.265, of which some are leading pictures.
@Suite struct H265TimelineTests {
  /// After the end of a sequence, the POCs of a CRA picture begin anew also where they are only looked at.
  @Test func endOfSequenceInTheLookAheadResetsPOC() throws {
    let sets = try H265Samples.store()
    var timeline = H265.Timeline()
    let pictures: [(H265.NALUnitType, UInt32)] = [
      (.idrWithoutLeading, 0), (.cra, 102), (.trailingR, 104), (.trailingR, 106), (.idrWithoutLeading, 0),
    ]
    let units = pictures.map { H265Samples.slice($0.0, count: $0.1) }
    var times: [UInt64] = []
    for (index, unit) in units.enumerated() {
      let slice = try H265.SliceSegmentHeader(bytes: unit, sets)
      let rest = MinimalStream.annexB(Array(units[(index + 1)...]))
      let rate = Ratio(25, 1)
      if !timeline.read(slice, rate: rate, generation: 1) {
        let isRead = timeline.read(
          slice, isContinued: false, endsSequence: index == 0, rate: rate, parameterSets: sets, generation: 1,
          lookingAt: rest.span, from: 0, isComplete: true)
        #expect(isRead)
      }
      if let time = timeline.takeTimes() { times.append(time.presentation / 1_000_000) }
      if index == 0 { timeline.endSequence() }
    }
    // The step is not known yet, and a difference of 1 is usual.
    #expect(times == [80, 120, 200, 280, 320])
  }
}
