// SPDX-License-Identifier: MPL-2.0

extension ColourDescription {
  /// The names that ``init(text:)`` reads.
  package static var names: String {
    "bt709, bt601-525, bt601-625, bt2020, bt2020-pq, bt2020-hlg, p3-pq, srgb, or PRIMARIES:TRANSFER:MATRIX"
  }

  private static let known: [(StaticString, ColourDescription)] = [
    ("bt709", ColourDescription(primaries: 1, transfer: 1, matrix: 1)),
    ("bt601-525", ColourDescription(primaries: 6, transfer: 6, matrix: 6)),
    ("bt601-625", ColourDescription(primaries: 5, transfer: 6, matrix: 5)),
    ("bt2020", ColourDescription(primaries: 9, transfer: 14, matrix: 9)),
    ("bt2020-pq", ColourDescription(primaries: 9, transfer: 16, matrix: 9)),
    ("bt2020-hlg", ColourDescription(primaries: 9, transfer: 18, matrix: 9)),
    ("p3-pq", ColourDescription(primaries: 12, transfer: 16, matrix: 9)),
    // Of BT.709's matrix: RGB itself needs 4:4:4.
    ("srgb", ColourDescription(primaries: 1, transfer: 13, matrix: 1)),
  ]

  /// Reads a name of ``names``, or the three numbers of H.273: "9:16:9".
  init?(text: ArraySlice<UInt8>) {
    if let (_, colour) = Self.known.first(where: { EditText.isEqual(text, $0.0) }) {
      self = colour
      return
    }
    let codes = EditText.numbers(text, count: 3, upTo: 255) { $0 == EditText.colon }
    guard let codes else { return nil }
    self.init(primaries: UInt8(codes[0]), transfer: UInt8(codes[1]), matrix: UInt8(codes[2]))
  }
}

extension Ratio {
  /// Reads a shape: "64:45" or "64/45".
  init?(aspect text: ArraySlice<UInt8>) {
    let terms = EditText.numbers(text, count: 2, upTo: .max) { $0 == EditText.colon || $0 == EditText.slash }
    guard let terms else { return nil }
    self.init(terms[0], terms[1])
  }

  /// Reads frames a second: "25", "30000/1001", or "29.97", which means 30000/1001.
  package init?(frameRate text: some StringProtocol) {
    let bytes = Array(text.utf8)
    if bytes.contains(EditText.slash) {
      let terms = EditText.numbers(bytes[...], count: 2, upTo: .max) { $0 == EditText.slash }
      guard let terms else { return nil }
      self.init(terms[0], terms[1])
      return
    }
    let parts = bytes.split(separator: EditText.point, omittingEmptySubsequences: false)
    guard parts.count <= 2, let whole = EditText.number(parts[0], upTo: 99_999) else { return nil }
    var millionths: UInt64 = 0
    if parts.count == 2 {
      guard parts[1].count <= 6, let fraction = EditText.number(parts[1], upTo: 999_999) else { return nil }
      millionths = UInt64(fraction) * [100_000, 10_000, 1_000, 100, 10, 1][parts[1].count - 1]
    }
    let rate = UInt64(whole) * 1_000_000 + millionths
    // 23.976, 29.97 and 59.94 mean 24000/1001, 30000/1001 and 60000/1001.
    let thousands = (rate * 1001 / 1000 + 500_000) / 1_000_000
    let meant = thousands * 1_000_000_000 / 1001
    if millionths > 0, max(meant, rate) - min(meant, rate) < 5_000 {
      self.init(wide: thousands * 1000, 1001)
    } else {
      self.init(wide: rate, 1_000_000)
    }
  }
}

extension CropMargins {
  /// Reads "LEFT,RIGHT,TOP,BOTTOM".
  init?(text: ArraySlice<UInt8>) {
    let margins = EditText.numbers(text, count: 4, upTo: .max) { $0 == EditText.comma }
    guard let margins else { return nil }
    self.init(left: margins[0], right: margins[1], top: margins[2], bottom: margins[3])
  }
}
