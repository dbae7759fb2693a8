// SPDX-License-Identifier: MPL-2.0
import H26x

/// The picture order counts that log lines tell. It is fed only while someone reads them.
struct PictureOrderLog: Sendable {
  private var counter = H264.PictureOrderCounter()
  private var last: H264.SliceHeader?
  private var current: Int32?

  /// The count of the picture that a slice belongs to; `nil` when its SPS is not known.
  ///
  /// - Parameter slice: a header that was read as far as the reference marking, where counts may be reset.
  mutating func count(_ slice: H264.SliceHeader, _ parameterSets: borrowing H264.ParameterSets) -> Int32? {
    guard slice.redundantPictureCount == 0 else { return current }
    if let last, !H264.AccessUnitDetector.isFirstOfPicture(slice, after: last) { return current }
    last = slice
    current = parameterSets.sequenceParameterSet(slice.sequenceParameterSetID).map {
      counter.next(slice, sps: $0).picture
    }
    return current
  }
}
