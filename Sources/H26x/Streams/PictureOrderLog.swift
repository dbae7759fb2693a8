// SPDX-License-Identifier: MPL-2.0

/// POCs of slices for log lines: slower than the timing of pictures, and used only when the lines are logged.
package struct PictureOrderLog<Codec: ElementCodecSyntax>: Sendable {
  private var reader = Codec.PictureReader()
  private var last: Codec.SliceHeader?
  private var current: Int32?

  /// Creates one for the start of a stream.
  package init() {}

  /// The POC of the picture that a slice belongs to; `nil` if its SPS is not known.
  ///
  /// - Parameters:
  ///   - slice: a header at depth ``SliceHeaderDepth/referenceMarking``, where POC may be reset.
  ///   - parameterSets: the parameter sets so far.
  package mutating func count(_ slice: Codec.SliceHeader, _ parameterSets: borrowing Codec.ParameterSets) -> Int32? {
    guard !slice.isRedundant else { return current }
    if let last, !Codec.isFirstOfPicture(slice, after: last) { return current }
    last = slice
    current = parameterSets.sequenceParameterSet(slice.sequenceParameterSetID).map { reader.picture(slice, $0).order }
    return current
  }
}
