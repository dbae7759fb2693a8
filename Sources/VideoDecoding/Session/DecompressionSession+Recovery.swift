// SPDX-License-Identifier: MPL-2.0
import AVCodec

extension DecompressionSession {
  /// Opens the first codec.
  func openInitially() throws(DecodeError) {
    var attempts = max(0, configuration.retries)
    while true {
      do throws(AVError) {
        return try open()
      } catch {
        output.note(DecodeError(opening: error))
        guard error.meansLostSession, attempts > 0 else { throw DecodeError(opening: error) }
        attempts -= 1
      }
    }
  }

  private func open() throws(AVError) {
    var settings = CodecSettings(codec: setup.codec, extradata: setup.extradata)
    settings.threadCount = configuration.threadType == .none ? 1 : configuration.threadCount
    settings.useFrameThreads =
      configuration.threadType == .frame || (configuration.threadType == .automatic && !configuration.lowDelay)
    settings.useSliceThreads = configuration.threadType != .frame
    settings.lowDelay = configuration.lowDelay
    // Frame threads report a deeper reordering only frames later: give them all that is known, and no frame is lost.
    let learnsLate = settings.useFrameThreads && settings.effectiveThreadCount > 1
    settings.reorderDepth = learnsLate ? replay.reorderDepth : replay.start?.reorderDepth ?? replay.reorderDepth
    settings.expectsDeepestReordering = configuration.expectsReordering && setup.mayReorder
    settings.skip = setup.codecSkip(skipFrames)
    settings.maximumPixels = configuration.maximumPixels
    running = RunningCodec(try openCodec(settings, bridge))
  }

  /// The codec is lost: brings a new one to the same place, or gives up until the next random access point.
  ///
  /// - Parameter index: the access unit that was sent.
  func recover(from cause: AVError, at index: UInt64) {
    note(cause, at: index)
    var attempts = max(0, configuration.retries)
    bringBack(to: index, cause, attempts: &attempts)
  }

  /// The codec was lost before: opens a new one for the random access point that has come.
  func resume(at index: UInt64) {
    var attempts = max(1, configuration.retries)
    bringBack(to: index, .external, attempts: &attempts)
  }

  /// Opens codecs until one has decoded the replay buffer, whose last entry is the youngest access unit; gives up when
  /// no attempts are left.
  ///
  /// - Parameter isDraining: nothing follows that needs the codec's references.
  func bringBack(to index: UInt64, _ cause: AVError, attempts: inout Int, isDraining: Bool = false) {
    var error = cause
    // Of the codecs lost, the one that came furthest: if none gets through, its frames are all there is.
    var furthest = running.take()
    while attempts > 0, replay.isUsable {
      attempts -= 1
      // A codec that is kept must keep its strides.
      if furthest == nil { bridge.unlockStrides() }
      do throws(AVError) {
        try open()
        output.count(.restart)
        try replayEntries()
        return dropWhatReplayCannotReach()
      } catch let failure {
        error = failure
        note(error, at: index)
        if let lost = running.take(), furthest.map({ lost.isAsFar(as: $0) }) ?? true { furthest = lost }
      }
    }
    running = furthest
    giveUp(at: index, error, isDraining: isDraining)
  }

  /// Decodes the replay buffer again. Pictures that have their result are not output twice.
  func replayEntries() throws(AVError) {
    var parameterSets = replay.start?.parameterSets ?? []
    for entry in replay.entries {
      if entry.index + 1 < input.nextIndex { output.count(.replay) }
      var packet = entry.packet
      if !parameterSets.isEmpty {
        packet = try packets.packet(
          copying: entry.packet.bytes, prefix: parameterSets, timestamp: entry.packet.timestamp)
        parameterSets = []
      }
      try feed(packet, index: entry.index)
    }
  }

  private func dropWhatReplayCannotReach() {
    guard let start = replay.entries.first?.index else { return }
    while let first = pending.first, first.index < start { finish(first, dropped: .sessionLost) }
  }

  /// Outputs what the lost codec still gives, ends everything else inside, and waits for the next random access point.
  private func giveUp(at index: UInt64, _ error: AVError, isDraining: Bool) {
    let failure = pending[index].map { DecodeError(decoding: $0, code: error) } ?? DecodeError(losing: error)
    var isEverythingOut = false
    do throws(AVError) {
      try drainCodec()
      isEverythingOut = pending.isEmpty
      // It was to give what is inside and no more: then nothing is lost.
      if isDraining && isEverythingOut { return }
    } catch {
      // What came until then is all there is.
    }
    while let first = pending.first {
      if first.index == index { finish(first, error: error) } else { finish(first, dropped: .sessionLost) }
    }
    _ = running.take()
    bridge.unlockStrides()
    replay.removeAll()
    input.reset(keepsReferences: false)
    forgetDecoded()
    // What follows may begin with a random access point, or not come at all: then nothing is lost.
    gate.lose(unreported: isEverythingOut ? failure : nil)
    if gate.start == .forced { damage.taint(before: input.nextIndex) }
    output.count(.resynchronisation)
    if gate.unreportedLoss == nil { output.notify(.codecLost(failure)) }
  }

  /// Drains the codec.
  func drainCodec() throws(AVError) {
    guard let codec else { return }
    running?.beginDraining()
    do throws(AVError) {
      try codec.sendEndOfStream()
    } catch {
      if error.meansLostSession { throw error }
      // libavcodec drains all the same: the error belongs to an access unit that a thread has just ended.
      if error != .endOfFile, let decoded = running?.takeDecoded() { finishDecoding(decoded, error: error) }
    }
    while try !receiveFrames() {}
    while let decoded = running?.takeDecoded() { finishDecoding(decoded, error: nil) }
  }
}
