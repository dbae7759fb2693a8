// SPDX-License-Identifier: MPL-2.0
public import H26x

/// What a report says of a NAL unit.
public struct NALUnitRecord: Sendable {
  /// Where its header begins, in bytes from the start of the file.
  public var offset: UInt64 = 0
  /// Bytes in front of it that belong to it: its start code or length.
  public var prefix = 0
  /// Bytes, header included, start code or length and trailing zeros left out.
  public var size = 0
  /// `nal_unit_type`.
  public var type: UInt8 = 0
  /// What the type is called, in short.
  public var name: StaticString = ""
  /// Whether it holds coded samples (VCL) rather than what goes with them.
  public var isVCL = false
  /// `nal_ref_idc`; nil in H.265.
  public var referenceIDC: UInt8?
  /// `nuh_layer_id`; nil in H.264.
  public var layerID: UInt8?
  /// `TemporalId`; nil in H.264.
  public var temporalID: UInt8?
  /// Of a parameter set, its own id.
  public var parameterSetID: UInt8?
  /// What its slice header says; nil when it is no slice, or its header cannot be read.
  public var slice: SliceRecord?
  /// Of SEI, the types of its messages.
  public var messages: [UInt32] = []
  /// Why it cannot be read.
  public var error: BitstreamError?
  /// Its syntax elements, where they are asked for.
  public var fields: [SyntaxField] = []
  /// Its first bytes, where they are asked for.
  public var bytes: [UInt8] = []
}

/// What a report says of a slice.
public struct SliceRecord: Sendable {
  /// How it is predicted: ASCII `I`, `P` or `B`.
  public var letter: UInt8
  /// `first_mb_in_slice` or `slice_segment_address`.
  public var first: UInt32
  /// `SliceQPY`; nil where the header does not say.
  public var quantizationParameter: Int?
  /// The PPS it names.
  public var pictureParameterSetID: UInt8
  /// `frame_num`; nil in H.265.
  public var frameNumber: UInt32?
}
