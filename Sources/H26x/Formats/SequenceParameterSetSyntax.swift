// SPDX-License-Identifier: MPL-2.0

/// The properties of any codec's SPS. The contents of caps come from ``FormatDescription`` instead.
public protocol SequenceParameterSetSyntax: Sendable, Hashable {
  /// Reads an SPS NAL unit, header included.
  ///
  /// - Parameters:
  ///   - nalUnit: the NAL unit, without start code or length prefix.
  ///   - trace: records the syntax elements; nil for no record.
  init(nalUnit: Span<UInt8>, trace: SyntaxTrace?) throws(BitstreamError)
  /// `seq_parameter_set_id`.
  var id: SequenceParameterSetID { get }
  /// The reorder depth in frames as sent; nil if the stream does not signal it.
  var sentReorderFrames: Int? { get }
  /// The reorder depth in frames: as sent, or inferred from profile and level.
  var maximumReorderFrames: Int { get }
  /// Whether pictures are output in decoding order, by any field of the SPS.
  var followsDecodingOrder: Bool { get }
  /// Whether the profile has no B-frames.
  var forbidsBFrames: Bool { get }
  /// Whether no picture is a single field.
  var isFrameOnly: Bool { get }
  /// 2 if each picture of ``PictureReading`` is a field that is paired by its POC alone, else 1.
  var picturesPerFrame: Int { get }
  /// By how much POC usually grows from a frame to the next one shown.
  var usualOrderStep: Int { get }
  /// Whether the VUI is there.
  var hasVUI: Bool { get }
  /// Whether pictures with this and with the other SPS may be of one coded video sequence: whether all is equal that
  /// decoding depends on.
  func codesPictures(like other: Self) -> Bool
}
