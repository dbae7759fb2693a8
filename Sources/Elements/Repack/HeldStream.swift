// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// A caps event, and the serialized events behind it, that wait for parameter sets.
struct HeldStream {
  private var caps: HeldEvent?
  private var events: [HeldEvent] = []

  /// Whether caps wait.
  var holdsCaps: Bool { caps != nil }

  /// Holds caps in place of those held before.
  mutating func hold(caps event: consuming Event) { caps = HeldEvent(event) }

  /// Holds a serialized event behind the caps.
  mutating func hold(_ event: consuming Event) { events.append(HeldEvent(event)) }

  /// The caps are not to wait any longer.
  mutating func takeCaps() -> Event? {
    let held = caps
    caps = nil
    return held?.take()
  }

  /// Forgets the caps; the events behind them go behind those that take their place.
  mutating func forgetCaps() { caps = nil }

  /// The next event that may go: without the caps, no segment may.
  mutating func takeEvent() -> Event? {
    guard let index = events.firstIndex(where: { !holdsCaps || $0.kind != .segment }) else { return nil }
    return events.remove(at: index).take()
  }

  /// What has no meaning behind a flush goes.
  mutating func flush() { events.removeAll { $0.kind == .segment || $0.kind == .gap } }

  /// At the end of the stream no gap is of interest.
  mutating func removeGaps() { events.removeAll { $0.kind == .gap } }
}

/// An event that is held back, where values that cannot be copied cannot be.
private final class HeldEvent {
  private var event: Event?
  let kind: Event.Kind

  init(_ event: consuming Event) {
    kind = event.kind
    self.event = consume event
  }

  func take() -> Event? { event.take() }
}
