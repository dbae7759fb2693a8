// SPDX-License-Identifier: MPL-2.0
@testable import VideoDecoding

extension StreamFollower {
  /// Reads the next access unit, and takes it.
  mutating func inspect(_ accessUnit: Span<UInt8>, index: UInt64) -> DecodingSummary {
    inspect(accessUnit, read(accessUnit), index: index)
  }
}
