// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// The function of a thread, and what becomes of its result.
private final class ThreadBody: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Calls a function that may block on a thread of its own: Swift's pool has few threads.
///
/// If no thread can be made, the function is called on this thread.
package func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
  let data = unsafe Unmanaged.passRetained(ThreadBody(body))
  let thread = unsafe g_thread_try_new(
    name,
    { data in
      if let data = unsafe data { unsafe Unmanaged<ThreadBody>.fromOpaque(data).takeRetainedValue().body() }
      return nil
    }, data.toOpaque(), nil)
  if let thread = unsafe thread { unsafe g_thread_unref(thread) } else { unsafe data.takeRetainedValue().body() }
}

/// The result of a function that may block, which is called on a thread of its own.
package func onThread<Result: Sendable>(_ name: String, _ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in startThread(name) { continuation.resume(returning: body()) } }
}
