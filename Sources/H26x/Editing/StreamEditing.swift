// SPDX-License-Identifier: MPL-2.0

/// A codec whose streams ``StreamEditor`` can edit.
public protocol StreamEditing: VideoCodecSyntax {
  /// Applies edits to a parameter set.
  ///
  /// - Parameters:
  ///   - nalUnit: the parameter set, header included. Sets that no edit concerns, such as PPS, are unchanged.
  ///   - sets: the parameter sets of the stream, before any edit.
  ///   - edits: the changes, in the order to apply them.
  /// - Throws: the refusal of an edit.
  static func edited(
    parameterSet nalUnit: Span<UInt8>, _ edits: [StreamEdit], sets: borrowing ParameterSets
  ) throws(StreamEditError) -> EditedParameterSet
  /// Applies edits to the NAL units of a configuration record, and makes its own fields agree with them.
  ///
  /// - Parameters:
  ///   - record: the record.
  ///   - edited: edits a NAL unit; nil if it stays as it is, and an empty one if it must be left out.
  /// - Throws: the errors of `edited`; `.lengthNotRepresentable` for one of more than 65,535 bytes.
  static func edited(
    _ record: ConfigurationRecord, with edited: ([UInt8]) throws(StreamEditError) -> [UInt8]?
  ) throws(StreamEditError) -> ConfigurationRecord
  /// Returns the edit of an SEI message that the removal of the HRD parameters requires.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - sps: the SPS of its picture, before the edits; nil if that is not known.
  static func withoutHRD(_ message: borrowing SEIMessages.Message, sps: SequenceParameterSet?) -> EditedSEIMessage
  /// Replaces the clock timestamps of picture timing, which H.264 has in it.
  ///
  /// - Parameters:
  ///   - timestamps: nil if `clock_timestamp_flag` is 0; those that are missing at the end are, too.
  ///   - message: the picture timing.
  ///   - sps: the SPS of its picture, before the edits; nil if that is not known.
  /// - Throws: the refusal, if the picture or the syntax has no room for them.
  static func replacing(
    clockTimestamps timestamps: [ClockTimestamp?], in message: borrowing SEIMessages.Message,
    sps: SequenceParameterSet?
  ) throws(StreamEditError) -> EditedSEIMessage
  /// Reads an SEI message whose syntax only this codec has. Other messages are not read.
  ///
  /// - Throws: the fault in the message.
  static func checkSEI(_ message: borrowing SEIMessages.Message) throws(BitstreamError)
  /// The levels of Annex A, the lowest first.
  static var levels: [StreamLevel] { get }
  /// Whether pictures with an SPS stay within the limits of its level.
  static func keeps(_ sps: SequenceParameterSet, _ demand: LevelDemand) -> Bool
  /// The header of an SEI NAL unit for the picture of a slice.
  static func seiHeader(forPictureOf slice: Span<UInt8>) -> [UInt8]
  /// Whether a NAL unit belongs to the slice behind it.
  static func isPrefix(_ nalUnit: Span<UInt8>) -> Bool
  /// The slice types that an access unit delimiter allows, a bit for each `slice_type`, by `primary_pic_type` or
  /// `pic_type`.
  static var delimiterTypes: [UInt8] { get }
  /// The bit of a slice's `slice_type`: none if it is inherited or the slice is redundant, all if it cannot be read.
  static func sliceTypes(of slice: Span<UInt8>, _ sets: borrowing ParameterSets) -> UInt8
  /// Whether a NAL unit is of a layer or view above the base layer.
  static func isOfEnhancementLayer(_ nalUnit: Span<UInt8>) -> Bool
}

/// The result of editing a parameter set.
public enum EditedParameterSet: Sendable {
  /// It stays as it is.
  case unchanged
  /// It is replaced by a NAL unit, header and emulation prevention bytes included.
  case replaced([UInt8], changes: [FieldChange])
  /// It cannot be read, and stays as it is.
  case unreadable(BitstreamError)
}
