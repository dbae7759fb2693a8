// SPDX-License-Identifier: MPL-2.0

/// Inspects whole access units one by one, and keeps the state that the next one needs: parameter sets and the last
/// field.
public protocol AccessUnitInspecting: Sendable {
  /// The codec of the stream.
  associatedtype Codec: VideoCodecSyntax

  /// Creates an inspector, with parameter sets from out of band if there are any.
  init(parameterSets: Codec.ParameterSets)
  /// The parameter sets received so far, including in-band sets.
  var parameterSets: Codec.ParameterSets { get set }
  /// Takes parameter sets from out of band; unreadable sets are ignored.
  mutating func insert(_ nalUnits: [[UInt8]])
  /// Forgets the picture before, as after a seek. Parameter sets are kept.
  mutating func reset()
  /// Inspects one access unit.
  ///
  /// - Parameters:
  ///   - bytes: the whole access unit.
  ///   - packaging: its packaging.
  ///   - depth: how far to read the first slice header.
  /// - Returns: its contents. ``AccessUnitInfo/error`` reports damage.
  mutating func inspect(_ bytes: Span<UInt8>, packaging: NALPackaging, depth: SliceHeaderDepth) -> AccessUnitInfo<Codec>
}

extension AccessUnitInspecting {
  /// Inspects one access unit, reading the slice header at depth ``SliceHeaderDepth/pictureIdentity``.
  public mutating func inspect(_ bytes: Span<UInt8>, packaging: NALPackaging) -> AccessUnitInfo<Codec> {
    inspect(bytes, packaging: packaging, depth: .pictureIdentity)
  }
}

/// Inspects whole access units one by one, and keeps the state that the next one needs: parameter sets, the last
/// field, the format.
struct AccessUnitInspector<Codec: VideoCodecSyntax>: Sendable {
  typealias Info = AccessUnitInfo<Codec>

  /// The parameter sets so far, with in-band ones from ``inspect(_:packaging:depth:)``.
  private(set) var parameterSets: Codec.ParameterSets
  /// How often they have changed.
  private var parameterSetChanges: UInt64 = 0
  private var fields = FieldPairing<Codec>()
  /// Nil if the format is not needed.
  private var formats: FormatTracker<Codec>?

  /// Creates an inspector, with parameter sets from out of band if there are any.
  init(parameterSets: Codec.ParameterSets) { self.parameterSets = parameterSets }

  /// Creates an inspector that follows the stream's format, too.
  init(nalLengthSize: NALLengthSize?) {
    parameterSets = Codec.ParameterSets()
    formats = FormatTracker(nalLengthSize: nalLengthSize)
  }

  /// The format of the last access unit; nil until a slice came with its parameter sets.
  var format: FormatDescription? { formats?.format }
  /// Whether the active SPS has a VUI.
  var hasVUI: Bool { formats?.activeID.flatMap { parameterSets.sequenceParameterSet($0) }?.hasVUI ?? false }

  /// Takes parameter sets from out of band; unreadable sets are ignored.
  mutating func insert(_ nalUnits: [[UInt8]]) {
    for nalUnit in nalUnits {
      do throws(BitstreamError) {
        _ = try insert(nalUnit.span)
      } catch {
        // The set with this id, if there is one, stays.
      }
    }
    formats?.describeFirst(of: parameterSets)
  }

  /// Continues with other parameter sets.
  mutating func replaceParameterSets(_ sets: Codec.ParameterSets) {
    parameterSets = sets
    parameterSetChanges += 1
    formats?.parameterSetsChanged()
  }

  /// Returns whether a parameter set is new. An unreadable one leaves that with its id as it was.
  private mutating func insert(_ nalUnit: Span<UInt8>) throws(BitstreamError) -> Bool {
    guard try parameterSets.insert(nalUnit) != .unchanged else { return false }
    parameterSetChanges += 1
    formats?.parameterSetsChanged()
    return true
  }

  /// Forgets the picture before, as after a seek. Parameter sets are kept.
  mutating func reset() { fields = FieldPairing() }

  /// Inspects one access unit.
  ///
  /// - Parameters:
  ///   - bytes: the whole access unit.
  ///   - packaging: its packaging.
  ///   - depth: how far to read the first slice header.
  /// - Returns: its contents. ``AccessUnitInfo/error`` reports damage.
  mutating func inspect(
    _ bytes: Span<UInt8>, packaging: NALPackaging, depth: SliceHeaderDepth
  ) -> Info {
    var info = Info()
    let badLength = packaging.forEachNALUnit(of: bytes) { visit(bytes, $0, depth, &info) }
    info.error = info.error ?? badLength
    if let slice = info.slice { info.isSecondField = fields.isSecond(slice) }
    info.parameterSetGeneration = parameterSetChanges
    return info
  }

  private mutating func visit(
    _ bytes: Span<UInt8>, _ range: Range<Int>, _ depth: SliceHeaderDepth, _ info: inout Info
  ) {
    let unit = bytes.extracting(range)
    info.nalUnitCount += 1
    do throws(BitstreamError) {
      switch Codec.role(of: unit) {
      case .slice:
        info.hasPicture = true
        let isFirst = info.sliceType == nil
        if isFirst { info.sliceType = Codec.NALUnitType(headerByte: unit[0]) }
        defer { if isFirst { followFormat(unit, &info) } }
        try visitSlice(unit, depth, &info)
      case .slicePart:
        // An auxiliary picture alone is no picture.
        if Codec.NALUnitType(headerByte: unit[0]).isVCL { info.hasPicture = true }
      case .sei:
        info.seiRanges.append(range)
        try visitSEI(unit, &info)
      case .suffixSEI:
        info.seiRanges.append(range)
      case .videoParameterSet, .sequenceParameterSet, .sequenceParameterSetExtension, .pictureParameterSet:
        info.hasParameterSets = true
        if try insert(unit) { info.changesParameterSets = true }
      case .end:
        info.endsSequence = true
        if info.sliceType == nil {
          info.endsSequenceBeforePicture = true
        } else {
          info.endsSequenceBehindPicture = true
        }
      case .layerSlice, .accessUnitDelimiter, .filler, .outsideStandard, .other:
        break
      }
    } catch {
      if info.error == nil { info.error = error }
    }
  }

  private func visitSlice(
    _ unit: Span<UInt8>, _ depth: SliceHeaderDepth, _ info: inout Info
  ) throws(BitstreamError) {
    let type = Codec.NALUnitType(headerByte: unit[0])
    if type.isRandomAccessPoint { info.randomAccess = type.isIDR ? .idr : .irap }
    let slice: Codec.SliceHeader
    do throws(BitstreamError) {
      slice = try header(unit, depth, &info)
    } catch {
      info.slices.takeUnreadable()
      throw error
    }
    guard !slice.isRedundant else { return }
    info.slices.take(
      address: Codec.decodingAddress(of: slice, parameterSets: parameterSets),
      isFirstInPicture: slice.isFirstInPicture)
    if info.slice == nil {
      info.slice = slice
      info.isIntra = slice.prediction == .intra
    } else if let prediction = slice.prediction, prediction != .intra {
      info.isIntra = false
    }
  }

  /// Reads a slice header; of other slices than the first only as far as pictures are distinguished, unless the
  /// references are still missing.
  private func header(
    _ unit: Span<UInt8>, _ depth: SliceHeaderDepth, _ info: inout Info
  ) throws(BitstreamError) -> Codec.SliceHeader {
    if Codec.SliceHeader.sendsReferences, depth == .referenceMarking, info.references == nil {
      let (slice, references) = try Codec.SliceHeader.withReferences(nalUnit: unit, parameterSets: parameterSets)
      info.references = references.map { (slice, $0) }
      return slice
    }
    return try Codec.SliceHeader(
      nalUnit: unit, parameterSets: parameterSets, depth: info.slice == nil ? depth : .pictureIdentity)
  }

  /// Finds the format of the first slice, which may be readable only as far as its parameter sets.
  private mutating func followFormat(_ unit: Span<UInt8>, _ info: inout Info) {
    guard formats != nil else { return }
    do throws(BitstreamError) {
      let slice: Codec.SliceHeader
      if let first = info.slice {
        slice = first
      } else {
        slice = try Codec.SliceHeader(nalUnit: unit, parameterSets: parameterSets, depth: .pictureIdentity)
      }
      if formats?.take(slice, parameterSets) == true { info.formatChanged = true }
    } catch {
      // The format of the access unit before stays.
    }
  }

  private func visitSEI(_ unit: Span<UInt8>, _ info: inout Info) throws(BitstreamError) {
    guard case .none = info.randomAccess else { return }
    var messages = SEIMessages(unit, headerLength: Codec.nalUnitHeaderLength)
    while let message = try messages.next() {
      if message.type == .recoveryPoint { info.randomAccess = .recoveryPoint(try Codec.RecoveryPoint(message)) }
    }
  }
}
