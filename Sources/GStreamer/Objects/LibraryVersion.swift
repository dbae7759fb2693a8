// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// The version of GStreamer in this process, which may be later than its headers' version.
package enum LibraryVersion {
  /// Whether it is this version, or a later one.
  package static func isAtLeast(_ major: UInt32, _ minor: UInt32) -> Bool {
    var version: (major: guint, minor: guint, micro: guint, nano: guint) = (0, 0, 0, 0)
    unsafe gst_version(&version.major, &version.minor, &version.micro, &version.nano)
    return (version.major, version.minor) >= (major, minor)
  }
}
