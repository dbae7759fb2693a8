// SPDX-License-Identifier: MPL-2.0

/// The edits that concern the NAL units of Dolby Vision.
struct DolbyVisionEdits: Sendable {
  private enum Action: Sendable {
    case removal(isForced: Bool)
    case conversion
  }

  /// nil for no edit, and after a refusal: the stream then keeps all of it.
  private var action: Action?

  init(_ edits: [StreamEdit]) {
    for edit in edits {
      switch edit {
      case .removeMetadata(.dolbyVision, let isForced): action = .removal(isForced: isForced)
      case .convertDolbyVision: action = .conversion
      default: break
      }
    }
  }

  /// Whether none concerns them.
  var isEmpty: Bool { action == nil }

  /// Returns the replacement for a NAL unit: nil if it stays, empty if it is removed.
  ///
  /// - Throws: the refusal of an edit.
  mutating func edited<Codec: StreamEditing>(
    _ nalUnit: Span<UInt8>, _: Codec.Type, _ changes: inout DolbyVisionChanges
  ) throws(StreamEditError) -> [UInt8]? {
    guard let action, nalUnit.count > Codec.nalUnitHeaderLength else { return nil }
    switch Codec.NALUnitType(headerByte: nalUnit[0]) {
    case .dolbyVisionEnhancementLayer:
      changes.removedLayerNALUnits += 1
      return []
    // The Recommendation leaves the type to applications: others may use it.
    case .dolbyVisionRPU where DolbyVision.RPU.hasPrefix(nalUnit, headerLength: Codec.nalUnitHeaderLength):
      do throws(StreamEditError) {
        switch action {
        case .removal(let isForced): return try removed(nalUnit, Codec.codec, isForced: isForced, &changes)
        case .conversion: return try converted(nalUnit, Codec.codec, &changes)
        }
      } catch {
        self.action = nil
        throw error
      }
    default: return nil
    }
  }

  private func removed(
    _ rpu: Span<UInt8>, _ codec: FormatDescription.Codec, isForced: Bool, _ changes: inout DolbyVisionChanges
  ) throws(StreamEditError) -> [UInt8] {
    if DolbyVision.RPU.profile(of: rpu, codec) == 5 {
      guard isForced else { throw StreamEditError.incompatibleBaseLayer }
      changes.removedIncompatibleRPUs += 1
    }
    changes.removedRPUs += 1
    return []
  }

  private func converted(
    _ nalUnit: Span<UInt8>, _ codec: FormatDescription.Codec, _ changes: inout DolbyVisionChanges
  ) throws(StreamEditError) -> [UInt8] {
    if let profile = DolbyVision.RPU.profile(of: nalUnit, codec), profile != 7 {
      throw StreamEditError(
        .forbiddenCombination, "dv_profile", Int64(profile), "profile 7 is expected; dovi_tool makes other conversions",
        clause: "Dolby Vision Profiles and Levels, 1")
    }
    do throws(BitstreamError) {
      var rpu = try DolbyVision.RPU(nalUnit: nalUnit, codec: codec)
      try rpu.convertToProfile8()
      let new = try rpu.nalUnit()
      changes.convertedRPUs += 1
      return new
    } catch {
      throw StreamEditError(
        .valueOutOfRange, error.element, nil, "the RPU is damaged, or has unknown syntax",
        clause: "ETSI GS CCM 001, 5.3")
    }
  }
}

extension StreamEditError {
  /// The refusal to remove Dolby Vision from pictures in a colour space of its own, which no VUI describes.
  package static var incompatibleBaseLayer: StreamEditError {
    StreamEditError(
      .forbiddenCombination, "dv_bl_signal_compatibility_id", 0,
      "the pictures have wrong colours without Dolby Vision", clause: "Dolby Vision Profiles and Levels, 1")
  }
}

/// How many NAL units of Dolby Vision an edit has changed.
public struct DolbyVisionChanges: Sendable, Hashable {
  /// RPUs that were removed.
  public var removedRPUs = 0
  /// Those of profile 5 among them, whose pictures have wrong colours now.
  public var removedIncompatibleRPUs = 0
  /// RPUs that were converted to profile 8.1.
  public var convertedRPUs = 0
  /// NAL units of the enhancement layer that were removed.
  public var removedLayerNALUnits = 0

  /// Creates a count of none.
  public init() {}
}
