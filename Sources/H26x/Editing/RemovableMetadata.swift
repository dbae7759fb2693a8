// SPDX-License-Identifier: MPL-2.0

/// Metadata of pictures that ``StreamEdit/removeMetadata(_:isForced:)`` removes.
public enum RemovableMetadata: UInt8, Sendable, CaseIterable {
  /// Captions of CTA-608 and CTA-708 in registered user data.
  case captions
  /// Dynamic metadata of HDR10+ (SMPTE ST 2094-40) in registered user data.
  case hdr10Plus
  /// Dolby Vision: RPUs, and the enhancement layer that they describe.
  case dolbyVision
  /// Static metadata of HDR10: mastering display (SMPTE ST 2086) and content light level.
  case hdr10

  private static let names: [StaticString] = ["captions", "hdr10plus", "dolby-vision", "hdr10"]

  /// Its name in ``StreamEditList``.
  public var name: StaticString { Self.names[Int(rawValue)] }

  /// The names that ``list(_:)`` reads.
  package static var expected: String { "captions, hdr10plus, dolby-vision or hdr10, joined by commas" }

  /// Reads names that are joined by commas; nil for other text.
  static func list(_ text: ArraySlice<UInt8>) -> [Self]? {
    var kinds: [Self] = []
    for part in text.split(separator: EditText.comma, omittingEmptySubsequences: false) {
      guard let index = EditText.index(part, among: names) else { return nil }
      kinds.append(allCases[index])
    }
    return kinds
  }

  /// The types of SEI messages that it may be in.
  var messageTypes: [SEIPayloadType] {
    switch self {
    case .captions, .hdr10Plus: [.userDataRegistered]
    case .dolbyVision: []
    case .hdr10: [.masteringDisplayColourVolume, .contentLightLevel]
    }
  }

  /// Whether it is in all SEI messages of a type.
  func owns(_ type: SEIPayloadType) -> Bool { self == .hdr10 && messageTypes.contains(type) }

  /// The kind of an SEI message; nil for other messages, and for those that cannot be read.
  init?(_ message: borrowing SEIMessages.Message) {
    if Self.hdr10.owns(message.type) {
      self = .hdr10
      return
    }
    guard message.type == .userDataRegistered else { return nil }
    do throws(BitstreamError) {
      let userData = try RegisteredUserData(message)
      guard userData.isHDR10Plus || userData.hasCaptions else { return nil }
      self = userData.isHDR10Plus ? .hdr10Plus : .captions
    } catch {
      return nil
    }
  }
}
