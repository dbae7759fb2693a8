// SPDX-License-Identifier: MPL-2.0
package import AVCodec

/// The failure of a ``CodecOrder``: the codec is lost, or could not be opened.
package struct CodecFailure: Error {
  /// The error of libavcodec, the process or the device.
  let code: AVError
  /// The reason that no device could be opened, no process started, or libavcodec not loaded; nil for other failures.
  let reason: String?

  /// A failure with this error.
  package init(_ code: AVError, reason: String? = nil) {
    self.code = code
    self.reason = reason ?? (code == .decoderNotFound ? CodecLibrary.loadFailure : nil)
  }
}
