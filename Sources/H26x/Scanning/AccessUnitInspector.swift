// SPDX-License-Identifier: MPL-2.0

/// Inspects whole access units one by one, and keeps what the next one needs: parameter sets and the last field.
struct AccessUnitInspector<Codec: VideoCodecSyntax>: Sendable {
  typealias Info = AccessUnitInfo<Codec>

  /// The parameter sets so far, with in-band ones from ``inspect(_:packaging:depth:)``.
  var parameterSets: Codec.ParameterSets
  private var fields = FieldPairing<Codec>()

  /// Creates an inspector, with parameter sets from out of band if there are any.
  init(parameterSets: Codec.ParameterSets) { self.parameterSets = parameterSets }

  /// Forgets the picture before, as after a seek. Parameter sets are kept.
  mutating func reset() { fields = FieldPairing() }

  /// Inspects one access unit.
  ///
  /// - Parameters:
  ///   - bytes: the whole access unit.
  ///   - packaging: its packaging.
  ///   - depth: how far to read the first slice header.
  /// - Returns: what it holds. ``AccessUnitInfo/error`` reports damage.
  mutating func inspect(
    _ bytes: Span<UInt8>, packaging: NALPackaging, depth: SliceHeaderDepth
  ) -> Info {
    var info = Info()
    switch packaging {
    case .annexB:
      var units = AnnexB.NALUnits(bytes)
      while let unit = units.next() { visit(bytes, unit.range, depth, &info) }
    case .lengthPrefixed(let size):
      var units = LengthPrefixed.NALUnits(bytes, lengthSize: size)
      do throws(BitstreamError) {
        while let range = try units.next() { visit(bytes, range, depth, &info) }
      } catch {
        if info.error == nil { info.error = error }
      }
    }
    if let slice = info.slice { info.isSecondField = fields.isSecond(slice) }
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
        if info.sliceType == nil { info.sliceType = Codec.NALUnitType(headerByte: unit[0]) }
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
        if try parameterSets.insert(unit) != .unchanged { info.changesParameterSets = true }
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

  /// Reads a slice header; of other slices than the first only as far as pictures are told apart, unless the references
  /// are still missing.
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

  private func visitSEI(_ unit: Span<UInt8>, _ info: inout Info) throws(BitstreamError) {
    guard case .none = info.randomAccess else { return }
    var messages = SEIMessages(unit, headerLength: Codec.nalUnitHeaderLength)
    while let message = try messages.next() {
      if message.type == .recoveryPoint { info.randomAccess = .recoveryPoint(try Codec.RecoveryPoint(message)) }
    }
  }
}
