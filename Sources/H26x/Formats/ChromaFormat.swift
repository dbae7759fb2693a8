// SPDX-License-Identifier: MPL-2.0

/// Chroma sampling: `chroma_format_idc` (Table 6-1).
public enum ChromaFormat: UInt8, Sendable, CaseIterable {
  /// Luma only.
  case monochrome = 0
  /// 4:2:0: chroma halved in both directions.
  case yuv420 = 1
  /// 4:2:2: chroma halved horizontally.
  case yuv422 = 2
  /// 4:4:4: chroma not subsampled.
  case yuv444 = 3

  /// The value of the caps field `chroma-format`.
  public var name: String {
    switch self {
    case .monochrome: "4:0:0"
    case .yuv420: "4:2:0"
    case .yuv422: "4:2:2"
    case .yuv444: "4:4:4"
    }
  }
}
