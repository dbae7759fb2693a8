// SPDX-License-Identifier: MPL-2.0
import H26x

/// Times the pictures of a byte stream by their order and the frame rate.
struct StreamClock<Codec: ElementCodecSyntax> {
  private let fallbackRate: Ratio?
  private var timeline = Codec.Timeline()
  /// Frames a second by the SPS of the last picture, and the values that it was found with.
  private var rate: Ratio?
  private var generation: UInt64?
  private var parameterSetID: SequenceParameterSetID?

  init(fallbackRate: Ratio?) { self.fallbackRate = fallbackRate }

  /// Reads the order of an access unit's picture.
  ///
  /// - Parameters:
  ///   - bytes: the data, from the access unit on.
  ///   - offset: the offset of the next access unit in the bytes.
  ///   - isContinued: whether this was called for the same access unit before, and returned false.
  ///   - isComplete: whether not to wait for more data.
  /// - Returns: whether enough is known; else the access unit waits for more data.
  mutating func read(
    _ scanned: ScannedAccessUnit<Codec.SliceHeader>, _ scanner: borrowing Codec.Scanner,
    lookingAt bytes: Span<UInt8>, from offset: Int, isContinued: Bool, isComplete: Bool
  ) -> Bool {
    guard scanned.contents.contains(.pictureStart), let slice = scanned.slice else { return true }
    let changes = scanner.parameterSetChanges
    if changes != generation || slice.sequenceParameterSetID != parameterSetID {
      (generation, parameterSetID) = (changes, slice.sequenceParameterSetID)
      let format = try? Codec.formatDescription(
        scanner.parameterSets, sequenceParameterSetID: parameterSetID, nalLengthSize: nil)
      rate = format?.frameRate ?? fallbackRate
    }
    if !isContinued, timeline.read(slice, rate: rate, generation: changes) { return true }
    return timeline.read(
      slice, isContinued: isContinued, endsSequence: scanned.contents.contains(.endOfSequence), rate: rate,
      parameterSets: scanner.parameterSets, generation: changes, lookingAt: bytes, from: offset,
      isComplete: isComplete)
  }

  /// The times of the picture read last; nil if no picture begins, or without a frame rate.
  mutating func takeTimes(_ contents: AccessUnitContents) -> PresentationTimes? {
    let times = timeline.takeTimes()
    if contents.contains(.endOfSequence) { timeline.endSequence() }
    return times
  }
}
