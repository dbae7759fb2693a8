// SPDX-License-Identifier: MPL-2.0

/// A field of a ``StreamEditList``. The cases are in the order in which edits are applied.
package enum StreamEditField: UInt8, CaseIterable {
  case removeColour, colour, primaries, transfer, matrix, range, videoFormat, chromaLocation, sampleAspect, overscan
  case frameRate, crop, removeHRD, removeLayers, constraintSet, compatibleProfile, constraint, latency, level, tier
  case delimiters, removeSEI, keepSEI, remove, dolbyVision, insertSEI

  /// In the order of the cases.
  private static let names: [StaticString] = [
    "remove-colour", "colour", "primaries", "transfer", "matrix", "range", "video-format", "chroma-location",
    "sample-aspect", "overscan", "frame-rate", "crop", "remove-hrd", "remove-layers", "constraint-set",
    "compatible-profile", "constraint", "latency", "level", "tier", "aud", "remove-sei", "keep-sei", "remove",
    "dolby-vision", "insert-sei",
  ]

  /// The field with a name; nil for another name. "colorimetry" is GStreamer's word for the colour.
  init?(_ name: ArraySlice<UInt8>) {
    if EditText.isEqual(name, "colorimetry") {
      self = .colour
    } else if let index = EditText.index(name, among: Self.names) {
      self = Self.allCases[index]
    } else {
      return nil
    }
  }

  var name: StaticString { Self.names[Int(rawValue)] }

  /// Its values, if each of them is a word; else empty.
  package var words: [StaticString] {
    switch self {
    case .range: ["limited", "full"]
    // In the order of video_format and chroma_sample_loc_type.
    case .videoFormat: ["component", "pal", "ntsc", "secam", "mac", "unspecified"]
    case .chromaLocation: ["left", "center", "top-left", "top", "bottom-left", "bottom"]
    case .overscan: ["show", "crop"]
    case .tier: ["main", "high"]
    case .delimiters: ["insert", "remove", "keep"]
    case .dolbyVision: ["8.1"]
    default: []
    }
  }

  /// The form of its values.
  var expected: String {
    switch self {
    case .removeColour, .removeHRD, .removeLayers: "no value"
    case .colour: ColourDescription.names
    case .primaries, .transfer, .matrix: "a number of H.273 up to 255"
    case .sampleAspect: "WIDTH:HEIGHT"
    case .frameRate: "frames a second, such as 25, 29.97 or 30000/1001"
    case .crop: "LEFT,RIGHT,TOP,BOTTOM"
    case .constraintSet: "N=0 or N=1, N from 0 to 5"
    case .compatibleProfile: "N=0 or N=1, N from 0 to 31"
    case .constraint: "NAME=0 or NAME=1, NAME one of \(H265.SourceConstraint.list)"
    case .latency: "a number of pictures up to \(FormatDescription.deepestReordering)"
    case .level: "auto, or a level such as 4.1 or 1b"
    case .removeSEI, .keepSEI: "types of SEI messages by number or name, or none"
    case .remove: RemovableMetadata.expected
    case .dolbyVision: "8.1; dovi_tool converts to other profiles"
    case .insertSEI: "TYPE=PAYLOAD, the payload in hexadecimal digits"
    case .range, .videoFormat, .chromaLocation, .overscan, .tier, .delimiters: listOfWords
    }
  }

  /// "insert, remove or keep".
  private var listOfWords: String {
    var list = ""
    for (index, word) in words.enumerated() {
      list += (index == 0 ? "" : index < words.count - 1 ? ", " : " or ") + word.description
    }
    return list
  }

  /// Whether it has no value.
  var isFlag: Bool { self == .removeColour || self == .removeHRD || self == .removeLayers }
  /// Whether it may be there several times.
  var isRepeatable: Bool {
    [.constraintSet, .compatibleProfile, .constraint, .removeSEI, .remove, .insertSEI].contains(self)
  }

  /// The edits of a value; nil if it cannot be read.
  func edits(_ value: ArraySlice<UInt8>) -> [StreamEdit]? {
    switch self {
    case .removeColour: return value.isEmpty ? [.removeVideoSignal] : nil
    case .removeHRD: return value.isEmpty ? [.removeHRD] : nil
    case .removeLayers: return value.isEmpty ? [.removeLayers] : nil
    case .range, .videoFormat, .chromaLocation, .overscan, .tier, .delimiters, .dolbyVision:
      return EditText.index(value, among: words).map(edits(ofWord:))
    case .colour: return ColourDescription(text: value).map { [.colour($0)] }
    case .primaries: return EditText.number(value, upTo: 255).map { [.primaries(UInt8($0))] }
    case .transfer: return EditText.number(value, upTo: 255).map { [.transfer(UInt8($0))] }
    case .matrix: return EditText.number(value, upTo: 255).map { [.matrix(UInt8($0))] }
    case .sampleAspect: return Ratio(aspect: value).map { [.sampleAspectRatio($0)] }
    case .frameRate: return Ratio(frameRate: Self.text(value)).map { [.frameRate($0)] }
    case .crop: return CropMargins(text: value).map { [.crop($0)] }
    case .constraintSet:
      guard let (name, isOn) = Self.flag(value), let set = EditText.number(name, upTo: 5) else { return nil }
      return [.constraintSet(Int(set), isOn)]
    case .compatibleProfile:
      guard let (name, isOn) = Self.flag(value), let profile = EditText.number(name, upTo: 31) else { return nil }
      return [.compatibleProfile(UInt8(profile), isOn)]
    case .constraint:
      guard let (name, isOn) = Self.flag(value), let constraint = H265.SourceConstraint(text: name) else { return nil }
      return [.sourceConstraint(constraint, isOn)]
    case .latency:
      return EditText.number(value, upTo: UInt32(FormatDescription.deepestReordering))
        .map { [.reordering(UInt8($0), buffer: nil)] }
    case .level: return StreamLevel(Self.text(value)).map { [.level($0)] }
    case .removeSEI: return Self.types(value)?.map { .removeSEI($0) }
    case .keepSEI: return Self.types(value).map { [.keepSEI(Set($0))] }
    case .remove: return RemovableMetadata.list(value)?.map { .removeMetadata($0) }
    case .insertSEI:
      guard let equals = value.firstIndex(of: EditText.equals),
        let type = SEIPayloadType(Self.text(value[..<equals])),
        let payload = EditText.hexadecimal(value[(equals + 1)...])
      else { return nil }
      return [.insertSEI(SEIInsertion(type, payload: payload, at: .keyframes))]
    }
  }

  private func edits(ofWord index: Int) -> [StreamEdit] {
    let code = UInt8(clamping: index)
    switch self {
    case .range: return [.fullRange(index == 1)]
    case .videoFormat: return [.videoFormat(code)]
    case .chromaLocation: return [.chromaLocation(ChromaLocation(topField: code, bottomField: code))]
    case .overscan: return [.overscanAppropriate(index == 1)]
    case .tier: return [.highTier(index == 1)]
    case .delimiters: return index == 0 ? [.insertDelimiters] : index == 1 ? [.removeDelimiters] : []
    case .dolbyVision: return [.convertDolbyVision]
    default: return []
    }
  }

  /// A flag and its value: "1=0".
  private static func flag(_ value: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, isOn: Bool)? {
    let parts = value.split(separator: EditText.equals, omittingEmptySubsequences: false)
    guard parts.count == 2, let isOn = EditText.number(parts[1], upTo: 1) else { return nil }
    return (parts[0], isOn == 1)
  }

  /// Types of SEI messages, joined by commas; "none" for none.
  package static func types(_ value: ArraySlice<UInt8>) -> [SEIPayloadType]? {
    guard !EditText.isEqual(value, "none") else { return [] }
    var types: [SEIPayloadType] = []
    for part in value.split(separator: EditText.comma, omittingEmptySubsequences: false) {
      guard let type = SEIPayloadType(text(part)) else { return nil }
      types.append(type)
    }
    return types
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
