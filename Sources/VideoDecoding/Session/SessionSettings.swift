// SPDX-License-Identifier: MPL-2.0

/// What may change while a session decodes, with effect from the next access unit on.
struct SessionSettings {
  /// Which pictures are skipped.
  var skipFrames: SessionConfiguration.SkipFrames
  /// Whether damaged pictures are output, flagged, rather than dropped.
  var outputCorrupt: Bool
  /// Attempts to restart a lost codec before an access unit fails.
  var retries: Int

  /// The settings with which a session begins.
  init(_ configuration: SessionConfiguration) {
    skipFrames = configuration.skipFrames
    outputCorrupt = configuration.outputCorrupt
    retries = configuration.retries
  }
}
