// SPDX-License-Identifier: MPL-2.0
package import H26x

/// A four-character code, which names a box, a brand or a sample entry type (ISO/IEC 14496-12, 4.2).
public struct FourCharacterCode: RawRepresentable, Sendable, Hashable {
  /// The characters, the first one in the highest byte.
  public let rawValue: UInt32

  /// Creates a code from any number.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Creates a code from the first four bytes of a text, which is padded with spaces.
  public init(_ text: StaticString) {
    var value: UInt32 = 0
    text.withUTF8Buffer { bytes in
      for index in 0..<4 {
        value = value << 8 | UInt32(unsafe index < bytes.count ? bytes[index] : 0x20)
      }
    }
    rawValue = value
  }

  /// The four characters, with `.` for each that is not printable ASCII.
  public var name: String {
    var text = ""
    for shift in [24, 16, 8, 0] as [UInt32] {
      let byte = UInt8(truncatingIfNeeded: rawValue >> shift)
      text.unicodeScalars.append(Unicode.Scalar((0x20...0x7E).contains(byte) ? byte : 0x2E))
    }
    return text
  }
}

extension FourCharacterCode: CustomStringConvertible {
  /// The four characters, as `name` has them.
  public var description: String { name }
}

extension FourCharacterCode {
  /// The codec of this sample entry type (ISO/IEC 14496-15); nil for neither H.264 nor H.265.
  package var videoCodec: FormatDescription.Codec? {
    switch self {
    case "avc1", "avc2", "avc3", "avc4", "dvav", "dva1": .h264
    case "hvc1", "hvc2", "hev1", "hev2", "dvh1", "dvhe": .h265
    default: nil
    }
  }

  /// Whether parameter sets of this sample entry type may be in samples too.
  package var allowsInBandParameterSets: Bool {
    switch self {
    case "avc3", "avc4", "dvav", "hev1", "hev2", "dvhe": true
    default: false
    }
  }
}
