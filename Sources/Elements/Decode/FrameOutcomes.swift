// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// Stage: the outcomes of frames, and the reports about them, as actions for the element.
struct FrameOutcomes<Codec: DecoderCodec> {
  private let log: Log
  private var health = DecoderHealth<Codec>()
  /// Those that come before anything else.
  private var actions: [DecoderAction<Codec>] = []

  init(log: Log) { self.log = log }

  /// Adds an action.
  mutating func add(_ action: DecoderAction<Codec>) { actions.append(action) }

  /// Releases frames, with no QoS message.
  mutating func release(_ numbers: some Sequence<FrameNumber>) { actions += numbers.map { .release($0) } }

  /// The next action; nil when there is none.
  mutating func next() -> DecoderAction<Codec>? { actions.isEmpty ? nil : actions.removeFirst() }

  /// Writes to the debug log.
  mutating func note(_ level: Log.Level, _ text: @autoclosure () -> String) {
    if log.isEnabled(level) { actions.append(.log(level, text())) }
  }

  /// A session was created.
  mutating func sessionOpened(_ format: FormatDescription, _ settings: DecoderSettings, isLive: Bool) {
    note(.info, "session for \(format.summary), threads \(settings.threadType), live \(isLive)")
  }

  // MARK: Access units that are not decoded

  /// Reports once that nothing could be decoded so far.
  ///
  /// - Parameter isUsable: whether the next access unit can be.
  mutating func judge(isUsable: Bool) {
    if isUsable {
      health.accessUnitTaken()
    } else if let message = health.accessUnitUnusable() {
      add(.warn(message))
    }
  }

  /// Skips an access unit without a picture to output.
  mutating func skip(_ number: FrameNumber) {
    health.accessUnitSkipped()
    add(.release(number))
  }

  /// An access unit that came before the parameter sets.
  mutating func refuse(_ number: FrameNumber, hasSlice: Bool) {
    // Only parameter sets or the like: no picture is missed.
    guard hasSlice else { return skip(number) }
    if health.accessUnitRefused() { note(.warning, "no parameter sets yet: dropping pictures") }
    add(.drop(number))
  }

  /// An access unit that the session does not take, such as an empty one.
  mutating func refuse(_ number: FrameNumber, _ error: DecodeError) {
    note(.debug, "access unit \(number) rejected: \(error.message)")
    _ = health.accessUnitRefused()
    add(.drop(number))
  }

  // MARK: Results

  /// Takes a picture to output.
  mutating func take(_ picture: DecodedPicture, of number: FrameNumber) {
    if picture.isCorrupt { requestSyncPoint(for: number) } else { health.pictureDecoded() }
  }

  /// A frame has no picture, for this reason.
  mutating func drop(_ number: FrameNumber, _ reason: DropReason) {
    note(.debug, "frame \(number) dropped: \(reason)")
    switch reason {
    case .secondField, .noPicture, .doNotOutput, .flushed, .notShown:
      // No picture is missed.
      add(.release(number))
    case .beforeRandomAccessPoint, .noReference, .sessionLost, .corrupt:
      requestSyncPoint(for: number)
      add(.drop(number))
    case .skipped, .outOfOrder: add(.drop(number))
    }
  }

  /// A frame could not be decoded.
  ///
  /// - Parameters:
  ///   - limit: failures in a row that are allowed; below 0 without limit.
  ///   - isLost: whether the codec is lost, which its own notice reports.
  /// - Returns: whether decoding is given up, once earlier pictures are output.
  mutating func fail(_ number: FrameNumber, _ error: DecodeError, pts: ClockTime?, limit: Int32, isLost: Bool) -> Bool {
    requestSyncPoint(for: number)
    add(.drop(number))
    let fault = PictureFault<Codec>(error: error, frameNumber: number, pts: pts)
    switch health.judge(fault, limit: limit) {
    case .ignore: break
    case .log: note(.warning, fault.description)
    case .warn: if !isLost { add(.warn(DecoderMessage(fault))) }
    case .giveUp: return true
    }
    return false
  }

  /// Has a random access point requested from upstream, unless one was just requested.
  mutating func requestSyncPoint(for number: FrameNumber) {
    if health.mayRequestSyncPoint() { add(.requestSyncPoint(number)) }
  }

  /// A picture was copied on its way out.
  mutating func pictureCopied() { health.pictureCopied() }

  // MARK: Messages

  /// The warning for what a session has to report next; `nil` for none.
  mutating func nextWarning(of session: inout DecoderSession) -> DecoderAction<Codec>? {
    while let notice = session.nextNotice() {
      if let message = message(for: notice) { return .warn(message) }
    }
    return nil
  }

  /// `nil` if an error follows.
  private mutating func message(for notice: SessionNotice) -> DecoderMessage<Codec>? {
    switch notice {
    case .codecLost(let error): health.codecLost(error)
    case .beganWithoutRandomAccessPoint: .noRandomAccessPoint
    case .softwareFallback(let reason): .softwareFallback(reason: reason)
    case .incompleteSandbox(let missing): .incompleteSandbox(missing: missing)
    }
  }

  /// The error that ends the stream, once.
  mutating func takeVerdict() -> DecoderMessage<Codec>? { health.takeVerdict() }

  /// The stream has ended, and the session has output everything.
  mutating func end(_ session: DecoderSession) {
    if session.isLost, let message = health.lossAtTheEnd {
      add(.fail(message))
    } else if !session.isOpen, let error = health.missingParameterSets {
      add(.fail(DecoderMessage(error)))
    }
  }

  /// A seek: nothing of before is done any more, and failures before it do not count.
  mutating func flush() {
    actions.removeAll(keepingCapacity: true)
    health.flush()
  }

  /// With what the sessions did, for the `stats` property.
  func statistics(_ session: SessionStatistics) -> DecoderStatistics {
    DecoderStatistics(
      session: session, refused: health.refused, copied: health.copied, lastFault: health.lastFault)
  }
}

extension FormatDescription {
  /// Profile, level and size, for the log.
  fileprivate var summary: String {
    "\(profileName ?? "profile \(profileIDC)") level \(levelName ?? "?"), \(croppedSize.width)x\(croppedSize.height)"
  }
}
