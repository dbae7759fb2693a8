// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer

extension Harness {
  private final class Warnings: Sendable { let texts = Locked<[String]>([]) }

  /// Takes the warnings that GStreamer and elements log by `g_warning` meanwhile, which are fatal in tests otherwise.
  public static func warnings(during body: () throws -> Void) rethrows -> [String] {
    let found = Warnings()
    let fatal = g_log_set_always_fatal(
      GLogLevelFlags(rawValue: G_LOG_LEVEL_CRITICAL.rawValue | G_LOG_LEVEL_ERROR.rawValue))
    let handler = unsafe g_log_set_handler(
      "GStreamer", G_LOG_LEVEL_WARNING,
      { _, _, message, data in
        guard let data = unsafe data, let message = unsafe message else { return }
        let text = unsafe String(cString: message)
        unsafe Unmanaged<Warnings>.fromOpaque(data).takeUnretainedValue().texts.withLock { $0.append(text) }
      }, Unmanaged.passUnretained(found).toOpaque())
    defer {
      unsafe g_log_remove_handler("GStreamer", handler)
      g_log_set_always_fatal(fatal)
    }
    try body()
    return found.texts.snapshot
  }
}
