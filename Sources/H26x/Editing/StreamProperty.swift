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
    case .removeSEI(let type): property == .sei(type)
    case .insertSEI(let insertion): property == .sei(insertion.type)
    case .keepSEI(let types): if case .sei(let type) = property { !types.contains(type) } else { false }
    case .removeHRD:
      [.sei(.bufferingPeriod), .sei(.pictureTiming), .sei(.decodingUnitInformation)].contains(property)
    case .clockTimestamps: property == .sei(.pictureTiming)
    case .videoFormat, .overscanAppropriate, .reordering, .insertDelimiters, .removeDelimiters: false
    }
  }

  /// Whether it concerns SEI messages and access unit delimiters alone, so that any access unit can be the first that
  /// it changes. Without picture timing, the VUI must not demand it.
  public var keepsParameterSets: Bool {
    switch self {
    case .removeSEI, .keepSEI: !removesPictureTiming
    case .insertSEI, .clockTimestamps, .insertDelimiters, .removeDelimiters: true
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
