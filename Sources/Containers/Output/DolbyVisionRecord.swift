// SPDX-License-Identifier: MPL-2.0
package import H26x

/// What becomes of the configuration of Dolby Vision that the source's container has, and of its sample entry.
package enum DolbyVisionRecord: Sendable, Equatable {
  /// It is copied. If the source has none, it is made from the stream.
  case copied
  /// It is made from the stream, whatever the source has.
  case renewed
  /// It is made from metadata that was inserted, with this profile if there is one. Without a known profile, it is
  /// copied.
  case inserted(DolbyVisionProfile?)
  /// It is that of profile 8.1 now, at the same level.
  case converted
  /// It is left out.
  case removed

  /// Why it cannot be made.
  package static var lacksRPU: String { "the first picture has no RPU of a known profile, by which the record is made" }

  /// Describes a new configuration, for the user.
  package func remark(_ made: DolbyVision.Configuration) -> String {
    let origin =
      switch self {
      case .converted: "converted"
      case .inserted(_?): "made from the stream, with the profile of --dv-profile"
      default: "made from the stream"
      }
    return "the configuration of Dolby Vision is \(origin): profile \(made.profile).\(made.compatibilityID), "
      + "level \(made.level)"
  }

  /// The loss of a configuration that cannot be written, for the user.
  package static var loss: String { "the configuration of Dolby Vision that the stream calls for" }

  /// The configuration in the copy; `nil` for none.
  ///
  /// - Parameters:
  ///   - stated: the source's; `nil` for none.
  ///   - sent: the one that the stream calls for; `nil` for none.
  func configuration(
    stated: DolbyVision.Configuration?, sent: DolbyVision.Configuration?
  ) -> DolbyVision.Configuration? {
    switch self {
    case .copied: stated ?? sent
    case .renewed: sent
    case .inserted: sent ?? stated
    case .converted: (stated ?? sent)?.convertedToProfile8()
    case .removed: nil
    }
  }
}

/// A profile of Dolby Vision for H.264 or H.265: "8.1".
package struct DolbyVisionProfile: Sendable, Equatable {
  /// `dv_profile`.
  package let number: UInt8
  /// `dv_bl_signal_compatibility_id`; `nil` for the one that the stream calls for.
  package let compatibilityID: UInt8?

  /// The compatibilities of each profile (Dolby Vision Profiles and Levels, 2).
  private static let compatibilities: [(number: UInt8, ids: [UInt8])] = [
    (4, [2]), (5, [0]), (7, [6]), (8, [1, 2, 4]), (9, [2]), (20, [0, 4]),
  ]
  private static let all = compatibilities.flatMap { number, ids in
    ([nil] + ids.map(Optional.some)).map { Self(number: number, compatibilityID: $0) }
  }

  private init(number: UInt8, compatibilityID: UInt8?) {
    (self.number, self.compatibilityID) = (number, compatibilityID)
  }

  /// - Returns: `nil` for other text than ``names`` has.
  package init?(text: String) {
    guard let profile = Self.all.first(where: { $0.name == text }) else { return nil }
    self = profile
  }

  package var name: String { compatibilityID.map { "\(number).\($0)" } ?? "\(number)" }
  package static var names: [String] { all.map(\.name) }

  /// The codec of its streams.
  package var codec: FormatDescription.Codec { number == 9 ? .h264 : .h265 }
}
