// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import H26x

/// A colour by name, or as the three numbers of H.273: 9:16:9.
struct ColourArgument: ExpressibleByArgument {
  let colour: ColourDescription
  /// For `--help` and messages.
  static let names = ColourDescription.names

  init?(argument: String) {
    guard let colour = ColourDescription(text: argument) else { return nil }
    self.colour = colour
  }
}

/// The range of samples.
enum RangeArgument: String, CaseIterable, ExpressibleByArgument {
  case limited, full
}

/// The locations of chroma samples, in the order of chroma_sample_loc_type.
enum ChromaLocationArgument: String, CaseIterable, ExpressibleByArgument {
  case left, center
  case topLeft = "top-left"
  case top
  case bottomLeft = "bottom-left"
  case bottom

  var location: ChromaLocation {
    let code = UInt8(Self.allCases.firstIndex(of: self) ?? 0)
    return ChromaLocation(topField: code, bottomField: code)
  }
}

/// video_format, in the order of table E-2.
enum VideoFormatArgument: String, CaseIterable, ExpressibleByArgument {
  case component, pal, ntsc, secam, mac, unspecified

  var code: UInt8 { UInt8(Self.allCases.firstIndex(of: self) ?? 5) }
}

/// overscan_appropriate_flag.
enum OverscanArgument: String, CaseIterable, ExpressibleByArgument {
  case show, crop
}

/// general_tier_flag.
enum TierArgument: String, CaseIterable, ExpressibleByArgument {
  case main, high
}

/// A shape: 64:45 or 64/45.
struct AspectArgument: ExpressibleByArgument {
  let ratio: Ratio

  init?(argument: String) {
    guard let ratio = Ratio(aspect: argument) else { return nil }
    self.ratio = ratio
  }
}

/// Margins: LEFT,RIGHT,TOP,BOTTOM.
struct CropArgument: ExpressibleByArgument {
  let margins: CropMargins

  init?(argument: String) {
    guard let margins = CropMargins(text: argument) else { return nil }
    self.margins = margins
  }
}

/// A level: auto, 4.1, 1b.
enum LevelArgument: ExpressibleByArgument {
  case lowest
  case named(StreamLevel)

  init?(argument: String) {
    if argument == "auto" {
      self = .lowest
    } else if let level = StreamLevel(argument) {
      self = .named(level)
    } else {
      return nil
    }
  }
}

/// A constraint flag of H.264: 1=on.
struct ConstraintArgument: ExpressibleByArgument {
  let (set, value): (Int, Bool)

  init?(argument: String) {
    let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, let set = Int(parts[0]), 0...5 ~= set, parts[1] == "0" || parts[1] == "1" else {
      return nil
    }
    (self.set, value) = (set, parts[1] == "1")
  }
}

/// `general_profile_compatibility_flag[ N ]` of H.265: 1=on.
struct CompatibleProfileArgument: ExpressibleByArgument {
  let (profile, value): (UInt8, Bool)

  init?(argument: String) {
    let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, let profile = UInt8(parts[0]), profile < 32, parts[1] == "0" || parts[1] == "1" else {
      return nil
    }
    (self.profile, value) = (profile, parts[1] == "1")
  }
}

/// A constraint flag of H.265: progressive-source=1.
struct SourceConstraintArgument: ExpressibleByArgument {
  let (constraint, value): (H265.SourceConstraint, Bool)

  init?(argument: String) {
    let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, let constraint = H265.SourceConstraint(text: parts[0]), parts[1] == "0" || parts[1] == "1"
    else { return nil }
    (self.constraint, value) = (constraint, parts[1] == "1")
  }
}

/// The treatment of access unit delimiters.
enum DelimiterArgument: String, CaseIterable, ExpressibleByArgument {
  case insert, remove, keep

  var edits: [StreamEdit] {
    switch self {
    case .insert: [.insertDelimiters]
    case .remove: [.removeDelimiters]
    case .keep: []
    }
  }
}

/// A reorder depth: auto or a number.
enum LatencyArgument: ExpressibleByArgument {
  case measured
  case frames(Int)

  init?(argument: String) {
    if argument == "auto" {
      self = .measured
    } else if let frames = Int(argument), 0...16 ~= frames {
      self = .frames(frames)
    } else {
      return nil
    }
  }
}

/// Types of SEI messages, by number or name, joined by commas; `none` for none.
struct SEITypesArgument: ExpressibleByArgument {
  let types: [SEIPayloadType]

  init?(argument: String) {
    var types: [SEIPayloadType] = []
    for part in argument == "none" ? [] : argument.split(separator: ",", omittingEmptySubsequences: false) {
      guard let type = SEIPayloadType(part) else { return nil }
      types.append(type)
    }
    self.types = types
  }
}

/// Types of SEI messages, as ``SEITypesArgument``, or `all`.
struct SEISelectionArgument: ExpressibleByArgument {
  /// `nil` for all.
  let types: Set<SEIPayloadType>?

  init?(argument: String) {
    if argument == "all" {
      types = nil
    } else if let list = SEITypesArgument(argument: argument) {
      types = Set(list.types)
    } else {
      return nil
    }
  }
}

/// A message to insert: its type, and its payload in hexadecimal digits.
struct SEIMessageArgument: ExpressibleByArgument {
  let type: SEIPayloadType
  let payload: [UInt8]

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let type = SEIPayloadType(parts[0]),
      let payload = EditText.hexadecimal(Array(parts[1].utf8)[...])
    else { return nil }
    (self.type, self.payload) = (type, payload)
  }
}
