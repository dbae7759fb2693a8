// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Why there is no output, with the message to post.
struct RepackFailure: Error {
  let flow: FlowError
  /// nil when there is nothing to post, or it was posted.
  let message: ElementError?

  init(_ flow: FlowError, _ message: ElementError? = nil) {
    self.flow = flow
    self.message = message
  }
}
