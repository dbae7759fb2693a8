// SPDX-License-Identifier: MPL-2.0

/// What is asked of the SPS of any codec. What caps say comes from ``FormatDescription`` instead.
public protocol SequenceParameterSetSyntax: Sendable, Hashable {
  /// `seq_parameter_set_id`.
  var id: UInt8 { get }
  /// How deep pictures are reordered, in frames, as sent; nil when the stream does not say.
  var sentReorderFrames: Int? { get }
  /// How deep pictures may be reordered, in frames: as sent, or the bound that profile and level set.
  var maximumReorderFrames: Int { get }
  /// Whether pictures are output in decoding order, by anything that the SPS says.
  var followsDecodingOrder: Bool { get }
  /// Whether B-frames are ruled out by the profile.
  var forbidsBFrames: Bool { get }
  /// Whether no picture is a single field.
  var isFrameOnly: Bool { get }
  /// How many of the pictures that ``PictureReading`` tells of make a frame, where each is a field: 2, else 1.
  var picturesPerFrame: Int { get }
  /// Whether the VUI is there.
  var hasVUI: Bool { get }
  /// Whether pictures coded with this and with the other one may be of the same coded video sequence, by all that
  /// decoding goes by.
  func codesPictures(like other: Self) -> Bool
}
