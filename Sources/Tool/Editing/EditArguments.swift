// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import H26x

/// A colour by name, or as the three numbers of H.273: 9:16:9.
struct ColourArgument: ExpressibleByArgument {
  let colour: ColourDescription
  /// For `--help` and messages.
  static let names =
    "bt709, bt601-525, bt601-625, bt2020, bt2020-pq, bt2020-hlg, p3-pq, srgb, or PRIMARIES:TRANSFER:MATRIX"

  init?(argument: String) {
    let codes: (UInt8, UInt8, UInt8)
    switch argument {
    case "bt709": codes = (1, 1, 1)
    case "bt601-525": codes = (6, 6, 6)
    case "bt601-625": codes = (5, 6, 5)
    case "bt2020": codes = (9, 14, 9)
    case "bt2020-pq": codes = (9, 16, 9)
    case "bt2020-hlg": codes = (9, 18, 9)
    case "p3-pq": codes = (12, 16, 9)
    // Of BT.709's matrix: RGB itself needs 4:4:4.
    case "srgb": codes = (1, 13, 1)
    default:
      let parts = argument.split(separator: ":", omittingEmptySubsequences: false).map { UInt8($0) }
      guard parts.count == 3, let primaries = parts[0], let transfer = parts[1], let matrix = parts[2] else {
        return nil
      }
      codes = (primaries, transfer, matrix)
    }
    colour = ColourDescription(primaries: codes.0, transfer: codes.1, matrix: codes.2)
  }
}

/// The range of samples.
enum RangeArgument: String, CaseIterable, ExpressibleByArgument {
  case limited, full
}

/// Where chroma samples are, in the order of chroma_sample_loc_type.
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
    let parts = argument.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == "/" }
    guard parts.count == 2, let width = UInt32(parts[0]), let height = UInt32(parts[1]),
      let ratio = Ratio(width, height)
    else { return nil }
    self.ratio = ratio
  }
}

/// Margins: LEFT,RIGHT,TOP,BOTTOM.
struct CropArgument: ExpressibleByArgument {
  let margins: CropMargins

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false).compactMap { UInt32($0) }
    guard parts.count == 4, argument.filter({ $0 == "," }).count == 3 else { return nil }
    margins = CropMargins(left: parts[0], right: parts[1], top: parts[2], bottom: parts[3])
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
      guard let number = UInt32(part) ?? SEIText.type(named: String(part)) else { return nil }
      types.append(SEIPayloadType(rawValue: number))
    }
    self.types = types
  }
}

/// A message to insert: its type, and its payload in hexadecimal digits.
struct SEIMessageArgument: ExpressibleByArgument {
  let type: SEIPayloadType
  let payload: [UInt8]

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let number = UInt32(parts[0]) ?? SEIText.type(named: String(parts[0])) else { return nil }
    let digits = Array(parts[1].utf8)
    guard digits.count.isMultiple(of: 2), digits.count <= 1 << 20 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16),
        digits[index] != 43, digits[index] != 45
      else { return nil }
      bytes.append(byte)
    }
    (type, payload) = (SEIPayloadType(rawValue: number), bytes)
  }
}
