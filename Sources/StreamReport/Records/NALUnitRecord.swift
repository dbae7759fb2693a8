// SPDX-License-Identifier: MPL-2.0
public import H26x

/// A NAL unit in a report.
public struct NALUnitRecord: Sendable {
  /// The offset of its header in the file, in bytes.
  public var offset: UInt64 = 0
  /// Bytes of its start code or length prefix.
  public var prefix = 0
  /// Bytes beginning with its header, without start code or length prefix and without trailing zeros.
  public var size = 0
  /// `nal_unit_type`.
  public var type: UInt8 = 0
  /// A short name of the type.
  public var name: StaticString = ""
  /// Whether it is a VCL NAL unit (Table 7-1).
  public var isVCL = false
  /// `nal_ref_idc`; nil in H.265.
  public var referenceIDC: UInt8?
  /// `nuh_layer_id`; nil in H.264.
  public var layerID: UInt8?
  /// `TemporalId`; nil in H.264.
  public var temporalID: UInt8?
  /// The id of a parameter set; nil for another NAL unit, and when it cannot be read.
  public var parameterSetID: UInt8?
  /// Its slice header; nil if it is no slice, or its header cannot be read.
  public var slice: SliceRecord?
  /// `payloadType` of its SEI messages, 64 at most.
  public var messages: [UInt32] = []
  /// The reason that it cannot be read; nil without an error.
  public var error: BitstreamError?
  /// Its syntax elements, with ``ReportOptions/includesFields``.
  public var fields: [SyntaxField] = []
  /// Its first bytes, with ``ReportOptions/byteCount``; all bytes in a ``ParameterSetRecord``.
  public var bytes: [UInt8] = []
}

/// A slice or slice segment in a report.
public struct SliceRecord: Sendable {
  /// Its type: ASCII `I`, `P` or `B`.
  public var letter: UInt8
  /// `first_mb_in_slice` or `slice_segment_address`.
  public var first: UInt32
  /// `SliceQPY`; nil for a header without `slice_qp_delta`.
  public var quantizationParameter: Int?
  /// The id of the PPS that it refers to.
  public var pictureParameterSetID: PictureParameterSetID
  /// `frame_num`; nil in H.265.
  public var frameNumber: UInt32?
}

/// The contents of a report.
public struct ReportOptions: Sendable {
  /// Whether each NAL unit has its syntax elements. A ``ParameterSetRecord`` always has them.
  public var includesFields = false
  /// How many of its first bytes each NAL unit has. A ``ParameterSetRecord`` always has all.
  public var byteCount = 0

  /// Whether the payload of slices in MP4 is read, to find missing emulation prevention bytes in it. Without it only
  /// their first bytes, which hold the header, and the last are read. Other streams are always read whole.
  public var readsPayload = true

  /// Whether slice data are read to their last bit, to find damage in them. Implies ``readsPayload``, and takes about as
  /// long as decoding on one thread.
  public var readsSliceData = false

  /// The access units whose slices are read to their end and counted, by index; nil for none.
  public var countedAccessUnits: ClosedRange<UInt64>?
  /// Whether the blocks of these access units are listed. A picture of level 6.2 has 139,264.
  public var listsBlocks = false
  /// Whether SEI NAL units and RPUs of Dolby Vision have all their bytes, as far as 64 KiB.
  package var keepsMetadata = false
  /// Threads that read slice data; nil for the caller's alone. The report is the same, but items come later.
  package var sliceThreads: SliceThreads?

  /// Creates options for neither fields, bytes nor slice data.
  public init() {}
}
