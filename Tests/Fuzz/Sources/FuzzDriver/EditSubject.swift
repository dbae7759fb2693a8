// SPDX-License-Identifier: MPL-2.0
public import H26x

/// Edits a stream. The input decides the edits, the packaging and the stream.
///
/// A finding is a trap, a byte outside parameter sets that has changed, an edit that is not the same when it is made
/// twice, or an empty edit that changes something.
public enum EditSubject<Codec: StreamEditing> {
  /// Runs with one input.
  public static func run(_ input: Span<UInt8>) {
    var choices = Choices(input)
    let stream = [UInt8](choices.data, 0..<choices.data.count)
    let packaging = Self.packaging(choices.below(4))
    var edits: [StreamEdit] = []
    for _ in 0...choices.below(4) { edits.append(Self.edit(choices.below(12), choices.byte())) }
    var nothing = StreamEditor<Codec>([])
    require(
      (try? nothing.edit(stream.span, packaging: packaging)) == .some(nil), "edit: an empty edit changes something")

    var editor = StreamEditor<Codec>(edits)
    guard let result = try? editor.edit(stream.span, packaging: packaging) else { return }
    guard let edited = result else { return }
    let (before, after) = (nalUnits(stream, packaging), nalUnits(edited, packaging))
    require(before == after, "edit: NAL units that are no parameter sets have changed")
    var again = StreamEditor<Codec>(edits)
    require((try? again.edit(edited.span, packaging: packaging)) == .some(nil), "edit: the second time differs")
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
    default: .crop(CropMargins(left: UInt32(value & 3), right: UInt32(value >> 4), top: UInt32(value & 12)))
    }
  }

  /// The NAL units, parameter sets cut down to their types.
  private static func nalUnits(_ stream: [UInt8], _ packaging: NALPackaging) -> [[UInt8]] {
    var result: [[UInt8]] = []
    func take(_ range: Range<Int>) {
      let nalUnit = [UInt8](stream[range])
      let isEditable = Codec.NALUnitType(headerByte: nalUnit[0]).isParameterSet
      result.append(isEditable ? [nalUnit[0]] : nalUnit)
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
