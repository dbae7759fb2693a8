// SPDX-License-Identifier: MPL-2.0
import H26x

/// The picture order counts that log lines tell. It is fed only while someone reads them.
struct PictureOrderLog<Codec: ParserCodec>: Sendable {
  private var reader = Codec.PictureReader()
  private var last: Codec.SliceHeader?
  private var current: Int32?

  /// The count of the picture that a slice belongs to; `nil` when its SPS is not known.
  ///
  /// - Parameter slice: a header that was read as far as the reference marking, where counts may be reset.
  mutating func count(_ slice: Codec.SliceHeader, _ parameterSets: borrowing Codec.ParameterSets) -> Int32? {
    guard !slice.isRedundant else { return current }
    if let last, !Codec.isFirstOfPicture(slice, after: last) { return current }
    last = slice
    current = parameterSets.sequenceParameterSet(slice.sequenceParameterSetID).map { reader.picture(slice, $0).order }
    return current
  }
}
