// SPDX-License-Identifier: MPL-2.0
package import H26x

/// The properties of an access unit that matter to a copy.
package struct AccessUnitRole {
  /// Whether decoding can begin with an access unit: it and all pictures that are shown behind it are right then.
  package enum Start {
    case none
    /// No later picture refers to pictures in front of it.
    case closed
    /// Leading pictures may refer to them.
    case open
  }

  package var start = Start.none
  /// An IRAP picture of H.265, which can begin a coded video sequence without its leading pictures that need others.
  package var isIRAP = false
  /// A leading picture of H.265, to which no other than a leading picture refers.
  var isLeading = false
  /// A leading picture that needs pictures in front of its random access point (RASL).
  var isSkippedLeading = false
  /// A leading picture that needs none of them (RADL).
  var isDecodableLeading: Bool { isLeading && !isSkippedLeading }
  /// Other pictures may refer to it.
  var isReference = true
  /// All slices are I or SI slices.
  package var isIntra = false
  /// The stream marks it as a random access point, exact or not.
  var isRandomAccess = false
  /// A recovery point behind which pictures are right only later (gradual refresh), or only approximately.
  var isGradual = false
  /// It completes a frame: that of the access unit before, or that of another if its fields pair in the order of
  /// presentation.
  var isSecondField = false
  /// A field of a stream whose fields pair in the order of presentation (H.265). ``FieldPairs`` finds its frame.
  var isPresentedField = false
  /// That field; `nil` if it is not sent.
  var presentedField: PresentedField?
  /// When the frame is presented that it completes, in nanoseconds of the media. Set by ``FieldPairs``.
  var frameStart: Int64?
  /// An intra picture of H.264 that does not promise that decoding can begin with it. It may be so all the same.
  var mayBeEntry = false
  /// It was chosen as an entry without a promise, so the copy must be verified. Set by ``Window/Exact``.
  var isUnproven = false
  /// An entry with which a range behind another can begin: not a recovery point that cannot become an IDR picture. Set by
  /// ``CopyWriter``, as far as that matters.
  var canBeginAnew = true
  /// The parameter sets up to here, of an access unit with which decoding can begin, or may.
  var parameterSets: [[UInt8]] = []

  /// Decoders begin here, by the parser's rule for the first pictures of a stream.
  var isKeyframe: Bool { isRandomAccess || isIntra && !isSecondField }
}

/// Reads the roles of access units, in decoding order.
package protocol AccessUnitRoleReading {
  mutating func role(of accessUnit: [UInt8]) -> AccessUnitRole
  /// The parameter sets up to an access unit, including its own.
  mutating func parameterSets(upTo accessUnit: [UInt8]) -> [[UInt8]]
  /// The access unit with the parameter sets that it lacks, behind its delimiter.
  func completed(_ accessUnit: [UInt8], with parameterSets: [[UInt8]]) -> [UInt8]
}

extension MediaOutput.VideoFormat {
  /// - Parameter hasStartCodes: whether access units have start codes, not length prefixes.
  func roleReader(hasStartCodes: Bool) -> any AccessUnitRoleReading {
    codec.roleReader(configuration, hasStartCodes: hasStartCodes)
  }
}

extension FormatDescription.Codec {
  /// Reads the roles of access units.
  ///
  /// - Parameters:
  ///   - configuration: a configuration record; empty for a stream that has its parameter sets in-band.
  ///   - hasStartCodes: whether access units have start codes, not length prefixes.
  package func roleReader(_ configuration: [UInt8], hasStartCodes: Bool) -> any AccessUnitRoleReading {
    switch self {
    case .h264: AccessUnitRoleReader<H264>(configuration, hasStartCodes: hasStartCodes)
    case .h265: AccessUnitRoleReader<H265>(configuration, hasStartCodes: hasStartCodes)
    }
  }
}

private struct AccessUnitRoleReader<Codec: ElementCodecSyntax>: AccessUnitRoleReading {
  private let packaging: NALPackaging
  private var isIntraOnly: Bool
  private var inspector: Codec.Inspector

  /// - Parameter configuration: a record; empty for a stream that has its parameter sets in-band.
  init(_ configuration: [UInt8], hasStartCodes: Bool) {
    inspector = Codec.Inspector(parameterSets: Codec.ParameterSets())
    var packaging = NALPackaging.lengthPrefixed(.four)
    do throws(BitstreamError) {
      let record = try Codec.ConfigurationRecord(configuration.span)
      packaging = .lengthPrefixed(record.nalLengthSize)
      inspector.insert(record.nalUnits)
    } catch {
      // The parameter sets are in-band.
    }
    self.packaging = hasStartCodes ? .annexB : packaging
    isIntraOnly = Self.isIntraOnly(inspector.parameterSets)
  }

  private static func isIntraOnly(_ sets: Codec.ParameterSets) -> Bool {
    do throws(BitstreamError) {
      return try Codec.formatDescription(sets, sequenceParameterSetID: nil, nalLengthSize: nil).isIntraOnly
    } catch { return false }
  }

  mutating func role(of accessUnit: [UInt8]) -> AccessUnitRole {
    let info = inspector.inspect(accessUnit.span, packaging: packaging)
    if info.changesParameterSets { isIntraOnly = Self.isIntraOnly(inspector.parameterSets) }
    var role = AccessUnitRole()
    var isRefresh = false
    switch info.randomAccess {
    case .idr: role.start = .closed
    case .irap: (role.start, role.isIRAP) = (.open, true)
    case .recoveryPoint(let point):
      // Some encoders add the message to pictures that refer to others.
      let isIntra = info.slice?.prediction == .intra
      if point.distance == 0, point.isExactMatch, isIntra { role.start = .open }
      role.isGradual = point.distance != 0 || !point.isExactMatch
      isRefresh = point.distance != 0
    // An intra picture promises nothing about the pictures that follow it.
    case .none: if isIntraOnly, info.hasPicture { role.start = .closed }
    }
    if let slice = info.slice, let sps = inspector.parameterSets.sequenceParameterSet(slice.sequenceParameterSetID),
      sps.picturesPerFrame == 2
    {
      role.isPresentedField = true
      role.presentedField = Codec.presentedField(accessUnit.span, info.seiRanges, sps)
    }
    role.isSecondField = info.isSecondField && !role.isPresentedField
    if role.isSecondField { role.start = .none }
    role.isRandomAccess = info.randomAccess != .none
    role.isLeading = (info.sliceType as? H265.NALUnitType)?.isLeading ?? false
    role.isSkippedLeading = info.sliceType?.isSkippedLeading ?? false
    role.isReference = info.slice?.isReference ?? true
    role.isIntra = info.isIntra
    role.mayBeEntry =
      role.start == .none && role.isIntra && role.isReference && !role.isSecondField && !isRefresh
      && info.sliceType is H264.NALUnitType
    if role.start != .none || role.mayBeEntry { role.parameterSets = inspector.parameterSets.nalUnits }
    return role
  }

  mutating func parameterSets(upTo accessUnit: [UInt8]) -> [[UInt8]] {
    _ = inspector.inspect(accessUnit.span, packaging: packaging)
    return inspector.parameterSets.nalUnits
  }

  func completed(_ accessUnit: [UInt8], with parameterSets: [[UInt8]]) -> [UInt8] {
    let ranges = packaging.nalUnits(of: accessUnit.span)
    let missing = parameterSets.filter { set in !ranges.contains { accessUnit[$0].elementsEqual(set) } }
    guard !missing.isEmpty else { return accessUnit }
    let isDelimited =
      ranges.first.map { range in
        !range.isEmpty && Codec.NALUnitType(headerByte: accessUnit[range.lowerBound]) == .accessUnitDelimiter
      } ?? false
    let place = isDelimited ? ranges[0].upperBound : 0
    var bytes = Array(accessUnit[..<place])
    do throws(BitstreamError) {
      for set in missing { try packaging.append(set.span, to: &bytes) }
    } catch { return accessUnit }
    return bytes + accessUnit[place...]
  }
}

extension MediaOutput {
  /// The use of an access unit in a copy.
  enum Disposition: Sendable {
    /// It is written as it is, and shown.
    case copied
    /// It is decoded, and an encoded picture is written instead.
    case encoded
    /// It is only decoded, because an encoded picture may refer to it.
    case needed
    /// It is written as it is, but not shown.
    case hidden
  }

  /// An access unit.
  struct AccessUnit {
    var bytes: [UInt8]
    /// In nanoseconds.
    var presentation: Int64
    var decoding: Int64
    /// In nanoseconds; 0 if it is not known.
    var duration: Int64
    /// Decoders begin here: a random access point, or a picture of I slices in a stream that signals none. That is the
    /// parser's rule.
    var isKeyframe: Bool
    /// Set by ``CopyWriter``.
    var role = AccessUnitRole()
    /// Set by ``Window``.
    var disposition = Disposition.copied
    /// The number of its format in ``CopyFormat``.
    var format = 0
    /// Whether it is an IDR picture of H.264 with another `idr_pic_id` than in the source, which the next one may have.
    var isRenumbered = false

    /// Decoding can begin here: the access unit is a sync sample (ISO/IEC 14496-12, 8.6.2).
    var isSync: Bool { role.start != .none }

    /// When its frame is presented: when the first field is, of two.
    var frameStart: Int64 { role.frameStart ?? presentation }
  }
}
