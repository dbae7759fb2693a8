// SPDX-License-Identifier: MPL-2.0
import AVCodec

extension DecompressionSession {
  /// Opens the first codec.
  func openInitially() throws(DecodeError) {
    do throws(AVError) {
      try reopen()
    } catch {
      counters.lastError = DecodeError(opening: error)
      throw DecodeError(opening: error)
    }
  }

  /// Opens a codec, `retries` times more if that fails as a lost session does.
  func reopen() throws(AVError) {
    var attempt = 0
    while true {
      do throws(AVError) {
        try openOnce()
        return
      } catch {
        guard error.meansLostSession, attempt < configuration.retries else { throw error }
        attempt += 1
      }
    }
  }

  private func openOnce() throws(AVError) {
    codec = nil
    inFlight.removeAll()
    bridge.unlockStrides()
    var settings = CodecSettings(codec: setup.codec, extradata: setup.extradata)
    settings.threadCount = configuration.threadType == .none ? 1 : configuration.threadCount
    settings.useFrameThreads =
      configuration.threadType == .frame || (configuration.threadType == .automatic && !configuration.lowDelay)
    settings.useSliceThreads = configuration.threadType != .frame
    settings.lowDelay = configuration.lowDelay
    // Frame threads tell of what they have learned only frames later: there, what is known by now loses nothing.
    let learnsLate = settings.useFrameThreads && settings.effectiveThreadCount > 1
    settings.reorderDepth = learnsLate ? lastReorderDepth : replay.start?.reorderDepth ?? lastReorderDepth
    settings.expectsDeepestReordering = configuration.expectsReordering && setup.mayReorder
    settings.skip = skipFrames.codecSkip
    settings.maximumPixels = configuration.maximumPixels
    codec = try openCodec(settings, bridge)
  }

  /// The codec is lost: brings another to the same place, or gives up until the next random access point.
  ///
  /// - Parameter index: the access unit that was going in.
  func recover(from cause: AVError, at index: UInt64) {
    note(cause, at: index)
    bringBack(to: index, lostAt: index, cause, attempts: max(0, configuration.retries))
  }

  /// The codec was lost before: opens another for the random access point that has come.
  func resume(at index: UInt64) {
    bringBack(to: index, lostAt: nil, .external, attempts: max(1, configuration.retries))
  }

  /// Opens codecs until one has taken the replay buffer, whose last entry is the youngest access unit.
  private func bringBack(to index: UInt64, lostAt place: UInt64?, _ cause: AVError, attempts: Int) {
    var error = cause
    var lastPlace = place
    for _ in 0..<attempts {
      guard replay.isUsable else { break }
      do throws(AVError) {
        try openOnce()
      } catch let failure {
        error = failure
        note(error, at: index)
        continue
      }
      counters.restarts += 1
      dropWhatReplayCannotReach()
      do throws(AVError) {
        try replayEntries()
        awaitsRandomAccess = false
        return
      } catch let failure {
        error = failure
        note(error, at: index)
        // Failing twice at one place means it will fail there always.
        if replayPlace == lastPlace { break }
        lastPlace = replayPlace
      }
    }
    giveUp(at: index, error)
  }

  /// Decodes the replay buffer again. Pictures that have their result are not put out twice.
  func replayEntries() throws(AVError) {
    var parameterSets = replay.start?.parameterSets ?? []
    for entry in replay.entries {
      replayPlace = entry.index
      if entry.index + 1 < nextIndex { counters.replayed += 1 }
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

  /// Ends everything inside and waits for the next random access point.
  private func giveUp(at index: UInt64, _ error: AVError) {
    while let first = pending.first {
      if first.index == index {
        finish(first, error: error)
      } else {
        finish(first, dropped: .sessionLost)
      }
    }
    codec = nil
    inFlight.removeAll()
    replay.removeAll()
    taint = .none
    startFromNothing()
    needsReplay = false
    awaitsRandomAccess = true
    counters.resynchronisations += 1
  }
}
