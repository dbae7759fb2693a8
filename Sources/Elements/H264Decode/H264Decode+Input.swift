// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

extension H264Decode {
  /// Reads new sink caps.
  func accept(_ state: borrowing VideoCodecState) -> Bool {
    let next: H264DecodeInput
    do throws(ElementError) {
      next = try H264DecodeInput(state)
    } catch {
      post(error, details: details(of: error))
      return false
    }
    if let input, input.nalLengthSize != next.nalLengthSize || input.isNALAligned != next.isNALAligned {
      // Another packaging needs another session: the pictures of this one come first. Whatever hinders that will be
      // met again with the next picture.
      try? drain()
      closeSession()
      tracker = H264.FormatTracker(nalLengthSize: next.nalLengthSize)
    } else if input == nil {
      tracker = H264.FormatTracker(nalLengthSize: next.nalLengthSize)
    }
    tracker.followsDisplay = !next.hasMasteringDisplay || !next.hasContentLight
    tracker.insert(next.parameterSets)
    parameterSetsChanged = next.parameterSets != (input?.parameterSets ?? [])
    input = next
    inputState = state.share()
    inputInfo = state.info
    capsChanged = true
    isLive = upstreamIsLive()
    return true
  }

  private func upstreamIsLive() -> Bool {
    let query = Query.latency()
    guard sinkPad.queryPeer(query) else { return false }
    return query.latency?.isLive ?? false
  }

  /// Decodes an access unit, and puts out what is ready.
  func decode(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    if inputSegment.keyUnitsOnly && !frame.isSyncPoint {
      health.skipped += 1
      release(frame)
      return
    }
    let number = frame.systemFrameNumber
    let isDecodeOnly = frame.isDecodeOnly
    updateSkipping(for: frame)
    let taken =
      try frame.withInput { (buffer) throws(FlowError) -> Bool in
        let map = try buffer.map()
        return try submit(map.bytes, number: number, isDecodeOnly: isDecodeOnly)
      } ?? false
    if taken {
      // The base class keeps the frame until its result ends it.
      _ = consume frame
    } else {
      health.undecodable += 1
      try drop(frame)
    }
    try deliver()
  }

  /// Answers whether the session took the access unit.
  private func submit(_ bytes: Span<UInt8>, number: UInt32, isDecodeOnly: Bool) throws(FlowError) -> Bool {
    let summary = tracker.inspect(bytes)
    guard let next = tracker.format else {
      if health.undecodable == 0 { Self.log(.warning, self, "no parameter sets yet: dropping pictures") }
      return false
    }
    if summary.formatChanged, let session {
      // Behind a splice: the pictures before it belong to the caps before it.
      session.finishSequence(before: bytes)
      try deliver()
    }
    if summary.formatChanged || interlacing == nil { interlacing = Interlacing(next, scan: summary.scan) }
    if summary.formatChanged || summary.displayChanged || capsChanged || session == nil
      || (wantsNewSession && summary.isIDR)
    {
      try prepare(for: next, isRandomAccessPoint: summary.isIDR)
    }
    guard let session else { throw .error }
    do throws(DecodeError) {
      try session.decode(bytes, tag: UInt64(number), doNotOutput: isDecodeOnly)
      return true
    } catch {
      // Empty buffers and the like: nothing to decode.
      Self.log(.debug, self, "access unit \(number) not taken: \(error.message)")
      return false
    }
  }

  /// Leaves out pictures that would be too late, or that the user does not want.
  private func updateSkipping(for frame: borrowing VideoCodecFrame) {
    guard let session else { return }
    var skip = settings.snapshot.skipFrame.sessionValue
    if skip == .none {
      if maximumDecodeTime(of: frame) < 0 || outputSegment.forwardPredictedOnly { skip = .nonReference }
    }
    if session.skipFrames != skip { session.skipFrames = skip }
  }

  /// Makes session and output ready for access units of this format.
  private func prepare(for next: FormatDescription, isRandomAccessPoint: Bool) throws(FlowError) {
    guard let native = PictureLayout(next) else {
      throw fail(
        ElementError(
          .stream(.format), "The stream's sample format cannot be decoded.",
          debug: "\(next.chromaFormat.name) with \(next.lumaBitDepth) bits luma and \(next.chromaBitDepth) chroma"))
    }
    var plan = try planOutput(native: native, format: next)
    let goesOn = session?.canAccept(next) ?? false
    if goesOn, !isRandomAccessPoint, let layout = session?.configuration.outputLayout, layout != plan.sessionLayout {
      // In the middle of a group a new session would have nothing to refer to.
      var kept = native
      if layout == .semiPlanar && native.pixelFormat == .yuv420p { kept.pixelFormat = .nv12 }
      plan = try plan.converting(from: kept)
      plan.sessionLayout = layout
      wantsNewSession = true
    } else {
      wantsNewSession = false
    }
    if let output, !output.isAgreed(plan), session != nil {
      // Pictures of another size or sample format come out before this one's caps go out. When nothing but, say, the
      // frame rate in the caps changed, draining in the middle of a group would only cost time.
      if isRandomAccessPoint || output.layout != plan.layout {
        session?.drain()
        try deliver()
      }
    }
    try agree(on: plan)
    if let session, goesOn, session.configuration.outputLayout == plan.sessionLayout {
      if parameterSetsChanged { try accept(next, in: session) }
    } else {
      session?.drain()
      try deliver()
      closeSession()
      try openSession(for: next, layout: plan.sessionLayout)
    }
    format = next
    capsChanged = false
    parameterSetsChanged = false
    updateLatency()
  }

  private func accept(_ next: FormatDescription, in session: DecompressionSession) throws(FlowError) {
    do throws(DecodeError) {
      try session.accept(next)
    } catch {
      throw fail(error)
    }
  }

  private func openSession(
    for next: FormatDescription, layout: SessionConfiguration.OutputLayout
  ) throws(FlowError) {
    let settings = settings.snapshot
    var configuration = SessionConfiguration()
    configuration.threadCount = settings.threadCount
    // Frame threads cost a live pipeline a frame of latency each.
    configuration.threadType =
      settings.threadType == .automatic && isLive ? .slice : settings.threadType.sessionValue
    configuration.outputCorrupt = settings.outputCorrupt
    configuration.skipFrames = settings.skipFrame.sessionValue
    configuration.lowDelay = settings.lowDelay
    configuration.retries = Int(settings.sessionRetries)
    // Live, a stream that does not speak of reordering has none; a file must not lose a picture.
    configuration.unknownReordering = settings.compliance.sessionValue(isUrgent: isLive || settings.lowDelay)
    configuration.outputLayout = layout
    do throws(DecodeError) {
      session = try DecompressionSession(format: next, configuration: configuration, allocator: allocator)
    } catch {
      throw fail(error)
    }
    Self.log(
      .info, self,
      "session for \(next.profileName ?? "profile \(next.profileIDC)") level \(next.levelName ?? "?"), "
        + "\(next.croppedSize.width)x\(next.croppedSize.height), threads \(settings.threadType), live \(isLive)")
  }
}
