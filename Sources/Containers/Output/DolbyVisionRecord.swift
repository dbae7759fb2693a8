// SPDX-License-Identifier: MPL-2.0
import H26x

/// What becomes of the configuration of Dolby Vision that the source's container has, and of its sample entry.
package enum DolbyVisionRecord: Sendable {
  /// It is copied. If the source has none, it is made from the stream.
  case copied
  /// It is made from the stream, whatever the source has.
  case renewed
  /// It is that of profile 8.1 now, at the same level.
  case converted
  /// It is left out.
  case removed

  /// Why it cannot be made.
  package static var lacksRPU: String { "the first picture has no RPU of a known profile, by which the record is made" }

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
    case .converted: (stated ?? sent)?.convertedToProfile8()
    case .removed: nil
    }
  }
}
