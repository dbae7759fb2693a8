// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Stage: at which pictures decoding can begin.
struct RandomAccess<Codec: ParserCodec>: Sendable {
  /// The stream signals random access points: by recovery point SEI, or by NAL unit type if the codec has types for
  /// all.
  private var marksRandomAccess = false
  private var fields = FieldPairing<Codec>()
  /// Whether the picture's first slice is an I slice, for the NAL units after it.
  private var isFirstSliceIntra = false

  /// Forgets the position in the stream.
  mutating func forgetPosition() {
    fields = FieldPairing<Codec>()
    isFirstSliceIntra = false
  }

  /// Whether decoding can begin with an access unit, or with a NAL unit of one.
  ///
  /// A stream signals random access points by recovery point SEI, or by type if the codec has types for all. Until its
  /// first signal, a picture of I slices counts as one. Many encoders send such pictures for that purpose and signal
  /// nothing. After the first signal, only signaled random access points count.
  ///
  /// - Parameters:
  ///   - accessUnit: each once, in order.
  ///   - soFar: the contents of the access unit up to this NAL unit, when NAL units come one by one.
  ///   - isIntraOnly: whether every picture is intra coded by profile.
  mutating func contains(
    _ accessUnit: ScannedAccessUnit<Codec.SliceHeader>, soFar: AccessUnitContents, isIntraOnly: Bool
  ) -> Bool {
    let contents = accessUnit.contents
    if contents.contains(.recoveryPoint) || Codec.typesTellRandomAccess && contents.contains(.randomAccess) {
      marksRandomAccess = true
    }
    guard contents.contains(.slice) else { return contents.contains(.recoveryPoint) }
    if contents.contains(.pictureStart) {
      var isSecondField = false
      if let slice = accessUnit.slice { isSecondField = fields.isSecond(slice) }
      // When NAL units are output one by one, the first slice is all that is known in time.
      let firstSlice = accessUnit.nalUnits.first { $0.contents?.contains(.slice) == true }?.contents
      isFirstSliceIntra = (firstSlice ?? contents).isIntra && !isSecondField
    }
    if contents.contains(.randomAccess) || soFar.contains(.recoveryPoint) || isIntraOnly { return true }
    return !marksRandomAccess && isFirstSliceIntra
  }
}
