// SPDX-License-Identifier: MPL-2.0
package import H26x

/// Rewrites the NAL units of any bytes: to the ids that they have, and to other ids and back.
///
/// A unit that can be rewritten comes back byte for byte. Errors are allowed. Not compared are
///
/// - slices with illegal bits between header and slice data, and a list modification without a step;
/// - slices whose parameter sets do not end as they should: these may have other values as soon as their bits move.
public enum RewrittenStream {
  private typealias Units = AnnexB.NALUnits

  // MARK: H.264

  /// Returns how the first unit of an H.264 byte stream differs; nil if none does.
  public static func defectOfH264(_ bytes: Span<UInt8>) -> String? {
    let identifiers = ParameterSetIdentifiers.reversed(lastPicture: 255, lastSequence: 31)
    var sets = (own: H264.ParameterSets(), other: H264.ParameterSets())
    var units = Units(bytes)
    while let place = units.next() {
      let unit = escaped(bytes.extracting(place.range), headerLength: 1)
      let type = H264.NALUnitType(headerByte: unit[0])
      if type.isParameterSet {
        guard let same = try? H264.rewritten(parameterSet: unit.span, .init()),
          let moved = try? H264.rewritten(parameterSet: unit.span, identifiers)
        else { continue }
        guard same == unit, (try? H264.rewritten(parameterSet: moved.span, identifiers)) == unit else {
          return "parameter set: \(unit)"
        }
        guard endsProperlyInH264(unit, type), (try? sets.own.insert(unit.span)) != nil else { continue }
        guard (try? sets.other.insert(moved.span)) != nil else { return "parameter set: unreadable: \(unit)" }
      } else {
        let there = H264.SliceRewriter(from: sets.own, to: sets.other, identifiers: identifiers)
        guard let moved = try? there.rewritten(unit.span) else { continue }
        let same = try? H264.SliceRewriter(from: sets.own, to: sets.own).rewritten(unit.span)
        let back = H264.SliceRewriter(from: sets.other, to: sets.own, identifiers: identifiers)
        guard same == (try? back.rewritten(moved.span)) else { return "slice: there and back: \(unit)" }
        guard same == unit || !isLegal(unit, sets.own) else { return "slice: \(unit)" }
      }
    }
    return nil
  }

  private static func endsProperlyInH264(_ unit: [UInt8], _ type: H264.NALUnitType) -> Bool {
    switch type {
    case .sequenceParameterSet: (try? H264.SequenceParameterSet(nalUnit: unit.span))?.hasProperEnd ?? false
    case .pictureParameterSet:
      (try? H264.PictureParameterSet(nalUnit: unit.span, chromaFormat: .yuv420))?.hasProperEnd ?? false
    default: true
    }
  }

  /// Whether every `cabac_alignment_one_bit` is 1, and no list modification is signaled without a step (7.4.3.1).
  private static func isLegal(_ unit: [UInt8], _ sets: H264.ParameterSets) -> Bool {
    let trace = SyntaxTrace()
    let whole = try? H264.WholeSliceHeader(nalUnit: unit.span, parameterSets: sets, trace: trace)
    let values = trace.elements.map { ("\($0.name)", $0.value) }
    let modifiesNothing = zip(values, values.dropFirst()).contains { flag, next in
      flag.0.hasPrefix("ref_pic_list_modification_flag") && next.0 == "modification_of_pic_nums_idc" && next.1 == 3
    }
    return whole?.endsWithOnes ?? true && !modifiesNothing
  }

  // MARK: H.265

  /// Returns how the first unit of an H.265 byte stream differs; nil if none does.
  public static func defectOfH265(_ bytes: Span<UInt8>) -> String? {
    let identifiers = ParameterSetIdentifiers.reversed(lastPicture: 63, lastSequence: 15)
    var sets = (own: H265.ParameterSets(), other: H265.ParameterSets())
    var units = Units(bytes)
    while let place = units.next() {
      let unit = escaped(bytes.extracting(place.range), headerLength: 2)
      let type = H265.NALUnitType(headerByte: unit[0])
      if type.isParameterSet {
        guard let same = try? H265.rewritten(parameterSet: unit.span, .init()),
          let moved = try? H265.rewritten(parameterSet: unit.span, identifiers)
        else { continue }
        guard same == unit, (try? H265.rewritten(parameterSet: moved.span, identifiers)) == unit else {
          return "parameter set: \(unit)"
        }
        guard endsProperlyInH265(unit, type), (try? sets.own.insert(unit.span)) != nil else { continue }
        guard (try? sets.other.insert(moved.span)) != nil else { return "parameter set: unreadable: \(unit)" }
      } else {
        let there = H265.SliceSegmentRewriter(from: sets.own, identifiers: identifiers)
        guard let moved = try? there.rewritten(unit.span) else { continue }
        let same = H265.SliceSegmentRewriter(from: sets.own)
        let back = H265.SliceSegmentRewriter(from: sets.other, identifiers: identifiers)
        let copy = try? same.rewritten(unit.span)
        guard copy == unit else { return "slice segment: \(unit)" }
        // The last bit that is set in front of slice data counts as the first one of byte_alignment().
        guard endsInZeros(unit, sets.own) else { continue }
        guard (try? back.rewritten(moved.span)) == unit else { return "slice segment: there and back: \(unit)" }
        guard type == .cra else { continue }
        let broken = try? same.rewritten(unit.span, .init(type: .blaWithLeading))
        guard let broken, (try? same.rewritten(broken.span, .init(type: .cra))) == copy else {
          return "slice segment: as BLA picture and back: \(unit)"
        }
      }
    }
    return nil
  }

  private static func endsProperlyInH265(_ unit: [UInt8], _ type: H265.NALUnitType) -> Bool {
    switch type {
    case .sequenceParameterSet: (try? H265.SequenceParameterSet(nalUnit: unit.span))?.hasProperEnd ?? false
    case .pictureParameterSet: (try? H265.PictureParameterSet(nalUnit: unit.span))?.hasProperEnd ?? false
    default: true
    }
  }

  /// Whether every `alignment_bit_equal_to_zero` of a slice segment is 0.
  private static func endsInZeros(_ unit: [UInt8], _ sets: H265.ParameterSets) -> Bool {
    let trace = SyntaxTrace()
    _ = try? H265.WholeSliceHeader(nalUnit: unit.span, parameterSets: sets, trace: trace)
    guard let last = trace.elements.last else { return true }
    var reader = BitReader(unit.span, from: H265.NALUnitHeader.byteCount)
    let next = last.bitOffset + 1
    guard (try? reader.skip(next - 8 * H265.NALUnitHeader.byteCount, "header")) != nil else { return true }
    return (try? reader.u(-next & 7, "alignment_bit_equal_to_zero")) ?? 0 == 0
  }

  // MARK: Shared

  /// The unit with the emulation prevention bytes that it needs, and no others.
  private static func escaped(_ unit: Span<UInt8>, headerLength: Int) -> [UInt8] {
    var output: [UInt8] = []
    var (zeros, zerosOfOutput) = (0, 0)
    for index in unit.indices {
      let byte = unit[index]
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      if zerosOfOutput >= 2, byte <= 3 {
        output.append(3)
        zerosOfOutput = 0
      }
      output.append(byte)
      zerosOfOutput = byte == 0 ? zerosOfOutput + 1 : 0
      // Emulation prevention begins behind the header.
      if index < headerLength { (zeros, zerosOfOutput) = (0, 0) }
    }
    if output.last == 0 { output.append(3) }
    return output
  }
}

extension ParameterSetIdentifiers {
  /// Exchanges the lowest with the highest id of a codec, and so on: the same again is the inverse.
  package static func reversed(lastPicture: UInt8, lastSequence: UInt8) -> Self {
    var identifiers = Self()
    for id in 0...lastPicture { identifiers[PictureParameterSetID(id)] = .init(lastPicture - id) }
    for id in 0...lastSequence {
      identifiers[SequenceParameterSetID(id)] = .init(lastSequence - id)
      identifiers[VideoParameterSetID(id)] = .init(lastSequence - id)
    }
    return identifiers
  }
}
