// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Why there is no output, with the message to post.
struct RepackFailure: Error {
  let flow: FlowError
  /// nil when there is nothing to add to the flow: the element posts that memory failed where that is an error.
  let message: ElementError?

  init(_ flow: FlowError, _ message: ElementError? = nil) {
    self.flow = flow
    self.message = message
  }
}
