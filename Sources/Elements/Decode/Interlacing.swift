// SPDX-License-Identifier: MPL-2.0
import H26x
import VideoDecoding

/// What the caps say of fields when the caps of the compressed stream say nothing.
///
/// Guessed from the first picture, since the caps go out before it is decoded, and corrected at most once: `mixed` is
/// never wrong, but those who want fields for certain, such as an SDI output, do not take it.
enum Interlacing: Hashable {
  case progressive
  case interleaved(isTopFirst: Bool)
  /// Each buffer's flags tell.
  case mixed
  /// Each picture is one field.
  case fields

  /// - Parameter scan: of the first picture of this format.
  init(_ format: FormatDescription, scan: PictureScan?) {
    if format.isFieldSequence {
      self = .fields
      return
    }
    switch scan {
    case .fields(let isTopFirst)?: self = .interleaved(isTopFirst: isTopFirst)
    case .frame?, nil: self = format.isInterlacedAllowed ? .mixed : .progressive
    }
  }

  /// Takes a decoded picture into account. Answers whether it contradicts what was known.
  mutating func isCorrected(by picture: DecodedPicture) -> Bool {
    switch self {
    case .mixed, .fields: return false
    case .progressive:
      // Frames only, but of two fields, as picture timing SEI says.
      guard picture.isInterlaced else { return false }
    case .interleaved(let isTopFirst):
      let fits =
        picture.isInterlaced && picture.isTopFieldFirst == isTopFirst && !picture.repeatsFirstField
        && !picture.isSingleField
      if fits { return false }
    }
    self = .mixed
    return true
  }
}
