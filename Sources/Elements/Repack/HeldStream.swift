// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// A caps event and the serialized events after it, which wait for parameter sets.
struct HeldStream {
  private var caps: HeldEvent?
  private var events: [HeldEvent] = []

  /// Whether caps wait.
  var holdsCaps: Bool { caps != nil }

  /// Holds caps in place of those held before.
  mutating func hold(caps event: consuming Event) { caps = HeldEvent(event) }

  /// Holds a serialized event after the caps. The latest of consecutive gaps is kept, and the latest events up to the
  /// limit.
  mutating func hold(_ event: consuming Event) {
    if event.kind == .gap, events.last?.kind == .gap { events.removeLast() }
    if events.count >= Self.limit, let index = events.firstIndex(where: { $0.kind != .segment }) {
      events.remove(at: index)
    }
    events.append(HeldEvent(event))
  }

  /// Events held at most.
  static var limit: Int { 1_000 }

  /// Takes the caps, which need not wait any longer.
  mutating func takeCaps() -> Event? {
    let held = caps
    caps = nil
    return held?.take()
  }

  /// Discards the caps; the events after them follow the next caps.
  mutating func forgetCaps() { caps = nil }

  /// The next event that may be sent: no segment is sent before the caps.
  mutating func takeEvent() -> Event? {
    guard let index = events.firstIndex(where: { !holdsCaps || $0.kind != .segment }) else { return nil }
    return events.remove(at: index).take()
  }

  /// Discards what a flush makes void.
  mutating func flush() { events.removeAll { $0.kind == .segment || $0.kind == .gap } }

  /// Discards gaps, which the end of the stream makes void.
  mutating func removeGaps() { events.removeAll { $0.kind == .gap } }
}

/// A class, because events are not copyable, and arrays hold only copyable values.
final class HeldEvent {
  private var event: Event?
  let kind: Event.Kind

  init(_ event: consuming Event) {
    kind = event.kind
    self.event = consume event
  }

  func take() -> Event? { event.take() }
}
