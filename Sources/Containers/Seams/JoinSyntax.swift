// SPDX-License-Identifier: MPL-2.0
import H26x

/// What a codec adds to its syntax for joined streams: parameter sets with other ids, one description for all, and how
/// a stream begins behind another.
protocol JoinSyntax: SeamSyntax {
  /// How many ids a kind of parameter set has.
  static func idCount(of kind: ParameterSetName.Kind) -> Int
  /// See `H264.name(ofParameterSet:)`.
  static func name(ofParameterSet nalUnit: Span<UInt8>) throws(BitstreamError) -> ParameterSetName
  /// See `H264.rewritten(parameterSet:_:)`.
  static func rewritten(
    parameterSet nalUnit: Span<UInt8>, _ identifiers: ParameterSetIdentifiers
  ) throws(BitstreamError) -> [UInt8]
  /// See `H264.rewritten(sei:_:of:)`.
  static func rewritten(
    sei nalUnit: Span<UInt8>, _ identifiers: ParameterSetIdentifiers, of sets: borrowing ParameterSets
  ) throws(BitstreamError) -> [UInt8]
  /// Returns a slice that refers to its parameter sets by their new ids.
  ///
  /// - Parameters:
  ///   - source: the sets with their old ids.
  ///   - target: the sets with their new ids.
  static func rewritten(
    slice nalUnit: Span<UInt8>, from source: ParameterSets, to target: ParameterSets,
    _ identifiers: ParameterSetIdentifiers
  ) throws(BitstreamError) -> [UInt8]
  /// Returns a configuration record for streams that follow one another: its profile, level and constraints cover all
  /// (ISO/IEC 14496-15, 5.3.3.1.2 and 8.3.3.1.3).
  ///
  /// - Parameters:
  ///   - records: of the streams, at least one.
  ///   - sets: the parameter sets of the record, in sending order.
  static func record(
    joining records: [ConfigurationRecord], _ sets: [[UInt8]]
  ) throws(BitstreamError) -> ConfigurationRecord
  /// Whether an IDR picture has the number of the IDR picture in front of it, and must have another.
  static func mustDiffer(_ slice: SliceHeader, from last: SliceHeader) -> Bool
  /// Returns the first slices of a stream so that no picture of the stream in front of it is lost.
  ///
  /// - Parameters:
  ///   - slice: of an IDR picture.
  ///   - sets: its parameter sets.
  ///   - last: the last slice in front of it if that is of an IDR picture; `nil` otherwise.
  static func beginning(
    _ slice: Span<UInt8>, _ sets: ParameterSets, behind last: SliceHeader?
  ) throws(BitstreamError) -> [UInt8]
}

extension H264: JoinSyntax {
  static func idCount(of kind: ParameterSetName.Kind) -> Int {
    switch kind {
    case .video: 0
    case .sequence: 32
    case .picture: 256
    }
  }

  static func rewritten(
    slice nalUnit: Span<UInt8>, from source: ParameterSets, to target: ParameterSets,
    _ identifiers: ParameterSetIdentifiers
  ) throws(BitstreamError) -> [UInt8] {
    try SliceRewriter(from: source, to: target, identifiers: identifiers).rewritten(nalUnit)
  }

  static func record(
    joining records: [DecoderConfigurationRecord], _ sets: [[UInt8]]
  ) throws(BitstreamError) -> DecoderConfigurationRecord {
    guard var record = records.first else {
      throw BitstreamError(.missingParameterSet, "sequenceParameterSetNALUnit", bitOffset: 0)
    }
    for other in records.dropFirst() {
      record.profile = Profile(
        idc: max(record.profile.idc, other.profile.idc),
        constraintFlags: record.profile.constraintFlags & other.profile.constraintFlags)
      record.levelIDC = max(record.levelIDC, other.levelIDC)
      record.high = record.high ?? other.high
    }
    if !record.profile.hasHighSyntax { record.high = nil }
    record.nalLengthSize = .four
    record.trailingBytes = []
    func those(of type: NALUnitType) -> [[UInt8]] {
      sets.filter { $0.first.map { NALUnitType(headerByte: $0) } == type }
    }
    record.sequenceParameterSets = those(of: .sequenceParameterSet)
    record.pictureParameterSets = those(of: .pictureParameterSet)
    record.high?.sequenceParameterSetExtensions = those(of: .sequenceParameterSetExtension)
    return record
  }

  /// Two IDR pictures in a row have different values of `idr_pic_id` (7.4.3).
  static func mustDiffer(_ slice: SliceHeader, from last: SliceHeader) -> Bool {
    slice.isIDR && last.isIDR && slice.idrPictureID == last.idrPictureID
  }

  static func beginning(
    _ slice: Span<UInt8>, _ sets: ParameterSets, behind last: SliceHeader?
  ) throws(BitstreamError) -> [UInt8] {
    try SliceRewriter(from: sets, to: sets).rewritten(slice) { values in
      guard values.isIDR else { return }
      // Encoders use small values.
      if let last, last.isIDR, last.idrPictureID == values.idrPictureID {
        values.idrPictureID = values.idrPictureID == .max ? .max - 1 : .max
      }
      if case .idr(_, let isLongTerm)? = values.references.marking {
        values.references.marking = .idr(noOutputOfPriorPictures: false, isLongTerm: isLongTerm)
      }
    }
  }
}

extension H265: JoinSyntax {
  static func idCount(of kind: ParameterSetName.Kind) -> Int { kind == .picture ? 64 : 16 }

  static func rewritten(
    slice nalUnit: Span<UInt8>, from source: ParameterSets, to target: ParameterSets,
    _ identifiers: ParameterSetIdentifiers
  ) throws(BitstreamError) -> [UInt8] {
    try SliceSegmentRewriter(from: source, identifiers: identifiers).rewritten(nalUnit)
  }

  static func record(
    joining records: [DecoderConfigurationRecord], _ sets: [[UInt8]]
  ) throws(BitstreamError) -> DecoderConfigurationRecord {
    guard var record = records.first else {
      throw BitstreamError(.missingParameterSet, "NAL_unit_type", bitOffset: 0)
    }
    for other in records.dropFirst() {
      record.profile.idc = max(record.profile.idc, other.profile.idc)
      record.profile.isHighTier = record.profile.isHighTier || other.profile.isHighTier
      record.profile.compatibilityFlags &= other.profile.compatibilityFlags
      record.profile.constraints.formIntersection(other.profile.constraints)
      record.levelIDC = max(record.levelIDC, other.levelIDC)
      record.minimumSpatialSegmentation = min(record.minimumSpatialSegmentation, other.minimumSpatialSegmentation)
      if record.parallelism != other.parallelism { record.parallelism = 0 }
      if record.averageFrameRate != other.averageFrameRate { record.averageFrameRate = 0 }
      if record.constantFrameRate != other.constantFrameRate { record.constantFrameRate = 0 }
      record.temporalLayerCount = max(record.temporalLayerCount, other.temporalLayerCount)
      record.hasNestedTemporalIDs = record.hasNestedTemporalIDs && other.hasNestedTemporalIDs
    }
    record.nalLengthSize = .four
    record.trailingBytes = []
    // Messages that all samples share.
    record.arrays.removeAll { $0.type.isParameterSet }
    let messages = record.arrays
    record.arrays = []
    add(sets, to: &record)
    record.arrays += messages
    return record
  }

  static func mustDiffer(_ slice: SliceHeader, from last: SliceHeader) -> Bool { false }

  static func beginning(
    _ slice: Span<UInt8>, _ sets: ParameterSets, behind last: SliceHeader?
  ) throws(BitstreamError) -> [UInt8] {
    try SliceSegmentRewriter(from: sets).rewritten(slice, .init(discardsPriorPictures: false))
  }
}
