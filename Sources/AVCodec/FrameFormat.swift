// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// Layout of samples in memory, by libavutil's number (`AVPixelFormat`). Unknown numbers are kept.
package struct FrameFormat: RawRepresentable, Hashable, Sendable {
  /// The `AVPixelFormat`; −1 for none.
  package let rawValue: Int32
  /// Wraps an `AVPixelFormat`.
  package init(rawValue: Int32) { self.rawValue = rawValue }
  init(_ format: AVPixelFormat) { rawValue = format.rawValue }

  /// libavutil's short name (`yuv420p10le`), the same in all its versions, unlike the number; nil if unknown.
  package var name: String? {
    guard let text = unsafe cav_get_pix_fmt_name(AVPixelFormat(rawValue)) else { return nil }
    return unsafe String(cString: text)
  }

  /// The format of that short name; nil when libavutil has none.
  package init?(name: String) {
    let format = unsafe cav_get_pix_fmt(name)
    guard format != AV_PIX_FMT_NONE else { return nil }
    self.init(format)
  }
}
