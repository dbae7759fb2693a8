// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// Output and session are made ready for an access unit before it is decoded.
extension DecoderCore {
  mutating func nextAction(for accessUnit: WaitingAccessUnit, _ needsReconfigure: Bool) -> DecoderAction<Codec>? {
    switch preparation {
    case .done: return .decode(accessUnit.number)
    case .planning: return .askDownstream
    case .negotiating(let plan):
      if output.isAgreed(plan) && !needsReconfigure { agreed() } else { output.propose(plan) }
    case .opening(let plan): open(by: plan)
    }
    return nil
  }

  /// Plans the output, for the picture that is to go out or else for the access unit whose turn it is.
  ///
  /// - Parameters:
  ///   - allowed: what both pads allow; `nil` when nothing is linked.
  ///   - needsReconfigure: downstream asks to agree anew.
  mutating func plan(allowed: borrowing Caps?, needsReconfigure: Bool) {
    do throws(ElementError) {
      if let outgoing {
        let plan = try plan(for: outgoing.picture, allowed: allowed)
        if let plan, !output.isAgreed(plan) || needsReconfigure { output.propose(plan) } else { agreed() }
      } else if let accessUnit = waiting.first, case .planning = preparation {
        try plan(for: accessUnit, allowed: allowed)
      }
    } catch {
      fail(DecoderMessage(error))
    }
  }

  private mutating func plan(for accessUnit: WaitingAccessUnit, allowed: borrowing Caps?) throws(ElementError) {
    guard let format = formats.format, let summary = accessUnit.summary else {
      return end(accessUnit, .release(accessUnit.number))
    }
    output.expect(format, scan: summary.scan, isNew: formats.isNewFormat)
    let layout = summary.isIDR || !session.canContinue(with: format) ? nil : session.layout
    let (plan, isOfSession) = try output.plan(format, stream: formats, keeping: layout, allowed: allowed)
    session.replaceSoon(!isOfSession)
    // Pictures of another size or sample format come out before this one's caps go out. When nothing but, say, the
    // frame rate in the caps changed, draining in the middle of a group would only cost time.
    if let agreed = output.agreed, !agreed.isAgreed(plan), summary.isIDR || agreed.layout != plan.layout {
      session.drain()
    }
    preparation = .negotiating(plan)
  }

  private mutating func plan(
    for picture: DecodedPicture, allowed: borrowing Caps?
  ) throws(ElementError) -> OutputPlan? {
    guard let format = formats.settledFormat else { return nil }
    let (plan, isOfSession) = try output.plan(picture, of: format, stream: formats, allowed: allowed)
    // The session keeps putting out what it was made for until it can be replaced.
    if !isOfSession { session.replaceSoon(true) }
    return plan
  }

  /// The plan to agree on with downstream now.
  mutating func takeProposal() -> OutputPlan? { output.takeProposal() }

  /// Downstream answered what its buffers are like.
  mutating func choosePool(isDirect: Bool) { output.choosePool(isDirect: isDirect) }

  /// Downstream agreed to the plan; pictures go into this pool.
  mutating func negotiated(_ plan: OutputPlan, pool: consuming BufferPool?) {
    do throws(ElementError) {
      let line = try output.negotiated(plan, pool: pool)
      if let line { note(.info, line) }
      agreed()
    } catch {
      fail(DecoderMessage(error))
    }
  }

  /// Downstream did not agree: what was to go out cannot.
  mutating func negotiationFailed() {
    output.negotiationFailed()
    fail(nil)
  }

  private mutating func agreed() {
    if outgoing != nil {
      outgoing?.isAgreed = true
    } else if case .negotiating(let plan) = preparation {
      preparation = .opening(plan)
      if !keepsSession(plan) { session.drain() }
    }
  }

  private func keepsSession(_ plan: OutputPlan) -> Bool {
    guard let format = formats.format else { return false }
    return session.canContinue(with: format) && session.layout == plan.sessionLayout
  }

  private mutating func open(by plan: OutputPlan) {
    guard let format = formats.format else { return fail(nil) }
    let allocator = output.allocator
    do throws(DecodeError) {
      if !keepsSession(plan) {
        try session.open(
          format, layout: plan.sessionLayout, settings: settings, isLive: isLive, allocator: allocator)
        let (threads, isLive) = (settings.threadType, isLive)
        note(.info, "session for \(format.summary), threads \(threads), live \(isLive)")
      } else if formats.hasNewParameterSets {
        try session.accept(format)
      }
      formats.settle()
      preparation = .done
      updateLatency()
    } catch {
      fail(DecoderMessage(error))
    }
  }

  /// What was to go out, or in, does not; with a message that ends the stream, if there is one.
  private mutating func fail(_ message: DecoderMessage<Codec>?) {
    if let outgoing {
      errands.append(.release(outgoing.number))
      self.outgoing = nil
    } else if let accessUnit = waiting.first {
      end(accessUnit, .release(accessUnit.number))
    }
    if let message { errands.append(.fail(message)) }
  }
}

extension FormatDescription {
  /// Profile, level and size, for the log.
  fileprivate var summary: String {
    "\(profileName ?? "profile \(profileIDC)") level \(levelName ?? "?"), \(croppedSize.width)x\(croppedSize.height)"
  }
}
