// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Why no output can be made, with what the bus is to be told of it.
struct RepackFailure: Error {
  let flow: FlowError
  /// nil when there is nothing to say, or it was said.
  let message: ElementError?

  init(_ flow: FlowError, _ message: ElementError? = nil) {
    self.flow = flow
    self.message = message
  }
}
