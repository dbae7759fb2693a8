// SPDX-License-Identifier: MPL-2.0

/// The kinds of block that statistics tell apart. Each sample of a picture belongs to one kind.
public enum BlockKind: UInt8, Sendable, CaseIterable {
  /// Predicted from the same picture.
  case intra
  /// Samples without prediction (I_PCM and `pcm_flag`).
  case pcm
  /// Coded by a palette (H.265).
  case palette
  /// Predicted from other pictures, with vectors of its own.
  case inter
  /// Predicted from other pictures with the vectors of neighbors: direct in H.264, merged in H.265. Not skipped.
  case direct
  /// Skipped: predicted from other pictures, without vectors of its own and without differences.
  case skip

  /// Its name in documents.
  public var name: StaticString {
    switch self {
    case .intra: "intra"
    case .pcm: "pcm"
    case .palette: "palette"
    case .inter: "inter"
    case .direct: "direct"
    case .skip: "skip"
    }
  }
}
