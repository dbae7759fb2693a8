// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// A field of caps that repeats what edits change.
enum EditedCapsField: String, CaseIterable {
  case width, height, colorimetry, framerate, level, tier, profile
  case chromaSite = "chroma-site"
  case pixelAspectRatio = "pixel-aspect-ratio"
  case masteringDisplay = "mastering-display-info"
  case contentLight = "content-light-level"
  case dynamicRange = "hdr-format"
  case multiviewMode = "multiview-mode"
  case multiviewFlags = "multiview-flags"

  /// The fields that these edits concern, each once.
  static func list(_ edits: StreamEditList) -> [Self] {
    allCases.filter { $0.properties.contains(where: edits.affects) }
  }

  /// The properties of the stream that the field repeats.
  private var properties: [StreamProperty] {
    switch self {
    case .width, .height: [.size]
    case .colorimetry: [.colour, .sei(.alternativeTransferCharacteristics)]
    case .framerate: [.rate]
    case .level: [.level]
    case .tier: [.tier]
    case .profile: [.profile]
    case .chromaSite: [.chromaLocation]
    case .pixelAspectRatio: [.shape]
    case .masteringDisplay: [.sei(.masteringDisplayColourVolume)]
    case .contentLight: [.sei(.contentLightLevel)]
    case .dynamicRange: [.sei(.masteringDisplayColourVolume), .sei(.contentLightLevel), .metadata(.hdr10Plus)]
    case .multiviewMode, .multiviewFlags: [.sei(.stereoVideoInformation), .sei(.framePackingArrangement)]
    }
  }

  /// The field's value by the edited parameter sets and the SEI messages that are inserted; nil if they lack it. The
  /// content of other SEI messages is left to decoders.
  func value(_ format: FormatDescription?, _ inserted: DisplayMetadata) -> FieldValue? {
    switch self {
    case .masteringDisplay: inserted.masteringDisplay?.capsText.map { .string($0) }
    case .contentLight: inserted.contentLight.map { .string($0.capsText) }
    case .colorimetry:
      format?.colorimetry(preferringTransfer: inserted.alternativeTransfer?.preferredTransfer).map { .string($0) }
    default: format.flatMap(value)
    }
  }

  private func value(_ format: FormatDescription) -> FieldValue? {
    switch self {
    case .width: .int(Int32(clamping: format.cropRectangle.width))
    case .height: .int(Int32(clamping: format.frameSize.height))
    case .framerate: format.frameRateOfCaps.map { .fraction($0) }
    case .level: format.levelName.map { .string($0) }
    case .tier: format.tierName.map { .string($0) }
    case .profile: format.profileName.map { .string($0) }
    case .pixelAspectRatio: format.pixelAspectRatioOfCaps.map { .fraction($0) }
    default: nil
    }
  }
}

extension DisplayMetadata {
  /// Reads the content of inserted SEI messages; the last message of a type counts.
  init(insertedBy edits: [StreamEdit]) {
    self.init()
    for case .insertSEI(let insertion) in edits { read(seiNALUnit([(insertion.type, insertion.payload)]).span) }
  }
}
