// SPDX-License-Identifier: MPL-2.0

/// The picture order counts of slices, for log lines: slower than what times pictures, and used only while someone
/// reads them.
package struct PictureOrderLog<Codec: ElementCodecSyntax>: Sendable {
  private var reader = Codec.PictureReader()
  private var last: Codec.SliceHeader?
  private var current: Int32?

  /// No picture came yet.
  package init() {}

  /// The count of the picture that a slice belongs to; `nil` when its SPS is not known.
  ///
  /// - Parameters:
  ///   - slice: a header that was read as far as the reference marking, where counts may be reset.
  ///   - parameterSets: those so far.
  package mutating func count(_ slice: Codec.SliceHeader, _ parameterSets: borrowing Codec.ParameterSets) -> Int32? {
    guard !slice.isRedundant else { return current }
    if let last, !Codec.isFirstOfPicture(slice, after: last) { return current }
    last = slice
    current = parameterSets.sequenceParameterSet(slice.sequenceParameterSetID).map { reader.picture(slice, $0).order }
    return current
  }
}
