// SPDX-License-Identifier: MPL-2.0

/// A field of a ``StreamEditList``. The cases are in the order in which edits are applied.
enum StreamEditField: UInt8, CaseIterable {
  case removeColour, colour, primaries, transfer, matrix, range, videoFormat, chromaLocation, sampleAspect, overscan
  case frameRate, crop, removeHRD, removeLayers, constraintSet, compatibleProfile, constraint, latency, level, tier
  case delimiters, removeSEI, keepSEI, insertSEI

  /// The field with a name; nil for another name. "colorimetry" is GStreamer's word for the colour.
  init?(_ name: ArraySlice<UInt8>) {
    if EditText.isEqual(name, "colorimetry") {
      self = .colour
    } else if let field = Self.allCases.first(where: { EditText.isEqual(name, $0.name) }) {
      self = field
    } else {
      return nil
    }
  }

  var name: StaticString {
    switch self {
    case .removeColour: "remove-colour"
    case .colour: "colour"
    case .primaries: "primaries"
    case .transfer: "transfer"
    case .matrix: "matrix"
    case .range: "range"
    case .videoFormat: "video-format"
    case .chromaLocation: "chroma-location"
    case .sampleAspect: "sample-aspect"
    case .overscan: "overscan"
    case .frameRate: "frame-rate"
    case .crop: "crop"
    case .removeHRD: "remove-hrd"
    case .removeLayers: "remove-layers"
    case .constraintSet: "constraint-set"
    case .compatibleProfile: "compatible-profile"
    case .constraint: "constraint"
    case .latency: "latency"
    case .level: "level"
    case .tier: "tier"
    case .delimiters: "aud"
    case .removeSEI: "remove-sei"
    case .keepSEI: "keep-sei"
    case .insertSEI: "insert-sei"
    }
  }

  /// The form of its values.
  var expected: String {
    switch self {
    case .removeColour, .removeHRD, .removeLayers: "no value"
    case .colour: ColourDescription.names
    case .primaries, .transfer, .matrix: "a number of H.273 up to 255"
    case .range: "limited or full"
    case .videoFormat: "component, pal, ntsc, secam, mac or unspecified"
    case .chromaLocation: "left, center, top-left, top, bottom-left or bottom"
    case .sampleAspect: "WIDTH:HEIGHT"
    case .overscan: "show or crop"
    case .frameRate: "frames a second, such as 25, 29.97 or 30000/1001"
    case .crop: "LEFT,RIGHT,TOP,BOTTOM"
    case .constraintSet: "N=0 or N=1, N from 0 to 5"
    case .compatibleProfile: "N=0 or N=1, N from 0 to 31"
    case .constraint: "NAME=0 or NAME=1, NAME one of \(H265.SourceConstraint.list)"
    case .latency: "a number of pictures up to 16"
    case .level: "auto, or a level such as 4.1 or 1b"
    case .tier: "main or high"
    case .delimiters: "insert, remove or keep"
    case .removeSEI, .keepSEI: "types of SEI messages by number or name, or none"
    case .insertSEI: "TYPE=PAYLOAD, the payload in hexadecimal digits"
    }
  }

  /// Whether it has no value.
  var isFlag: Bool { self == .removeColour || self == .removeHRD || self == .removeLayers }
  /// Whether it may be there several times.
  var isRepeatable: Bool { [.constraintSet, .compatibleProfile, .constraint, .removeSEI, .insertSEI].contains(self) }

  /// The edits of a value; nil if it cannot be read.
  func edits(_ value: ArraySlice<UInt8>) -> [StreamEdit]? {
    if let edit = display(value) { return [edit] }
    switch self {
    case .removeHRD: return value.isEmpty ? [.removeHRD] : nil
    case .removeLayers: return value.isEmpty ? [.removeLayers] : nil
    case .removeColour: return value.isEmpty ? [.removeVideoSignal] : nil
    case .constraintSet:
      let parts = EditText.numbers(value, count: 2, upTo: 5) { $0 == EditText.equals }
      guard let parts, parts[1] <= 1 else { return nil }
      return [.constraintSet(Int(parts[0]), parts[1] == 1)]
    case .compatibleProfile:
      let parts = EditText.numbers(value, count: 2, upTo: 31) { $0 == EditText.equals }
      guard let parts, parts[1] <= 1 else { return nil }
      return [.compatibleProfile(UInt8(parts[0]), parts[1] == 1)]
    case .constraint:
      let parts = value.split(separator: EditText.equals, omittingEmptySubsequences: false)
      guard parts.count == 2, let constraint = H265.SourceConstraint(text: Self.text(parts[0])),
        let isSet = EditText.number(parts[1], upTo: 1)
      else { return nil }
      return [.sourceConstraint(constraint, isSet == 1)]
    case .delimiters:
      let edits: [[StreamEdit]] = [[.insertDelimiters], [.removeDelimiters], []]
      return EditText.index(value, among: ["insert", "remove", "keep"]).map { edits[$0] }
    case .latency:
      return EditText.number(value, upTo: 16).map { [.reordering(UInt8($0), buffer: nil)] }
    case .level: return StreamLevel(Self.text(value)).map { [.level($0)] }
    case .tier: return EditText.index(value, among: ["main", "high"]).map { [.highTier($0 == 1)] }
    case .removeSEI: return Self.types(value)?.map { .removeSEI($0) }
    case .keepSEI: return Self.types(value).map { [.keepSEI(Set($0))] }
    case .insertSEI:
      guard let equals = value.firstIndex(of: EditText.equals),
        let type = SEIPayloadType(Self.text(value[..<equals])),
        let payload = EditText.hexadecimal(value[(equals + 1)...])
      else { return nil }
      return [.insertSEI(SEIInsertion(type, payload: payload, at: .keyframes))]
    default: return nil
    }
  }

  /// The edit of the displayed area and the frame rate.
  private func display(_ value: ArraySlice<UInt8>) -> StreamEdit? {
    let text = Self.text(value)
    switch self {
    case .colour: return ColourDescription(text: text).map { .colour($0) }
    case .primaries: return EditText.number(value, upTo: 255).map { .primaries(UInt8($0)) }
    case .transfer: return EditText.number(value, upTo: 255).map { .transfer(UInt8($0)) }
    case .matrix: return EditText.number(value, upTo: 255).map { .matrix(UInt8($0)) }
    case .range: return EditText.index(value, among: ["limited", "full"]).map { .fullRange($0 == 1) }
    case .videoFormat:
      let names: [StaticString] = ["component", "pal", "ntsc", "secam", "mac", "unspecified"]
      return EditText.index(value, among: names).map { .videoFormat(UInt8($0)) }
    case .chromaLocation: return ChromaLocation(text: text).map { .chromaLocation($0) }
    case .sampleAspect: return Ratio(aspect: text).map { .sampleAspectRatio($0) }
    case .overscan: return EditText.index(value, among: ["show", "crop"]).map { .overscanAppropriate($0 == 1) }
    case .frameRate: return Ratio(frameRate: text).map { .frameRate($0) }
    case .crop: return CropMargins(text: text).map { .crop($0) }
    default: return nil
    }
  }

  /// Types of SEI messages, joined by commas; "none" for none.
  private static func types(_ value: ArraySlice<UInt8>) -> [SEIPayloadType]? {
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

extension StreamEdit {
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
    case .removeSEI(let type): type == .pictureTiming
    case .keepSEI(let types): !types.contains(.pictureTiming)
    default: false
    }
  }
}
