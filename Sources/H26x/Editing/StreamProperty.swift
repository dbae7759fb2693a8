// SPDX-License-Identifier: MPL-2.0

/// A property of a stream that containers and caps repeat outside of its headers.
public enum StreamProperty: Sendable, Hashable {
  /// Primaries, transfer characteristics, matrix and range.
  case colour
  /// The locations of chroma samples.
  case chromaLocation
  /// The size of the displayed picture.
  case size
  /// The sample aspect ratio.
  case shape
  /// Frames a second.
  case rate
  /// The profile, with its constraint flags and compatible profiles.
  case profile
  /// The tier of H.265.
  case tier
  /// The level.
  case level
  /// Layers and views above the base layer.
  case layers
  /// SEI messages of a type.
  case sei(SEIPayloadType)
  /// Metadata that SEI messages or NAL units of their own have.
  case metadata(RemovableMetadata)
}

extension StreamEdit {
  /// Whether the edit can change a property, so that a copy of it outside of the headers may be outdated.
  public func affects(_ property: StreamProperty) -> Bool {
    switch self {
    case .colour, .primaries, .transfer, .matrix, .fullRange, .removeVideoSignal: property == .colour
    case .chromaLocation: property == .chromaLocation
    case .crop: property == .size
    case .sampleAspectRatio: property == .shape
    case .frameRate: property == .rate
    case .constraintSet, .compatibleProfile, .sourceConstraint: property == .profile
    case .highTier: property == .tier
    case .level: property == .level
    case .removeLayers: property == .layers
    case .removeSEI(let type): property.hasMessages { $0 == type }
    case .insertSEI(let insertion): property == .sei(insertion.type)
    case .keepSEI(let types): property.hasMessages { !types.contains($0) }
    case .removeMetadata(let kind, isForced: _):
      if case .sei(let type) = property { kind.owns(type) } else { property == .metadata(kind) }
    case .convertDolbyVision: property == .metadata(.dolbyVision)
    case .removeHRD:
      [.sei(.bufferingPeriod), .sei(.pictureTiming), .sei(.decodingUnitInformation)].contains(property)
    case .clockTimestamps: property == .sei(.pictureTiming)
    case .videoFormat, .overscanAppropriate, .reordering, .insertDelimiters, .removeDelimiters: false
    }
  }

  /// Whether it concerns SEI messages, Dolby Vision and access unit delimiters alone, so that any access unit can be
  /// the first that it changes. Without picture timing, the VUI must not demand it.
  public var keepsParameterSets: Bool {
    switch self {
    case .removeSEI, .keepSEI: !removesPictureTiming
    case .insertSEI, .clockTimestamps, .insertDelimiters, .removeDelimiters, .removeMetadata, .convertDolbyVision: true
    default: false
    }
  }

  /// Whether it removes picture timing, which the VUI can demand of every access unit.
  var removesPictureTiming: Bool {
    switch self {
    case .removeSEI, .keepSEI: affects(.sei(.pictureTiming))
    default: false
    }
  }
}

extension StreamProperty {
  /// Whether SEI messages of a type have it, or may have it.
  fileprivate func hasMessages(_ isOfType: (SEIPayloadType) -> Bool) -> Bool {
    switch self {
    case .sei(let type): isOfType(type)
    case .metadata(let kind): kind.messageTypes.contains(where: isOfType)
    default: false
    }
  }
}
