// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// How libavcodec has to be opened for a stream. Stands in for `H26x.FormatDescription` until that lands.
public struct StreamSetup: Sendable, Hashable {
  var codec = CodecSettings.Codec.h264
  /// avcC, which also announces length-prefixed access units, or Annex B parameter sets.
  public var extradata: [UInt8] = []
  /// Bytes of a NAL unit's length; nil for Annex B.
  public var nalLengthSize: Int?
  /// `max_num_reorder_frames`, when the stream says.
  public var reorderDepth: Int?

  /// An Annex B stream whose parameter sets are in the stream.
  public init() {}
}
