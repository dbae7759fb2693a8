// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// A request for a key frame that has not been answered yet.
struct KeyUnitRequest: Sendable {
  var request: ForceKeyUnit
  var sequenceNumber: UInt32
}

/// Stage: at which pictures decoding can begin.
struct RandomAccess: Sendable {
  typealias Codec = ParserCore.Codec

  private var hasSeenRecoveryPoint = false
  private var fields = FieldPairing()
  /// What the first slice of the access unit said, where NAL units are cut.
  private var isFirstSliceIntra = false

  /// Forgets the position in the stream.
  mutating func forgetPosition() {
    fields = FieldPairing()
    isFirstSliceIntra = false
  }

  /// Whether decoding can begin with an access unit, or with the NAL unit of one.
  ///
  /// As long as the stream has shown no recovery point SEI, a picture of I slices will do: many encoders send such
  /// pictures for that purpose and say nothing. Of a stream that says where decoding can begin, what it says is believed.
  ///
  /// - Parameters:
  ///   - accessUnit: to be shown once each, in order.
  ///   - soFar: what is in the access unit up to and including this NAL unit, where those are cut.
  ///   - isIntraOnly: whether every picture is intra coded by profile.
  mutating func contains(
    _ accessUnit: Codec.ScannedAccessUnit, soFar: Codec.ScannedAccessUnit.Contents, isIntraOnly: Bool
  ) -> Bool {
    let contents = accessUnit.contents
    if contents.contains(.recoveryPoint) { hasSeenRecoveryPoint = true }
    guard contents.contains(.slice) else { return contents.contains(.recoveryPoint) }
    if contents.contains(.pictureStart) {
      // Where NAL units go out one by one, the first slice is all that is known in time.
      let known = accessUnit.nalUnits.first { $0.contents?.contains(.slice) == true }?.contents ?? contents
      let isSecondField = accessUnit.slice.map { fields.isSecond($0) } ?? false
      isFirstSliceIntra = !isSecondField && known.contains(.iSlice) && known.isDisjoint(with: [.pSlice, .bSlice])
    }
    if contents.contains(.idr) || soFar.contains(.recoveryPoint) || isIntraOnly { return true }
    return !hasSeenRecoveryPoint && isFirstSliceIntra
  }
}

/// Which fields make up a frame.
struct FieldPairing: Sendable {
  private var open: ParserCore.Codec.SliceHeader?

  /// Whether the picture of this slice is the second field of a frame: it has the other parity and the same
  /// `frame_num` as the first right before it (3.30).
  ///
  /// - Parameter slice: the first of its picture; one of each picture, in order.
  mutating func isSecond(_ slice: ParserCore.Codec.SliceHeader) -> Bool {
    var isSecond = false
    if slice.isField, let first = open {
      isSecond =
        first.isBottomField != slice.isBottomField && first.frameNumber == slice.frameNumber && !slice.isIDR
        && (first.isReference || !slice.isReference)
    }
    open = slice.isField && !isSecond ? slice : nil
    return isSecond
  }
}
