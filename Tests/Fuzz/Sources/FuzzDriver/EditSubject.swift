// SPDX-License-Identifier: MPL-2.0
public import H26x

/// Edits a stream. The input decides the edits, the packaging and the stream.
///
/// Traps and changed bytes outside parameter sets, SEI and Dolby Vision are findings. So are edits that differ when they
/// are made twice, and empty edits that change something.
public enum EditSubject<Codec: StreamEditing> {
  /// Runs with one input.
  public static func run(_ input: Span<UInt8>) {
    var choices = Choices(input)
    let stream = [UInt8](choices.data, 0..<choices.data.count)
    let packaging = Self.packaging(choices.below(4))
    var edits: [StreamEdit] = []
    for _ in 0...choices.below(4) { edits.append(Self.edit(choices.below(26), choices.byte())) }
    require(outcome([], stream, packaging) == .unchanged, "edit: an empty edit changes something")
    guard case .edited(let edited) = outcome(edits, stream, packaging) else { return }
    require(
      nalUnits(stream, packaging) == nalUnits(edited, packaging),
      "edit: NAL units that are neither parameter sets, SEI nor Dolby Vision have changed")
    // Others undo what one before them has done, or add something each time.
    guard edits.allSatisfy(\.isOfDisplay) else { return }
    require(outcome(edits, edited, packaging) == .unchanged, "edit: the second time differs")
  }

  private enum Outcome: Equatable {
    case unchanged
    case refused
    case edited([UInt8])
  }

  private static func outcome(_ edits: [StreamEdit], _ stream: [UInt8], _ packaging: NALPackaging) -> Outcome {
    var editor = StreamEditor<Codec>(edits)
    do throws(StreamEditError) {
      return try editor.edit(stream.span, packaging: packaging).map { .edited($0) } ?? .unchanged
    } catch {
      return .refused
    }
  }

  private static func packaging(_ choice: Int) -> NALPackaging {
    switch choice {
    case 0: .lengthPrefixed(.four)
    case 1: .lengthPrefixed(.two)
    default: .annexB
    }
  }

  private static func edit(_ choice: Int, _ value: UInt8) -> StreamEdit {
    switch choice {
    case 0: .colour(ColourDescription(primaries: value & 15, transfer: value >> 4, matrix: value & 7))
    case 1: .colour(nil)
    case 2: .primaries(value)
    case 3: .matrix(value & 15)
    case 4: .fullRange(value & 1 != 0)
    case 5: .videoFormat(value & 7)
    case 6: .removeVideoSignal
    case 7: .chromaLocation(value == 0 ? nil : ChromaLocation(topField: value & 7, bottomField: value >> 5))
    case 8: .sampleAspectRatio(Ratio(UInt32(value), 11))
    case 9: .overscanAppropriate(value == 0 ? nil : value & 1 != 0)
    case 10: .frameRate(Ratio(UInt32(value), 1))
    case 11: .crop(CropMargins(left: UInt32(value & 3), right: UInt32(value >> 4), top: UInt32(value & 12)))
    case 12: .level(value == 11 ? .level1b : StreamLevel(tenths: value & 63))
    case 13: .highTier(value & 1 != 0)
    case 14: .constraintSet(Int(value & 7), value & 8 != 0)
    case 15: .reordering(value & 7, buffer: value >> 7 == 0 ? nil : value >> 3 & 15)
    case 16: .removeHRD
    case 17: .removeSEI(SEIPayloadType(rawValue: UInt32(value)))
    case 18: value & 1 == 0 ? .insertDelimiters : .removeDelimiters
    case 19: .compatibleProfile(value & 63, value >> 7 != 0)
    case 20: .sourceConstraint(H265.SourceConstraint.allCases[Int(value & 3)], value >> 7 != 0)
    case 21: .clockTimestamps([value & 1 == 0 ? nil : timestamp(value)], accessUnit: Int(value >> 6))
    case 22: .removeLayers
    case 23: .removeMetadata(RemovableMetadata.allCases[Int(value & 3)], isForced: value >> 7 != 0)
    case 24: .convertDolbyVision
    default: .insertSEI(SEIInsertion(.contentLightLevel, payload: [0, 0, 0, value], at: .keyframes))
    }
  }

  private static func timestamp(_ value: UInt8) -> ClockTimestamp {
    var timestamp = ClockTimestamp()
    (timestamp.frames, timestamp.seconds) = (UInt16(value), value & 63)
    return timestamp
  }

  /// The NAL units of the base layer without SEI, delimiters and Dolby Vision, and parameter sets cut down to their
  /// types.
  private static func nalUnits(_ stream: [UInt8], _ packaging: NALPackaging) -> [[UInt8]] {
    var result: [[UInt8]] = []
    func take(_ range: Range<Int>) {
      let nalUnit = [UInt8](stream[range])
      let type = Codec.NALUnitType(headerByte: nalUnit[0])
      guard !type.isSEI, type != .accessUnitDelimiter, type != .dolbyVisionRPU, type != .dolbyVisionEnhancementLayer,
        !Codec.isOfEnhancementLayer(nalUnit.span)
      else { return }
      result.append(type.isParameterSet ? [nalUnit[0]] : nalUnit)
    }
    switch packaging {
    case .annexB:
      var units = AnnexB.NALUnits(stream.span)
      while let unit = units.next() { take(unit.range) }
    case .lengthPrefixed(let size):
      var units = LengthPrefixed.NALUnits(stream.span, lengthSize: size)
      while let range = try? units.next() { take(range) }
    }
    return result
  }
}

extension StreamEdit {
  fileprivate var isOfDisplay: Bool {
    switch self {
    case .level, .highTier, .constraintSet, .compatibleProfile, .sourceConstraint, .reordering, .removeHRD,
      .removeLayers, .insertDelimiters, .removeDelimiters, .removeSEI, .keepSEI, .insertSEI, .clockTimestamps,
      .convertDolbyVision:
      false
    default: true
    }
  }
}
