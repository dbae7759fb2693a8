// SPDX-License-Identifier: MPL-2.0

/// A codec whose streams ``StreamEditor`` can edit.
public protocol StreamEditing: VideoCodecSyntax {
  /// Applies edits to a parameter set.
  ///
  /// - Parameters:
  ///   - nalUnit: the parameter set, header included. Sets that no edit concerns, such as PPS, are unchanged.
  ///   - sets: the parameter sets of the stream, before any edit.
  /// - Throws: the refusal of an edit.
  static func edited(
    parameterSet nalUnit: Span<UInt8>, _ edits: [StreamEdit], sets: borrowing ParameterSets
  ) throws(StreamEditError) -> EditedParameterSet
  /// Applies edits to the NAL units of a configuration record, and makes its own fields agree with them.
  ///
  /// - Parameters:
  ///   - record: the record.
  ///   - edited: edits a NAL unit; nil where it stays as it is.
  /// - Throws: what `edited` throws; `.lengthNotRepresentable` for one of more than 65,535 bytes.
  static func edited(
    _ record: ConfigurationRecord, with edited: ([UInt8]) throws(StreamEditError) -> [UInt8]?
  ) throws(StreamEditError) -> ConfigurationRecord
}

/// What has become of a parameter set.
public enum EditedParameterSet: Sendable {
  /// It stays as it is.
  case unchanged
  /// It is replaced by a NAL unit, header and emulation prevention bytes included.
  case replaced([UInt8], changes: [FieldChange])
  /// It cannot be read, and stays as it is.
  case unreadable(BitstreamError)
}
