// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// A constraint flag of the general profile that restricts what a stream of any profile has (7.4.4). All others are
  /// a part of the profile itself.
  public enum SourceConstraint: UInt8, Sendable, CaseIterable {
    /// `general_progressive_source_flag`.
    case progressiveSource
    /// `general_interlaced_source_flag`.
    case interlacedSource
    /// `general_non_packed_constraint_flag`: no frame packing arrangement SEI.
    case nonPacked
    /// `general_frame_only_constraint_flag`: no pictures that are fields.
    case frameOnly

    private static let names: [StaticString] = ["progressive-source", "interlaced-source", "non-packed", "frame-only"]

    /// Reads its name, such as "progressive-source"; nil for other text.
    init?(text: ArraySlice<UInt8>) {
      guard let index = EditText.index(text, among: Self.names) else { return nil }
      self = Self.allCases[index]
    }

    /// The names that ``init(text:)`` reads.
    package static var list: String { "progressive-source, interlaced-source, non-packed or frame-only" }
  }
}
