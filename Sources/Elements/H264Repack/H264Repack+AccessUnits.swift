// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Repack {
  private static let delimiter: [UInt8] = [9, 0xF0]

  /// Completes the next access unit out of the input at hand. Answers false when there is not enough.
  func takeAccessUnit() throws(FlowError) -> Bool {
    let sawMarkers = collector.seesMarkers
    let isComplete = try collector.collect(sets: &sets)
    if collector.seesMarkers != sawMarkers { updateLatency() }
    return isComplete
  }

  /// Makes the output of the access unit that the collector has completed; nil when there is none to make.
  func convert() throws(FlowError) -> Buffer? {
    defer {
      for nalUnit in collector.content.lateParameterSets { note(nalUnit) }
      collector.clear()
    }
    countDamage()
    if heldCaps != nil {
      guard sets.canDescribe else {
        waitForParameterSets()
        return nil
      }
      try releaseHeldCaps()
    }
    guard let output else { throw .notNegotiated }
    leaveOut()
    let insertions = try output.streamFormat == .avc ? setsBesideCodecData() : setsInBand()
    guard let insertions, collector.parts.contains(where: { !$0.repackager.entries.isEmpty }) else {
      return nil
    }
    var buffer = try write(delimited(insertions), as: output)
    if hasLost {
      buffer.flags.insert(.discontinuity)
      hasLost = false
    }
    let size = buffer.size
    statistics.withLock { $0.bytesOut += UInt64(size) }
    return buffer
  }

  // MARK: What goes in and out

  /// Takes in a parameter set that stood behind the slices.
  private func note(_ nalUnit: [UInt8]) {
    guard sets.insert(nalUnit.span) == .changed, output?.streamFormat == .avc else { return }
    sets.addPending(nalUnit)
  }

  /// Leaves out what is not wanted.
  private func leaveOut() {
    let unwanted = active.drop.types
    guard !unwanted.isEmpty else { return }
    var count = 0
    for part in collector.parts {
      part.repackager.drop { unwanted.contains($0.type) }
      count += part.repackager.droppedCount
    }
    if count > 0 { statistics.withLock { $0.droppedNALUnits += UInt64(count) } }
  }

  /// Output avc: parameter sets go into `codec_data`, from the next random access point on. Decoders that are given
  /// other `codec_data` may start anew, so a change in mid-sequence stays in-band.
  private func setsBesideCodecData() throws(FlowError) -> [[UInt8]]? {
    let content = collector.content
    for nalUnit in content.changedParameterSets { sets.addPending(nalUnit) }
    if content.unreadableParameterSets == 0 {
      for part in collector.parts { part.repackager.drop { [7, 8, 13].contains($0.type) } }
    }
    guard content.hasPicture else { return content.isParameterSetsOnly ? nil : [] }
    guard !sets.pending.isEmpty || sets.isDescriptionStale else { return [] }
    guard content.isRandomAccessPoint else {
      let insertions = sets.pendingNALUnits(includingOutOfBand: true)
      if !insertions.isEmpty { sets.markDelivered(outOfBand: false) }
      return insertions
    }
    try updateCodecData()
    sets.markDelivered(outOfBand: true)
    return []
  }

  /// Output avc3 or byte-stream: the parameter sets that go in front of the access unit.
  private func setsInBand() throws(FlowError) -> [[UInt8]]? {
    let content = collector.content
    guard content.hasPicture else {
      guard content.isParameterSetsOnly else { return [] }
      if !active.drop.contains(.parameterSets) {
        for nalUnit in content.parameterSets { sets.addPending(nalUnit) }
      }
      return nil
    }
    if !content.changedParameterSets.isEmpty { try updateCodecData() }
    let insertion = insertion
    var insertions = sets.pendingNALUnits(includingOutOfBand: insertion != .never)
    sets.markDelivered(outOfBand: true)
    if insertion == .keyframes, content.isRandomAccessPoint { insertions = sets.nalUnits }
    // All or none: a parameter set depends on those before it.
    let present = active.drop.contains(.parameterSets) ? [] : content.parameterSets
    return insertions.allSatisfy(present.contains) ? [] : insertions
  }

  /// Puts an access unit delimiter in front where one is wanted.
  private func delimited(_ insertions: [[UInt8]]) -> [[UInt8]] {
    let count = insertions.count
    if count > 0 { statistics.withLock { $0.insertedParameterSets += UInt64(count) } }
    guard active.insertsDelimiter, output?.streamFormat == .byteStream, collector.content.hasPicture,
      !collector.content.hasDelimiter || active.drop.contains(.delimiters)
    else { return insertions }
    statistics.withLock { $0.insertedDelimiters += 1 }
    return [Self.delimiter] + insertions
  }

  // MARK: Damage

  private func countDamage() {
    var misplaced = 0
    var damage: BitstreamError?
    for part in collector.parts {
      misplaced += part.misplacedStartCodes
      damage = damage ?? part.damage
    }
    let unreadable = collector.content.unreadableParameterSets
    guard misplaced > 0 || damage != nil || unreadable > 0 else { return }
    let isDamaged = damage != nil
    statistics.withLock {
      $0.misplacedStartCodes += UInt64(misplaced)
      $0.unreadableParameterSets += UInt64(unreadable)
      if isDamaged { $0.damaged += 1 }
    }
    if let damage {
      warnOnce(.damage, "The stream is damaged; what is readable goes on.", debug: "\(damage)")
      if collector.parts.allSatisfy({ $0.repackager.entries.isEmpty }) { loseAccessUnit() }
    }
    if misplaced > 0 {
      warnOnce(
        .misplacedStartCodes, "Start codes were found where lengths should be; they are replaced.",
        debug: "\(misplaced) in one buffer of \(input?.streamFormat.rawValue ?? "unknown") input")
    }
    if unreadable > 0 {
      warnOnce(
        .unreadableParameterSet, "A parameter set cannot be read; it stays where it is.",
        debug: "\(unreadable) in one access unit")
    }
  }

  private func loseAccessUnit() {
    hasLost = true
    statistics.withLock { $0.lost += 1 }
  }

  /// An access unit came before the parameter sets that it needs.
  private func waitForParameterSets() {
    let content = collector.content
    guard content.hasPicture || content.hasOther else { return }
    hasLost = true
    statistics.withLock { $0.droppedBeforeParameterSets += 1 }
    warnOnce(
      .noParameterSets, "Access units are dropped until a sequence and a picture parameter set come.",
      debug: "codec_data cannot be made without them")
  }
}
