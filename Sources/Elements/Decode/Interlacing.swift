// SPDX-License-Identifier: MPL-2.0
import H26x
import VideoDecoding

/// The output's interlace mode, if the sink caps do not specify it.
///
/// Guessed from the first picture, since caps are sent before it is decoded, and corrected at most once: `mixed` is
/// never wrong, but sinks that need certainty, such as an SDI output, refuse it.
enum Interlacing: Hashable {
  case progressive
  case interleaved(isTopFirst: Bool)
  /// Each buffer's flags determine it.
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

  /// Takes a decoded picture into account. Returns whether the interlace mode has changed.
  mutating func correct(by picture: DecodedPicture) -> Bool {
    switch self {
    case .mixed, .fields: return false
    case .progressive:
      // frame_mbs_only_flag, but according to picture timing SEI frames consist of fields.
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
