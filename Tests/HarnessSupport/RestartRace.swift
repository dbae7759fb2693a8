// SPDX-License-Identifier: MPL-2.0
public import CGStreamer
private import Glibc

/// An element that is stopped and started on one thread while another pushes into it for ever.
///
/// Applications do so when they restart a branch behind a tee, or a decoder whose upstream knows nothing of it.
@safe public struct RestartRace: Sendable {
  /// What flows in.
  public struct Stream: Sendable {
    public var caps: String
    public var accessUnits: [[UInt8]]

    public init(caps: String, accessUnits: [[UInt8]]) { (self.caps, self.accessUnits) = (caps, accessUnits) }
  }

  /// The element as on a gst-launch-1.0 line.
  public var element: String
  /// The caps that downstream takes.
  public var output: String
  /// They take turns.
  public var streams: [Stream]

  public init(element: String, output: String, streams: [Stream]) {
    (self.element, self.output, self.streams) = (element, output, streams)
  }

  /// Goes to `state` and back to `PLAYING` as often as `cycles` says.
  ///
  /// - Returns: how many buffers have come out.
  public func run(to state: GstState, cycles: Int) throws -> Int {
    let count = Counter()
    let bench = try PadBench(element, output: output) { _, moment in
      if case .buffer = moment { count.increment() }
    }
    return Self.withoutWarningsOfStickyEvents {
      bench.go(to: GST_STATE_PLAYING)
      let streams = streams
      let pusher = BackgroundThread {
        for stream in streams {
          bench.begin(caps: stream.caps)
          for (index, unit) in stream.accessUnits.enumerated() { bench.push(unit, pts: UInt64(index) * 40_000_000) }
        }
      }
      for cycle in 0..<cycles {
        bench.go(to: state)
        bench.go(to: GST_STATE_PLAYING)
        // Now and then long enough for buffers to come out.
        if cycle % 8 < 3 { usleep(UInt32(cycle % 7) * 150) }
      }
      // Once more at rest, so that a lame element is seen.
      usleep(200_000)
      pusher.end()
      return count.value
    }
  }

  /// Pads that are reset between an event and the buffer behind it miss the event, which GStreamer warns of. That is
  /// the application's doing, not the element's; warnings are fatal in tests otherwise.
  private static func withoutWarningsOfStickyEvents<Result>(_ body: () -> Result) -> Result {
    let fatal = g_log_set_always_fatal(
      GLogLevelFlags(rawValue: G_LOG_LEVEL_CRITICAL.rawValue | G_LOG_LEVEL_ERROR.rawValue))
    let handler = unsafe g_log_set_handler(
      "GStreamer", G_LOG_LEVEL_WARNING,
      { domain, level, message, data in
        guard let message = unsafe message else { return }
        if unsafe strstr(message, "data flow before") != nil || strstr(message, "Sticky event misordering") != nil {
          return
        }
        unsafe g_log_default_handler(domain, level, message, data)
        abort()
      }, nil)
    defer {
      unsafe g_log_remove_handler("GStreamer", handler)
      g_log_set_always_fatal(fatal)
    }
    return body()
  }
}
