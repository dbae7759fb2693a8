// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// An event that is held back, where values that cannot be copied cannot be.
final class HeldEvent {
  private var event: Event?
  let kind: Event.Kind

  init(_ event: consuming Event) {
    kind = event.kind
    self.event = consume event
  }

  func take() -> Event? { event.take() }
}

extension H264Repack {
  /// Takes new caps of the input: passes them on, or holds them until the parameter sets are there.
  func takeCaps(_ event: consuming Event) -> Bool {
    guard let caps = event.caps else { return forward(event) }
    let format: H264RepackFormat
    do throws(ElementError) {
      format = try H264RepackFormat(caps)
    } catch {
      post(error)
      return false
    }
    input = format
    collector.prepare(for: format)
    sets.adopt(format)
    if !format.carriesParameterSets, needsParameterSets(format, caps) {
      // The store may be of the stream that ends here: the next access unit tells.
      heldCaps = HeldEvent(event)
      return true
    }
    heldCaps = nil
    guard forward(event) else {
      explainRefusal()
      return false
    }
    releaseHeldEvents()
    return true
  }

  /// Whether the output's caps can only be made with the parameter sets that are in the stream.
  private func needsParameterSets(_ format: H264RepackFormat, _ caps: borrowing Caps) -> Bool {
    switch predictedOutput(for: caps) {
    case .avc: true
    case .avc3: format.streamFormat != .avc3 || format.record == nil
    case .byteStream, nil: false
    }
  }

  /// Passes a serialized event on, behind the caps.
  func forwardInOrder(_ event: consuming Event) -> Bool {
    guard heldCaps != nil else { return forward(event) }
    heldEvents.append(HeldEvent(event))
    return true
  }

  /// The parameter sets are there: passes on what was held.
  func releaseHeldCaps() throws(FlowError) {
    guard let held = heldCaps?.take() else { return }
    heldCaps = nil
    let again = held.share()
    guard forward(held) else {
      // The segment must not go before the caps: try again with the next access unit.
      heldCaps = HeldEvent(again)
      explainRefusal()
      throw sourcePad.isFlushing ? .flushing : .notNegotiated
    }
    releaseHeldEvents()
  }

  /// The stream ends without parameter sets. Behind a flush they may come after all: the caps stay here, and the segment,
  /// which must not go before them.
  func complainOfHeldCaps() {
    guard heldCaps != nil else { return }
    heldEvents.removeAll { $0.kind == .gap }
    releaseHeldEvents { $0 != .segment }
    let count = statistics.snapshot.droppedBeforeParameterSets
    guard count > 0 else { return }
    post(
      ElementError(
        .stream(.format), "The stream has no parameter sets that its slices could be decoded with.",
        debug: "\(count) access units came without a sequence and a picture parameter set"))
  }

  /// Drops everything of before a flush.
  func flush() {
    collector.flush()
    splitter.removeAll()
    sets.makeAllPending()
    hasLost = false
    heldEvents.removeAll { $0.kind == .segment || $0.kind == .gap }
  }

  /// Puts out the access unit that is being collected: nothing will be added to it.
  func finishAccessUnit() {
    guard collector.finish() else { return }
    do throws(FlowError) {
      while let buffer = try nextOutput() { try sourcePad.push(buffer) }
    } catch {
      // Whoever threw has posted, or downstream has stopped and says so to the next buffer.
      Self.log(.debug, self, "the last access unit did not get out: \(error.rawValue)")
    }
  }

  private func releaseHeldEvents(of kinds: (Event.Kind) -> Bool = { _ in true }) {
    let events = heldEvents
    heldEvents.removeAll { kinds($0.kind) }
    for held in events where kinds(held.kind) {
      if let event = held.take() { _ = forward(event) }
    }
  }
}
