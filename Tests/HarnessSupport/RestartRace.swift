// SPDX-License-Identifier: MPL-2.0
public import CGStreamer
private import Glibc

/// Restarts an element on one thread while another pushes into it all the time.
///
/// Applications do so when they restart a branch of a tee while upstream keeps pushing.
@safe public struct RestartRace: Sendable {
  /// An input stream.
  public struct Stream: Sendable {
    /// The caps of the stream.
    public var caps: String
    /// Its access units in decoding order.
    public var accessUnits: [[UInt8]]

    /// A stream of these access units.
    public init(caps: String, accessUnits: [[UInt8]]) { (self.caps, self.accessUnits) = (caps, accessUnits) }
  }

  /// The element as on a gst-launch-1.0 line.
  public var element: String
  /// The caps that downstream accepts.
  public var output: String
  /// The streams that are pushed, one after the other in a loop.
  public var streams: [Stream]

  /// A race of this element.
  public init(element: String, output: String, streams: [Stream]) {
    (self.element, self.output, self.streams) = (element, output, streams)
  }

  /// Goes to `state` and back to `PLAYING`, `cycles` times.
  ///
  /// - Returns: the number of output buffers after the last time.
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
        // In some cycles, time for buffers to come out.
        if cycle % 8 < 3 { usleep(UInt32(cycle % 7) * 150) }
      }
      // Output after the last restart: an element that stopped working is noticed.
      let before = count.value
      for _ in 0..<60_000 where count.value == before { usleep(1000) }
      pusher.end()
      return count.value - before
    }
  }

  /// Ignores GStreamer's warnings of missing sticky events, which are otherwise fatal in tests. A pad that is reset
  /// between an event and the next buffer loses the event. That is not the element's fault.
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
