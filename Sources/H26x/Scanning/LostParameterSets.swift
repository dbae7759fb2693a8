// SPDX-License-Identifier: MPL-2.0

/// The SPSs and PPSs whose last version in the stream is lost, because it cannot be read. Slices that refer to them are
/// decoded with the version before. That may give wrong pictures without any error: scaling lists, for example, change
/// no code of the slices.
///
/// A set that is cut, and otherwise equals the version before, is taken for a repetition of it.
package struct LostParameterSets<Codec: VideoCodecSyntax>: Sendable {
  private var sequences: [SequenceParameterSetID] = []
  private var pictures: [PictureParameterSetID] = []

  /// Nothing is lost.
  package init() {}

  /// Whether none is lost.
  package var isEmpty: Bool { sequences.isEmpty && pictures.isEmpty }

  /// Takes an SPS or PPS of the stream. Ignores other NAL units, and those whose id cannot be read.
  ///
  /// - Parameters:
  ///   - isUsed: whether slices are decoded with it from here on.
  ///   - sets: the parameter sets in force.
  package mutating func take(_ nalUnit: Span<UInt8>, isUsed: Bool, _ sets: borrowing Codec.ParameterSets) {
    guard !isUsed || !isEmpty else { return }
    let isLost = isUsed ? false : isChanged(nalUnit, sets)
    switch Codec.role(of: nalUnit) {
    case .sequenceParameterSet:
      guard isUsed || isLost, let id = Codec.ParameterSets.sequenceParameterSetID(of: nalUnit) else { return }
      sequences.removeAll { $0 == id }
      if isLost { sequences.append(id) }
    case .pictureParameterSet:
      guard isUsed || isLost, let id = Self.pictureParameterSetID(of: nalUnit) else { return }
      pictures.removeAll { $0 == id }
      if isLost { pictures.append(id) }
    default: break
    }
  }

  /// Whether a slice refers to one of them.
  package func areUsed(by slice: Codec.SliceHeader) -> Bool {
    pictures.contains(slice.pictureParameterSetID) || sequences.contains(slice.sequenceParameterSetID)
  }

  /// Whether a NAL unit has the id of a set in force, but is not the beginning of it.
  private func isChanged(_ nalUnit: Span<UInt8>, _ sets: borrowing Codec.ParameterSets) -> Bool {
    guard sets.holdsSet(withIDOf: nalUnit) else { return false }
    return !sets.nalUnits.contains { set in
      set.count >= nalUnit.count && nalUnit.indices.allSatisfy { nalUnit[$0] == set[$0] }
    }
  }

  private static func pictureParameterSetID(of nalUnit: Span<UInt8>) -> PictureParameterSetID? {
    var reader = BitReader(nalUnit, from: Codec.nalUnitHeaderLength)
    do throws(BitstreamError) {
      return PictureParameterSetID(try reader.ue8(in: 0...255, "pic_parameter_set_id"))
    } catch {
      return nil
    }
  }
}
