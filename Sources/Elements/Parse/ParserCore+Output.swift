// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension ParserCore {
  // MARK: What the base class sends

  /// The base class is about to send the frame, or what is left of it. Answers whether it can go out.
  mutating func beginOutput(of frame: borrowing BaseParseFrame) -> Bool {
    guard caps.isSet else { return false }
    if passesThrough {
      diagnosis.noticePicture()
      return true
    }
    var times = output.accessUnit.attributes
    var position: ClockTime?
    if output.accessUnit.start == 0 {
      times = frame.withOutput { $0.attributes }
      // The base class counts the position by what it sees.
      if timestamps.restore(
        &times, of: output.accessUnit, areMade: timestamps.areMade(for: input, situation.playback))
      {
        position = output.accessUnit.attributes.end
      }
      timestamps.takePosition(&times)
    }
    isBehindSegment = output.accessUnit.scanned.contents.contains(.idr) && isBehindSegment(times.pts)
    beginOutput(times, position: position, isLast: true)
    continuesOutput = true
    return true
  }

  private func isBehindSegment(_ time: ClockTime?) -> Bool {
    guard let time, let stop = situation.playback.stop else { return false }
    return time >= stop
  }

  private mutating func beginOutput(_ times: Buffer.Attributes, position: ClockTime?, isLast: Bool) {
    output.begin(
      times, outgoing: timestamps.outgoing(times, of: output.accessUnit), position: position,
      isFirst: caps.awaitsFirstBuffer, isLast: isLast)
    caps.noticeBuffer()
    if output.accessUnit.beginsPicture { timestamps.noticePicture() }
  }

  /// What is to be done next to send the access unit.
  mutating func nextOutput(of frame: borrowing BaseParseFrame, _ log: ElementLog) throws(FlowError) -> OutputAction {
    guard let packaging, !passesThrough else { return .leave }
    if let announcement = output.nextAnnouncement(&timestamps) { return announcement }
    let surroundings = OutputSurroundings<Codec>(
      packaging: packaging, nalPackaging: input.outputPackaging(packaging),
      contentsSoFar: scanner.cutsNALUnits ? scanner.accessUnitContents : nil, frameRate: caps.facts.frameRate,
      tick: caps.facts.tick, configInterval: situation.settings.configInterval)
    if output.decideOnInsertions(surroundings) {
      output.insert(scanner.parameterSets.nalUnits, packaging.alignment)
    }
    return try output.nextBuffer(frame, surroundings, log)
  }

  /// A request for a key unit was answered with the picture that is about to go out.
  mutating func answeredKeyUnit() { output.insertion.force() }

  /// What is told to the user about the stream: the lowest and highest bitrate of its pictures.
  var bitrateRange: ClosedRange<UInt32>? { bitrates.toTell }

  // MARK: Access units past the base class

  /// The base class takes as long over a small access unit as parsing it does. Where it has nothing to decide, because a
  /// raw file is read from its start to its end, it is given the small ones between two random access points together:
  /// those in front are sent from here, the last one by the base class, which counts their bytes and their duration all
  /// the same.
  struct Batch: Sendable {
    /// Where the first access unit ends, which was answered for.
    var first = 0
    /// Where the last one so far ends.
    var end = 0
    /// When the first one is decoded.
    var firstDecoding: ClockTime?
    /// The size of the one that was found to follow.
    var next = 0
    /// There are new tags to send.
    var changesTags = false
    /// What is to hold again if the batch is interrupted: the base class then hands over the same data anew. Nil where
    /// there was to be no batch when the data came.
    var timestampsBefore: ParserTimestamps<Codec>?
  }

  /// Whether access units may be sent from here as long as the stream goes on as it did.
  ///
  /// It changes nothing, but a core that is lent for change is looked at where it is, and not copied.
  mutating func mayBatch() -> Bool {
    guard situation.isPulling, continuesOutput, situation.playback.isWhole, !dropsBFrames,
      !situation.settings.updatesTimeCode, let packaging, packaging.format == .byteStream,
      caps.facts.frameRate != nil, timestamps.areMade(for: input, situation.playback)
    else { return false }
    if packaging.alignment == .accessUnit { return true }
    return scanner.listsNALUnits
  }

  /// Whether a batch can begin with the access unit in hand.
  mutating func beginBatch(_ size: Int, hasOutput: Bool) -> Bool {
    if case .none = batch.timestampsBefore { return false }
    guard !hasOutput, accessUnit.attributes.pts != nil, accessUnit.isRandomAccessPoint == false else { return false }
    batch.first = size
    batch.end = size
    batch.changesTags = false
    batch.firstDecoding = accessUnit.attributes.dts
    return true
  }

  /// Finds the access unit that follows in the same data, when it may go out in the same frame: then the one before is
  /// to be pushed.
  mutating func continueBatch(_ bytes: Span<UInt8>, _ log: ElementLog) -> Bool {
    guard batch.end < bytes.count else { return false }
    let rest = bytes.extracting(batch.end...)
    let finding = find(rest, isMarked: false, log)
    guard case .accessUnit(let size) = finding else {
      batch.end += finding.size
      return false
    }
    // New caps, for one, are not to overtake the access unit that waits.
    guard continuesSequence(), readOrder(rest, size: size), timestamps.hasPicture else { return false }
    heldSize = nil
    accessUnit.attributes = Buffer.Attributes()
    batch.next = size
    if describe(size) { batch.changesTags = true }
    beginOutput(output.accessUnit.attributes, position: nil, isLast: false)
    return true
  }

  /// The one before was pushed. Answers how far the stream has come.
  mutating func pushedOfBatch() -> ClockTime? {
    let position = output.accessUnit.attributes.end
    accessUnit.outputSize = accessUnit.scanned.end
    accessUnit.start = batch.end
    batch.end += batch.next
    output.take(&accessUnit)
    return position
  }

  /// Pushing was interrupted, as by a flush: nothing of the frame counts as sent.
  mutating func interruptBatch() {
    let before = batch.timestampsBefore
    let offset = situation.offset
    forgetPosition()
    if let before { timestamps = before }
    position.expectAgain(offset)
  }

  /// Nothing more goes out in this frame.
  ///
  /// - Returns: where it ends, how long it lasts (nil when the base class knows), and whether tags have changed.
  mutating func endBatch() -> (size: Int, duration: ClockTime?, changesTags: Bool) {
    diagnosis.finish(batch.end - batch.first)
    position.advance(by: batch.end, from: situation.offset)
    // The base class goes on counting where the frame ends.
    let last = output.accessUnit.attributes
    guard output.accessUnit.start > 0, let first = batch.firstDecoding, let dts = last.dts else {
      return (batch.end, nil, batch.changesTags)
    }
    return (batch.end, dts + (last.duration ?? .zero) - first, batch.changesTags)
  }

  /// Whether the access unit in hand is another picture of the sequence, with nothing to decide for the base class.
  /// Random access points go into its index, and take the parameter sets so far and none of those that come behind.
  private mutating func continuesSequence() -> Bool {
    accessUnit.beginsPicture && caps.describe(sequenceParameterSetID) && !isDiscontinuous
      && (accessUnit.scanned.dropped.isEmpty || scanner.listsNALUnits) && !judgeRandomAccess()
  }
}
