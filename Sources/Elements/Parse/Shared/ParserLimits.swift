// SPDX-License-Identifier: MPL-2.0
import H26x

/// Limits on the data that is held.
enum ParserLimits {
  /// The largest access unit in bytes: more is an error. In pull mode that much is held at most; in push mode the base
  /// class holds it a second time, in one piece.
  static let accessUnitSize = AccessUnitLimits.size
  /// Bytes to request per call if several access units go into one frame.
  static let batchSize = 64 << 10
  /// The same if an access unit may fill a quarter of that: the incomplete access unit at the end is read again.
  static let largeBatchSize = 256 << 10
  /// Bytes of a file that are read in one place to determine how long it lasts, and the number of places. A file of
  /// their product is looked at as a whole.
  static let (sampleSize, sampleCount) = (64 << 10, 64)
  /// The pictures that such places should have together. With fewer, more bytes are read in each, up to this many.
  static let (sampledPictures, largeSampleSize) = (300, 512 << 10)
  /// The least size of such a place and of the part that it stands for.
  static let samplePart = 4 << 10
  /// Bytes to read beyond such a place: the first slice of a picture that begins at its end.
  static let sampleMargin = 1 << 10
  /// Bytes to read per call ahead of the output.
  static let readAheadSize = 256 << 10
  /// Bytes that GstBaseParse may hold and be made to skip: it gives up if it has skipped twice as many.
  static let skipSize = 1 << 20
  /// Start code and header byte: with less there is nothing to look at.
  static let minimumInput = H264.AccessUnitScanner.minimumInput
}
