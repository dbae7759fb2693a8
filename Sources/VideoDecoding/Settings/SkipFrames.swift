// SPDX-License-Identifier: MPL-2.0
import AVCodec

extension SessionConfiguration {
  /// Pictures to skip. Each case skips more than the previous case. The two fields of a frame are skipped together.
  public enum SkipFrames: Sendable, CaseIterable {
    /// None.
    case none
    /// Pictures that no other picture refers to.
    case nonReference
    /// B-frames. B-frames of H.264 that others refer to are decoded, but not shown.
    case bidirectional
    /// All but random access points. When skipping ends, pictures are flagged as damaged up to the next random access
    /// point (H.264), or if they refer to skipped pictures (H.265).
    case nonKey

    var codecSkip: CodecSettings.Skip {
      switch self {
      case .none: .none
      case .nonReference: .nonReference
      case .bidirectional: .bidirectional
      case .nonKey: .nonKey
      }
    }
  }
}
