// SPDX-License-Identifier: MPL-2.0
import AVCodec

extension DecompressionSession {
  /// Discards everything inside, and all results not yet fetched: each of these access units is dropped as `flushed`.
  ///
  /// For a seek: the next access unit should be a random access point.
  public func flush() {
    // Their memory is released when `output` is no longer being changed.
    _ = output.flush()
    dropHeld(.flushed)
    dropPending(.flushed)
    forgetEverything()
  }

  /// Drains if `accessUnit`, the next one to decode, begins another coded video sequence without being an IDR picture,
  /// as after a splice: a random access point with another SPS.
  ///
  /// `decode` does so too; for callers that want the results of one sequence before they prepare the next.
  package func finishSequence(before accessUnit: Span<UInt8>) {
    guard !isInvalid else { return }
    if input.lookAhead(accessUnit).beginsOtherSequence { endSequence() }
  }

  /// Ends a coded video sequence at a splice, which libavcodec does not notice: without an IDR picture or another size,
  /// it continues to count POC. With another `pic_order_cnt_type` all following pictures might then seem to come too
  /// late for output.
  func endSequence() {
    dropHeld(.beforeRandomAccessPoint)
    drain()
    forgetEverything()
  }

  /// Outputs everything inside: afterwards each access unit submitted has its result. What waits for a random access
  /// point is decoded without one, as when `SessionConfiguration.startPatience` is over.
  ///
  /// Decoding may continue with any access unit. Unless that is an IDR picture, the session first decodes its
  /// references again, since draining libavcodec makes it forget them.
  public func drain() {
    beginWithoutRandomAccessPoint()
    guard !pending.isEmpty else { return }
    var attempts = max(0, configuration.retries)
    while running != nil, let last = pending.last {
      do throws(AVError) {
        try drainCodec()
        break
      } catch {
        note(error, at: last.index)
        bringBack(to: last.index, error, attempts: &attempts, isDraining: true)
      }
    }
    while let first = pending.first { finishUnseen(first) }
    replay.codecWasDrained()
    forgetReferences(untilReplay: replay.isDue)
    guard !replay.isDue else { return }
    forgetDecoded()
    gate.close()
    if gate.start == .forced { damage.taint(before: input.nextIndex) }
  }

  /// Nothing so far has to do with what follows.
  private func forgetEverything() {
    forgetReferences(untilReplay: false)
    replay.removeAll()
    forgetDecoded()
    gate.reset()
  }

  private func forgetReferences(untilReplay: Bool) {
    // The codec releases pictures, whose owners may ask the session something: nothing is being changed meanwhile.
    codec?.flush()
    running?.forget()
    input.reset(keepsReferences: untilReplay)
    bridge.unlockStrides()
  }

  /// Nothing decoded so far can be referred to any more.
  func forgetDecoded() {
    input.forgetDecoded()
    gate.forgetDecoded()
    damage.reset()
  }

  func dropHeld(_ reason: DropReason) {
    for unit in gate.takeHeld() {
      output.drop(unit.tag, unit.summary.nalUnitType == nil && reason != .flushed ? .noPicture : reason)
    }
  }
}
