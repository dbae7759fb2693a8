// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// What becomes of access units: results end their frames.
extension DecoderCore {
  mutating func take(_ result: SessionResult, _ needsReconfigure: Bool) {
    let number = FrameNumber(truncatingIfNeeded: result.tag)
    switch result {
    case .frame(let picture):
      if picture.isCorrupt { requestSyncPoint(for: number) } else { health.pictureDecoded() }
      outgoing = OutgoingPicture(
        number: number, picture: picture, isAgreed: output.fits(picture) && !needsReconfigure)
    case .dropped(_, let reason):
      note(.debug, "frame \(number) dropped: \(reason)")
      switch reason {
      case .secondField, .noPicture, .doNotOutput, .flushed, .notShown:
        // Nothing that anyone should miss.
        errands.append(.release(number))
      case .beforeRandomAccessPoint, .noReference, .sessionLost, .corrupt:
        requestSyncPoint(for: number)
        errands.append(.drop(number))
      case .skipped:
        errands.append(.dropAhead(number))
      }
    case .failed(_, let error):
      errands.append(.reportFailure(number, error))
    }
  }

  mutating func requestSyncPoint(for number: FrameNumber) {
    if health.mayRequestSyncPoint() { errands.append(.requestSyncPoint(number)) }
  }

  /// A frame does not decode that was to be shown at this time.
  mutating func failed(_ error: DecodeError, number: FrameNumber, pts: ClockTime?) {
    requestSyncPoint(for: number)
    errands.append(.dropAhead(number))
    let fault = PictureFault<Codec>(error: error, frameNumber: number, pts: pts)
    switch health.judge(fault, limit: maximumErrors) {
    case .ignore: break
    case .log: note(.warning, fault.description)
    // Of a lost codec the session's notice tells.
    case .warn: if !session.isLost { errands.append(.warn(DecoderMessage(fault))) }
    // The pictures before it wait inside for their turn: they are shown before the stream ends.
    case .giveUp: session.drain()
    }
  }

  mutating func nextAction(for outgoing: OutgoingPicture) -> DecoderAction<Codec>? {
    guard outgoing.isAgreed else { return .askDownstream }
    updateLatency()
    if let due = latency.takeDue() { return .setLatency(due) }
    self.outgoing = nil
    return .finish(outgoing.number, outgoing.picture)
  }

  /// A picture was copied on its way out.
  mutating func pictureCopied() { health.pictureCopied() }

  mutating func updateLatency() {
    guard let frames = session.latency else { return }
    latency.update(
      frames: frames + (input?.isNALAligned == true && collection.waitsForNext ? 1 : 0),
      rate: output.agreed?.info.frameRate)
  }
}
