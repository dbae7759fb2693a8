// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Times the pictures of a raw H.264 stream.
  package struct Timeline: PresentationTiming {
    /// H.264.
    package typealias Codec = H264

    private var timeline = PresentationTimeline<H264>()

    /// Creates a timeline that begins with the first picture it gets.
    package init() {}

    /// Field periods for which the picture that is read next is shown; nil if unknown.
    package var fieldPeriods: Int? {
      get { timeline.fieldPeriods }
      set { timeline.fieldPeriods = newValue }
    }
    /// Whether a picture was read whose times were not taken yet.
    package var hasPicture: Bool { timeline.hasPicture }
    /// The end of the last picture so far, in nanoseconds; nil before the first picture.
    package var endOfPictures: UInt64? { timeline.endOfPictures }
    /// Reads a picture that continues the sequence being timed. Returns whether it does.
    package mutating func read(_ slice: SliceHeader, rate: Ratio?, generation: UInt64) -> Bool {
      timeline.read(slice, rate: rate, generation: generation)
    }
    /// Reads a picture that may begin a sequence. Returns whether enough is known.
    package mutating func read(
      _ slice: SliceHeader, isContinued: Bool, endsSequence: Bool, rate: Ratio?,
      parameterSets: borrowing ParameterSets, generation: UInt64, lookingAt bytes: Span<UInt8>, from offset: Int,
      isComplete: Bool
    ) -> Bool {
      timeline.read(
        slice, isContinued: isContinued, endsSequence: endsSequence, rate: rate, parameterSets: parameterSets,
        generation: generation, lookingAt: bytes, from: offset, isComplete: isComplete)
    }
    /// The times of the picture that was read last, once.
    package mutating func takeTimes() -> PresentationTimes? { timeline.takeTimes() }
    /// An end of sequence or stream follows the last picture.
    package mutating func endSequence() { timeline.endSequence() }
    /// Moves times so that `time` becomes `other`, both in nanoseconds.
    package mutating func move(_ time: UInt64, to other: UInt64) { timeline.move(time, to: other) }
  }
}
