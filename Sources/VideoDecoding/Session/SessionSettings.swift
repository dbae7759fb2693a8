// SPDX-License-Identifier: MPL-2.0

/// What may change while a session decodes.
struct SessionSettings {
  /// Which pictures are skipped, from the next access unit on.
  var skipFrames: SessionConfiguration.SkipFrames
  /// Whether damaged pictures are output, flagged, rather than dropped; from the next picture that the codec outputs on.
  var outputCorrupt: Bool
  /// Attempts to restart a lost codec before an access unit fails, from the next loss on.
  var retries: Int

  /// The settings with which a session begins.
  init(_ configuration: SessionConfiguration) {
    skipFrames = configuration.skipFrames
    outputCorrupt = configuration.outputCorrupt
    retries = configuration.retries
  }
}
