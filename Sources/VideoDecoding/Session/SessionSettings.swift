// SPDX-License-Identifier: MPL-2.0

/// The settings that may change while a session decodes.
struct SessionSettings {
  /// Which pictures are skipped, from the next access unit on.
  var skipFrames: SessionConfiguration.SkipFrames
  /// Whether damaged pictures are output, flagged as corrupted, instead of being dropped. A change applies to the
  /// codec's next picture.
  var outputCorrupt: Bool

  /// The settings with which a session begins.
  init(_ configuration: SessionConfiguration) {
    skipFrames = configuration.skipFrames
    outputCorrupt = configuration.outputCorrupt
  }
}
