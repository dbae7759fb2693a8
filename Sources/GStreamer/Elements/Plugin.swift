// SPDX-License-Identifier: MPL-2.0

/// A plugin that is being loaded, as passed to its initializer.
@safe public struct Plugin {
  /// The C object.
  @unsafe public let raw: OpaquePointer
  /// Wraps the plugin that GStreamer passes to the initializer.
  @unsafe public init(raw: OpaquePointer) { unsafe self.raw = raw }
}
