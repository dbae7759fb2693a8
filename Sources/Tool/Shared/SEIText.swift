// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x
import StreamReport

/// The contents of SEI messages, as text: names of payload types, bytes, and values with their units.
enum SEIText {
  // MARK: Payload types

  /// Annex D's name of a payload type and its number: `user_data_unregistered (5)`. The number alone if the codec has
  /// no name for it.
  static func name(_ type: UInt32, isH264: Bool) -> String {
    let name = SEIPayloadType(rawValue: type).name(in: isH264 ? .h264 : .h265)
    return name.map { "\($0) (\(type))" } ?? "payload \(type)"
  }

  // MARK: Syntax elements

  /// The lines of syntax elements: one for each, but one for all bytes of a run and for both coordinates of a point.
  static func lines(_ fields: [SyntaxField]) -> String {
    var text = ""
    var rest = fields[...]
    var country: (code: UInt8, extension: UInt8?) = (0, nil)
    while let first = rest.first {
      let run = rest.prefix(length(of: rest))
      rest = rest.dropFirst(run.count)
      let name = isTriplet("\(first.name)") ? "cc_data" : "\(first.name)"
      text += "    \(Text.padded("\(first.bitOffset)", 6)) \(name) = "
      switch "\(first.name)" {
      case "itu_t_t35_country_code": country = (UInt8(truncatingIfNeeded: first.value), nil)
      case "itu_t_t35_country_code_extension_byte": country.extension = UInt8(truncatingIfNeeded: first.value)
      case "itu_t_t35_payload_byte":
        let data = RegisteredUserData(
          countryCode: country.code, countryCodeExtension: country.extension,
          data: run.map { UInt8(truncatingIfNeeded: $0.value) })
        if let kind = kind(of: data) { text += "\(kind), " }
      default: break
      }
      text += "\(value(run))\n"
    }
    return text
  }

  /// The kind of registered user data; `nil` if the provider is not known.
  private static func kind(of data: RegisteredUserData) -> String? {
    if data.isHDR10Plus { return "HDR10+" }
    if data.isHDRVivid { return "HDR Vivid" }
    if data.isSLHDR { return "SL-HDR" }
    if data.isLCEVC { return "LCEVC" }
    return switch data.content() {
    case .closedCaptions, .captionPacket: "captions"
    case .barData: "bar data"
    case .activeFormat: "active format"
    case nil: nil
    }
  }

  /// How many fields one line shows.
  private static func length(of fields: ArraySlice<SyntaxField>) -> Int {
    guard let first = fields.first else { return 0 }
    let name = "\(first.name)"
    let same = fields.prefix { $0.bitCount == first.bitCount && "\($0.name)" == name }.count
    if isTriplet(name) {
      var (count, bits) = (0, 0)
      for field in fields where bits < 24 { (count, bits) = (count + 1, bits + field.bitCount) }
      return bits == 24 ? count : 1
    }
    if first.bitCount == 8, isOfBytes(name) { return name.hasPrefix("uuid") ? min(same, 16) : same }
    return isPoint(name) ? min(same, 2) : 1
  }

  private static func isOfBytes(_ name: String) -> Bool {
    name.hasSuffix("_byte") && !name.hasPrefix("last_payload_") || name.hasPrefix("uuid_iso_iec_11578")
      || [
        "additional_user_data", "ext_dm_data_block_payload", "saturation_vector_field", "hue_vector_field", "dm_debug",
        "rpu_data",
      ].contains(name)
  }

  /// Whether it is the first byte of a construct of `cc_data()`.
  private static func isTriplet(_ name: String) -> Bool { name == "marker_bits, cc_valid, cc_type" }

  private static func isPoint(_ name: String) -> Bool { name == "display_primaries" || name == "white_point" }

  private static func value(_ run: ArraySlice<SyntaxField>) -> String {
    guard let first = run.first else { return "" }
    let (name, numbers) = ("\(first.name)", run.map(\.value))
    if first.bitCount == 8, isOfBytes(name), run.count > 1 {
      let bytes = numbers.map { UInt8(truncatingIfNeeded: $0) }
      return name.hasPrefix("uuid") ? uuid(bytes) : "\(Text.count(bytes.count, "byte")): \(content(bytes))"
    }
    if isPoint(name), run.count == 2 {
      return "\(numbers[0]) \(numbers[1]) (\(point(numbers[0], numbers[1])))"
    }
    if isTriplet(name), run.count > 1 { return triplet(run) }
    switch name {
    case "itu_t_t35_provider_code": return "\(first.value) (captions)"
    case "itu_t_t35_terminal_provider_code": return "\(first.value) (HDR10+)"
    // Dolby Vision has the maximum in whole candelas, in fewer bits.
    case "max_display_mastering_luminance" where first.bitCount == 16: return "\(first.value) (cd/m²)"
    case "max_display_mastering_luminance", "min_display_mastering_luminance":
      return "\(first.value) (\(luminance(first.value)) cd/m²)"
    case "max_content_light_level", "max_pic_average_light_level", "max_frame_average_light_level":
      return "\(first.value) (cd/m²)"
    default:
      return first.meaning.map { "\(first.value) (\(String(decoding: $0.bytes, as: UTF8.self)))" } ?? "\(first.value)"
    }
  }

  /// A construct of `cc_data()`: its bytes, and the headers of DTVCC in them.
  private static func triplet(_ fields: ArraySlice<SyntaxField>) -> String {
    let value = fields.reduce(Int64(0)) { $0 << $1.bitCount | $1.value }
    let bytes = [16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    let kind =
      switch bytes[0] & 3 {
      case 0: "field 1"
      case 1: "field 2"
      case 2: "DTVCC"
      default: "DTVCC packet start"
      }
    let headers = fields.dropFirst().filter { $0.bitCount < 8 }.map { "\($0.name) \($0.value)" }
    return "\(kind)\(bytes[0] & 4 == 0 ? ", not valid" : ""): \(Text.hexadecimal(bytes[1...]))"
      + (headers.isEmpty ? "" : " (\(headers.joined(separator: ", ")))")
  }

  /// Text in quotation marks if all bytes are printable ASCII, but for a zero at the end; else hexadecimal digits.
  private static func content(_ bytes: [UInt8]) -> String {
    let text = bytes.last == 0 ? bytes.dropLast() : bytes[...]
    guard !text.isEmpty, text.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return Text.hexadecimal(bytes[...]) }
    return "\"\(String(decoding: text, as: UTF8.self))\""
  }

  /// Groups of 4, 2, 2, 2 and 6 bytes.
  private static func uuid(_ bytes: [UInt8]) -> String {
    guard bytes.count == 16 else { return Text.hexadecimal(bytes[...]) }
    return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { Text.hexadecimal(bytes[$0]) }.joined(separator: "-")
  }

  // MARK: Display metadata

  /// A chromaticity, in units of 0.00002.
  private static func point(_ x: Int64, _ y: Int64) -> String {
    "x \(Text.fixed(Double(x) / 50_000, 5)), y \(Text.fixed(Double(y) / 50_000, 5))"
  }

  /// Candelas a square metre, of units of 0.0001.
  private static func luminance(_ value: Int64) -> String { Text.fixed(Double(value) / 10_000, 4) }

  /// The caps field `mastering-display-info` (red, green, blue, white point, luminance) with units, and as it is.
  static func masteringDisplay(_ field: String) -> String {
    let values = field.split(separator: ":").compactMap { Int64($0) }
    guard values.count == 10 else { return field }
    let points = ["red", "green", "blue", "white"].enumerated().map { index, name in
      "\(name) \(point(values[2 * index], values[2 * index + 1]))"
    }
    return "\(points.joined(separator: "; ")); \(luminance(values[9])) to \(luminance(values[8])) cd/m² (\(field))"
  }

  /// The caps field `content-light-level` (of the brightest pixel and the brightest picture) with units, and as it is.
  static func contentLight(_ field: String) -> String {
    let values = field.split(separator: ":").compactMap { Int64($0) }
    guard values.count == 2 else { return field }
    return "MaxCLL \(values[0]) cd/m², MaxFALL \(values[1]) cd/m² (\(field))"
  }
}
