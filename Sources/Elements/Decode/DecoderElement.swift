// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// The common part of the decoders: passes what arrives to the core, and performs its actions.
///
/// All of this runs with the decoder's stream lock held. No access to the core lasts while an action is performed:
/// the called code may call back into the element.
protocol DecoderElement: VideoDecoder {
  /// The codec that it decodes.
  associatedtype Codec: DecoderCodec
  static var log: Log { get }
  var settings: Locked<DecoderSettings> { get }
  /// For the `stats` property, which application threads read.
  var statistics: Locked<DecoderStatistics> { get }
  /// Ends waits for an isolated codec, from any thread.
  var cancellation: Cancellation { get }
  /// Used with the stream lock held, or before and after data flow.
  var core: DecoderCore<Codec> { get set }
}

extension DecoderElement {
  /// Data flow is about to begin.
  func startAnew() {
    cancellation.reset()
    core = DecoderCore<Codec>(log: Self.log, cancellation: cancellation)
    statistics.withLock { $0 = DecoderStatistics() }
  }

  /// Takes the sink caps. Returns whether they can be decoded.
  func begin(_ state: borrowing VideoCodecState) -> Bool {
    guard let input = compressedCaps(of: state) else { return false }
    if let obstacle = input.obstacle {
      post(DecoderMessage(obstacle))
      return false
    }
    core.finish(before: input)
    // A failure to push will recur with the next picture.
    try? perform()
    let isLive = upstreamIsLive()
    core.begin(DecoderInput(caps: input, info: state.info, isLive: isLive))
    return true
  }

  private func compressedCaps(of state: borrowing VideoCodecState) -> CompressedCaps<Codec>? {
    guard let caps = state.caps else { return nil }
    return CompressedCaps<Codec>(caps)
  }

  private func upstreamIsLive() -> Bool {
    let query = Query.latency()
    guard sinkPad.queryPeer(query) else { return false }
    return query.latency?.isLive ?? false
  }

  /// A frame has come.
  func receive(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    guard let isNALAligned = core.isNALAligned else { throw .notNegotiated }
    core.use(settings.snapshot, maximumErrors: maximumErrors)
    let number = frame.systemFrameNumber
    if isNALAligned {
      do throws(FlowError) {
        _ = try frame.withInput { (buffer) throws(FlowError) in try core.receive(number, nalUnits: buffer) }
      } catch {
        throw reported(error, as: .unreadableInput)
      }
    } else {
      core.receive(number)
    }
    // The base class keeps the frame until it is finished, dropped or released.
    _ = consume frame
    try perform()
  }

  /// Outputs everything inside; more may come.
  ///
  /// In forward key-unit trick mode the base class drains after each buffer that is a sync point. Such a buffer may be
  /// one slice of a keyframe, whose other slices come after the drain.
  func drainCore() throws(FlowError) {
    core.drain(keepingBegun: [inputSegment, outputSegment].contains { $0.keyUnitsOnly && $0.rate > 0 })
    try perform()
  }

  /// The stream has ended.
  func endStream() throws(FlowError) {
    core.drain()
    try perform()
    core.end()
    try perform()
  }

  /// An event from upstream, on any thread: a flush does not wait for an isolated codec.
  func cancelWaits(before event: borrowing Event) { if event.kind == .flushStart { cancellation.cancel() } }

  /// A seek: discards everything inside.
  func flushCore() -> Bool {
    cancellation.reset()
    core.flush()
    // Only releases of frames are left, which cannot fail.
    try? perform()
    return true
  }

  // MARK: Performing

  /// Performs the core's actions until there is none. Continues after a failure, so that every frame ends.
  ///
  /// - Throws: the first failure.
  func perform() throws(FlowError) {
    var failure: FlowError?
    while let action = core.nextAction(needsReconfigure: sourcePad.needsReconfigure) {
      do throws(FlowError) {
        if case .finish(let number, _) = action, failure == .endOfStream || failure == .flushing {
          // No more pictures are needed, and several may come together.
          if let frame = frame(number: number) { release(frame) }
        } else {
          try perform(action)
        }
      } catch {
        failure = failure ?? error
      }
    }
    publishStatistics()
    if let failure { throw failure }
    // Pictures are missing: without this the base class would take an end of the stream for one without any.
    if cancellation.isCancelled { throw .flushing }
  }

  private func publishStatistics() {
    let current = core.statistics
    statistics.withLock { $0 = current }
  }

  private func perform(_ action: DecoderAction<Codec>) throws(FlowError) {
    switch action {
    case .decode(let number): try decode(number)
    case .join(let numbers, let first): try join(numbers, to: first)
    case .askDownstream: askDownstream()
    case .negotiate: try negotiateProposal()
    case .finish(let number, let picture): try finish(number, with: picture)
    case .drop(let number): if let frame = frame(number: number) { dropAhead(frame) }
    case .release(let number): if let frame = frame(number: number) { release(frame) }
    case .requestSyncPoint(let number):
      if let frame = frame(number: number) { requestSyncPoint(at: frame, discardInput: false, corruptOutput: false) }
    case .reportFailure(let number, let error):
      guard let frame = frame(number: number) else { return }
      core.failed(error, number: number, pts: frame.pts)
    case .setLatency(let latency):
      Self.log(.info, self, "latency \(latency.nanoseconds) ns")
      setLatency(minimum: latency, maximum: latency)
    case .warn(let message):
      publishStatistics()
      postWarning(message.error, details: message.details)
    case .fail(let message):
      post(message)
      throw .error
    case .log(let level, let text): Self.log(level, self, text)
    }
  }

  private func post(_ message: DecoderMessage<Codec>) {
    publishStatistics()
    post(message.error, details: message.details)
  }

  /// The base class holds the pictures of a group back, to output them backwards.
  var isReverse: Bool { [inputSegment, outputSegment].contains { $0.rate < 0 } }

  private func decode(_ number: FrameNumber) throws(FlowError) {
    guard let frame = frame(number: number) else { return core.discard(number) }
    var request = FrameRequest(
      decoding: DecodeRequest(number, pts: frame.pts, duration: frame.duration), isSyncPoint: frame.isSyncPoint,
      isLate: isLate(frame),
      trickMode: TrickMode(input: inputSegment, output: outputSegment), isReverse: isReverse)
    // Only random access points are needed. The session adds the second fields of those that it decodes.
    request.decoding.isLeftOut = request.trickMode.keyUnitsOnly && !request.isSyncPoint
    do throws(FlowError) {
      let lent: Void? = try frame.withInput { (buffer) throws(FlowError) in
        request.decoding.isDamaged = buffer.flags.contains(.corrupted)
        let map = try buffer.map()
        core.decode(map.bytes, as: request)
      }
      if lent == nil { core.discard(number) }
    } catch {
      core.discard(number)
      throw reported(error, as: .unreadableInput)
    }
  }

  /// Posts a failure to allocate or map memory.
  func reported(_ flow: FlowError, as message: ElementError) -> FlowError {
    if flow == .error { post(DecoderMessage<Codec>(message)) }
    return flow
  }

  private func join(_ numbers: [FrameNumber], to first: FrameNumber) throws(FlowError) {
    guard let whole = frame(number: first) else {
      for number in numbers { if let part = frame(number: number) { release(part) } }
      return
    }
    // Appending to a buffer of 16 memories copies all of them: many parts are gathered and added together.
    let gathers = numbers.count > 15
    var gathered: [UInt8] = []
    var failure: FlowError?
    for number in numbers {
      guard let part = frame(number: number) else { continue }
      // Parameter sets and SEI in front of a keyframe are not sync points, its slices are.
      if part.isSyncPoint { whole.isSyncPoint = true }
      if gathers {
        do throws(FlowError) {
          _ = try part.withInput { (buffer) throws(FlowError) in gathered += try bytes(of: buffer) }
        } catch {
          failure = error
        }
      }
      if let rest = part.withInput({ $0.share() }) {
        whole.modifyInput {
          $0.addMetas(of: rest)
          if rest.flags.contains(.corrupted) { $0.flags.insert(.corrupted) }
          if !gathers { $0.append(rest.share()) }
        }
      }
      // Parsers give the picture's duration to one of an access unit's NAL units, or to each.
      if let duration = part.duration, duration > whole.duration ?? .zero { whole.duration = duration }
      release(part)
    }
    if !gathered.isEmpty {
      if let rest = Buffer(copying: gathered.span) {
        whole.modifyInput { $0.append(rest.share()) }
      } else {
        failure = .error
      }
    }
    if let failure { throw reported(failure, as: .unreadableInput) }
  }

  private func bytes(of buffer: borrowing Buffer) throws(FlowError) -> [UInt8] {
    let map = try buffer.map()
    return map.bytes.copied()
  }

  private func finish(_ number: FrameNumber, with picture: DecodedPicture) throws(FlowError) {
    guard let frame = frame(number: number) else { return }
    var picture = picture
    if core.output.agreed?.layout.isOfDevice != true {
      // It came out before downstream preferred other memory.
      guard let readable = core.session.readable(picture) else { return try drop(frame) }
      picture = readable
    }
    do throws(FlowError) {
      var buffer = try outputBuffer(for: picture)
      setFlags(of: &buffer, for: picture)
      frame.isSyncPoint = picture.isRandomAccessPoint
      // A frame of two fields lasts as long as both of them.
      if let (seconds, attoseconds) = picture.duration?.components {
        let nanoseconds = seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
        frame.duration = ClockTime(nanoseconds: UInt64(clamping: nanoseconds))
      }
      frame.setOutput(buffer)
    } catch {
      release(frame)
      throw error
    }
    try finish(frame)
  }
}
