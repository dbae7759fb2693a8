// SPDX-License-Identifier: MPL-2.0
import CAVFormat

/// libavformat, which is loaded with its first use.
package enum FormatLibrary {
  /// Loads the library, after which it and libavcodec write nothing to standard error. Does nothing a second time, and
  /// without the library.
  package static func silence() { _ = isAvailable }

  /// Whether the library is there. The first use loads and silences it.
  package static let isAvailable: Bool = {
    guard cavformat_version() > 0 else { return false }
    cav_log_set_level(AV_LOG_QUIET)
    return true
  }()

  /// The version as major, minor and micro; nil if the library is missing.
  package static var version: (major: Int, minor: Int, micro: Int)? {
    let number = Int(cavformat_version())
    return number > 0 ? (number >> 16, number >> 8 & 255, number & 255) : nil
  }

  /// Whether cropping, and the rotation of Matroska, are read and written: from FFmpeg 7.1 on.
  package static var keepsGeometry: Bool { version.map { ($0.major, $0.minor) >= (61, 7) } ?? false }
}
