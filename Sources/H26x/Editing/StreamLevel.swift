// SPDX-License-Identifier: MPL-2.0

/// A level by its number, the same for both codecs.
public struct StreamLevel: Sendable, Hashable {
  /// Ten times the number: 41 for 4.1.
  public let tenths: UInt8
  /// Level 1b of H.264, whose number is 1.1's or 0.9.
  public let is1b: Bool

  /// Creates a level from ten times its number.
  public init(tenths: UInt8) { (self.tenths, is1b) = (tenths, false) }

  private init() { (tenths, is1b) = (11, true) }

  /// Level 1b of H.264.
  public static var level1b: Self { Self() }

  /// Reads "4.1", "4" or "1b"; nil for other text.
  public init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    func digit(_ index: Int) -> UInt8? { (48...57).contains(bytes[index]) ? bytes[index] - 48 : nil }
    switch bytes.count {
    case 1:
      guard let whole = digit(0) else { return nil }
      self.init(tenths: whole * 10)
    case 2:
      guard bytes[0] == 49, bytes[1] == 98 else { return nil }
      self.init()
    case 3:
      guard let whole = digit(0), bytes[1] == 46, let part = digit(2) else { return nil }
      self.init(tenths: whole * 10 + part)
    default: return nil
    }
  }
}
