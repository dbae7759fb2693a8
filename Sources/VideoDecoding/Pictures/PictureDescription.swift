// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// A codec's report of a picture that it outputs, without the samples.
package struct PictureDescription: Sendable, Hashable {
  /// The index of the access unit that started the picture; nil if the codec has lost it.
  package var index: UInt64?
  /// Coded size in luma samples.
  package var width: Int, height: Int
  /// The crop that the stream signals, whether or not it is possible.
  package var crop = PictureCrop()
  /// Not all references of the picture were there.
  package var isCorrupt = false
  /// Errors met in decoding it.
  var errors = FrameErrors()
  /// Two fields, or an interlaced frame.
  package var isInterlaced = false
  /// The top field is the first of the two.
  var isTopFieldFirst = false
  /// The first field is displayed again after the second.
  var repeatsFirstField = false
  /// The color description of the samples.
  var colour = PictureColour()
  /// Width and height of a sample; nil when the stream does not signal them.
  var sampleAspectRatio: SampleAspectRatio?

  /// Describes a picture.
  package init(index: UInt64?, width: Int, height: Int) {
    self.index = index
    self.width = width
    self.height = height
  }

  init(_ frame: borrowing Frame) {
    self.init(index: UInt64(exactly: frame.timestamp), width: frame.width, height: frame.height)
    crop = PictureCrop(left: frame.cropLeft, right: frame.cropRight, top: frame.cropTop, bottom: frame.cropBottom)
    isCorrupt = frame.isCorrupt
    errors = frame.errors
    isInterlaced = frame.isInterlaced
    isTopFieldFirst = frame.isTopFieldFirst
    repeatsFirstField = frame.repeatCount == 1
    colour = PictureColour(frame)
    sampleAspectRatio = frame.sampleAspectRatio.map { SampleAspectRatio(width: $0.width, height: $0.height) }
  }
}
