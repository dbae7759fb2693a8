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
  package static var loss: String { "the configuration of Dolby Vision by the stream" }

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

/// A profile of Dolby Vision: "8.1".
package struct DolbyVisionProfile: Sendable, Equatable {
  /// `dv_profile`, 0 to 127.
  package let number: UInt8
  /// `dv_bl_signal_compatibility_id`, 0 to 15; `nil` for the one that the stream calls for.
  package let compatibilityID: UInt8?

  /// - Returns: `nil` for other text than "8" or "8.1".
  package init?(text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard 1...2 ~= parts.count, parts.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }),
      let number = UInt8(parts[0]), number < 128
    else { return nil }
    self.number = number
    guard parts.count == 2 else {
      compatibilityID = nil
      return
    }
    guard let id = UInt8(parts[1]), id < 16 else { return nil }
    compatibilityID = id
  }
}
