// SPDX-License-Identifier: MPL-2.0
import H26x
import VideoDecoding

/// How a session decodes what comes from strangers.
func cautiousConfiguration() -> SessionConfiguration {
  var configuration = SessionConfiguration()
  let limits = ProcessLimits(timeout: .seconds(5), memory: 1 << 30, sandbox: .required)
  configuration.isolation = .process(limits)
  return configuration
}

/// Ends the waits of a session that has this configuration, from any thread, when the task is cancelled.
func decode(_ accessUnits: AccessUnits<WholeStream>, unless cancellation: Cancellation) async throws -> Int {
  var configuration = cautiousConfiguration()
  configuration.cancellation = cancellation
  return try await withTaskCancellationHandler {
    var count = 0
    for try await _ in DecodedPictures(of: accessUnits, configuration: configuration) { count += 1 }
    return count
  } onCancel: {
    cancellation.cancel()
  }
}
