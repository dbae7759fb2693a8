// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// A request for a key frame that has not been answered yet.
struct KeyUnitRequest: Sendable {
  var request: ForceKeyUnit
  var sequenceNumber: UInt32
}

/// Stage: at which pictures decoding can begin.
struct RandomAccess<Codec: ParserCodec>: Sendable {
  /// The stream has said of a picture that decoding can begin there, in a way that is for no other purpose.
  private var tellsRandomAccess = false
  private var fields = FieldPairing<Codec>()
  /// What the first slice of the access unit said, where NAL units are cut.
  private var isFirstSliceIntra = false

  /// Forgets the position in the stream.
  mutating func forgetPosition() {
    fields = FieldPairing<Codec>()
    isFirstSliceIntra = false
  }

  /// Whether decoding can begin with an access unit, or with the NAL unit of one.
  ///
  /// As long as the stream says nowhere that decoding can begin (by recovery point SEI, or by type where the codec has
  /// types for all such pictures), a picture of I slices will do: many encoders send such pictures for that purpose and
  /// say nothing. A stream that says it is believed.
  ///
  /// - Parameters:
  ///   - accessUnit: to be shown once each, in order.
  ///   - soFar: what is in the access unit up to and including this NAL unit, where those are cut.
  ///   - isIntraOnly: whether every picture is intra coded by profile.
  mutating func contains(
    _ accessUnit: ScannedAccessUnit<Codec.SliceHeader>, soFar: AccessUnitContents, isIntraOnly: Bool
  ) -> Bool {
    let contents = accessUnit.contents
    if contents.contains(.recoveryPoint) || Codec.typesTellRandomAccess && contents.contains(.randomAccess) {
      tellsRandomAccess = true
    }
    guard contents.contains(.slice) else { return contents.contains(.recoveryPoint) }
    if contents.contains(.pictureStart) {
      var isSecondField = false
      if let slice = accessUnit.slice { isSecondField = fields.isSecond(slice) }
      // Where NAL units go out one by one, the first slice is all that is known in time.
      let firstSlice = accessUnit.nalUnits.first { $0.contents?.contains(.slice) == true }?.contents
      isFirstSliceIntra = (firstSlice ?? contents).isIntra && !isSecondField
    }
    if contents.contains(.randomAccess) || soFar.contains(.recoveryPoint) || isIntraOnly { return true }
    return !tellsRandomAccess && isFirstSliceIntra
  }
}
