// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The repackager without its element: the way of a buffer from the sink pad to the source pad.
///
/// input format → assembler → parameter sets → caps → writer → splitter. Nothing here calls out of the element: what
/// has to be sent or asked is answered as a ``RepackAction``, and the element comes again when it is done. Only the
/// streaming thread, or whoever holds the sink pad's stream lock, may come here.
struct RepackCore<Codec: RepackCodec>: ~Copyable {
  private var settings: RepackSettings
  private var input: RepackFormat<Codec>?
  private var output: RepackFormat<Codec>?
  private var assembler = AccessUnitAssembler<Codec, RepackPiece<Codec>>(.accessUnit)
  private var content = AccessUnitContent<Codec>()
  private var sets = RepackParameterSets<Codec>()
  private var held = HeldStream()
  private var writer = RepackWriter<Codec>()
  private var splitter = NALUnitSplitter<Codec>()
  private var journal = RepackJournal()
  /// What is to be done next with the access unit in hand.
  private var step = Step.assemble
  /// Caps of the input that could not be worked with, and for which the bus has an error.
  private var refusedCaps: CompressedCaps<Codec>?
  /// Something was left out since the last buffer.
  private var hasLost = false
  /// The stream was cut since the last random access point.
  private var isCut = false
  /// Access units since the last start code where a length should be.
  private var soundAccessUnits = 0
  /// A piece that was used up, for its table's memory.
  private var spare: RepackPiece<Codec>?

  private enum Step {
    /// There is none: put one together.
    case assemble
    /// Send the caps that waited for its parameter sets.
    case describe
    /// Write it, with these NAL units in front.
    case write([[UInt8]])
  }

  init(_ settings: RepackSettings) { self.settings = settings }

  // MARK: Settings

  /// What changed settings make necessary.
  enum Change { case nothing, passthrough, lengthSize }

  /// Takes the settings of the next buffer.
  mutating func adopt(_ current: RepackSettings) -> Change {
    guard current != settings else { return .nothing }
    let isOtherSize = current.nalLengthSize != settings.nalLengthSize
    settings = current
    guard output != nil, !held.holdsCaps else { return .nothing }
    // The length size stands in codec_data.
    return isOtherSize ? .lengthSize : .passthrough
  }

  /// Whether there is nothing to do: buffers can pass the element.
  @inline(__always) var isIdentity: Bool {
    guard let input, let output, !held.holdsCaps else { return false }
    guard input.streamFormat == output.streamFormat, input.alignment == output.alignment,
      input.packaging == output.packaging, settings.drop.isEmpty, !settings.marksBrokenLinks
    else { return false }
    switch output.streamFormat {
    case .outOfBand: return true
    case .inBand: return insertion == .never
    case .byteStream: return insertion == .never && !settings.insertsDelimiter
    }
  }

  /// When to put parameter sets in-band.
  @inline(__always) private var insertion: RepackSettings.ParameterSetInsertion {
    guard settings.parameterSets == .automatic else { return settings.parameterSets }
    // In the stream they are where the encoder wanted them.
    if input?.streamFormat == output?.streamFormat { return .never }
    return input?.streamFormat == .outOfBand || sets.areOutOfBand ? .keyframes : .never
  }

  // MARK: Formats

  /// The input's last caps could not be worked with, and that was said.
  var hasRefusedCaps: Bool { refusedCaps != nil }

  /// Takes note of caps that cannot be worked with. Answers whether they are others than before.
  mutating func refuse(_ caps: CompressedCaps<Codec>) -> Bool {
    guard refusedCaps != caps else { return false }
    refusedCaps = caps
    return true
  }

  /// Whether caps wait for parameter sets.
  var holdsCaps: Bool { held.holdsCaps }

  /// Takes the input's caps, behind the last access unit of those before.
  ///
  /// - Parameters:
  ///   - caps: the caps as they were read.
  ///   - format: what they say of the packaging.
  ///   - predicted: what the output will probably be; nil when nothing is possible, which downstream will say.
  /// - Returns: whether the caps are to be held until the stream's parameter sets have come.
  /// - Throws: an error for the bus, when `codec_data` cannot be read and must be.
  mutating func adopt(
    _ caps: CompressedCaps<Codec>, _ format: RepackFormat<Codec>, predicted: StreamFormat<Codec>?
  ) throws(ElementError) -> Bool {
    held.forgetCaps()
    if format.packaging == nil {
      guard predicted == format.streamFormat else { throw RepackFormat.unreadable(caps) }
      journal.warnOnce(.unreadableCodecData) {
        ElementError(
          .stream(.format), "codec_data cannot be read; the stream is handed on as it is.",
          debug: RepackFormat.unreadable(caps).debug)
      }
    }
    refusedCaps = nil
    input = format
    soundAccessUnits = 0
    assembler = AccessUnitAssembler<Codec, RepackPiece<Codec>>(format.alignment)
    removeAccessUnit()
    sets.adopt(caps)
    // The store may be of the stream that ends here: the next access unit tells.
    guard !sets.areOutOfBand, format.packaging != nil else { return false }
    return switch predicted {
    case .outOfBand: true
    case .inBand: format.streamFormat != .inBand || caps.record == nil
    case .byteStream, nil: false
    }
  }

  /// Takes the output's caps that were agreed on.
  mutating func adopt(output format: RepackFormat<Codec>) {
    output = format
    if format.streamFormat == .outOfBand { sets.markDelivered(outOfBand: true) }
  }

  /// `codec_data` for output; empty when it cannot be made yet.
  ///
  /// - Parameters:
  ///   - output: a length-prefixed format.
  ///   - lengthSize: of the output, as the property says now.
  func codecData(for output: StreamFormat<Codec>, lengthSize: NALLengthSize) -> [UInt8] {
    guard let input else { return [] }
    return sets.codecData(for: output, input: input.streamFormat, lengthSize: lengthSize) ?? []
  }

  // MARK: Held events

  mutating func hold(caps event: consuming Event) { held.hold(caps: event) }
  mutating func hold(_ event: consuming Event) { held.hold(event) }
  mutating func takeHeldCaps() -> Event? { held.takeCaps() }
  mutating func takeHeldEvent() -> Event? { held.takeEvent() }

  // MARK: Flow

  /// Takes a buffer. The one before must be used up: ``advance(_:)`` has answered `awaitInput`.
  mutating func put(_ buffer: consuming Buffer) throws(RepackFailure) {
    guard let input else { throw RepackFailure(.notNegotiated) }
    guard let packaging = input.packaging else {
      throw RepackFailure(
        .error,
        ElementError(
          .stream(.format), "codec_data cannot be read: nothing in the stream can be changed.",
          debug:
            "expected \(Codec.ConfigurationRecord.name), found \(input.codecData.count) bytes; packets can only be handed on as they are"
        ))
    }
    do throws(FlowError) {
      if let piece = spare {
        spare = nil
        try piece.reuse(for: buffer, packaging: packaging, searchesSlices: searchesSlices)
        assembler.put(piece)
      } else {
        assembler.put(try RepackPiece<Codec>(buffer, packaging: packaging, searchesSlices: searchesSlices))
      }
    } catch {
      throw RepackFailure(error)
    }
  }

  /// Goes on until there is something to do for the element.
  ///
  /// - Parameter report: is given what is to be told by then.
  mutating func advance(_ report: inout RepackReport?) throws(RepackFailure) -> RepackAction {
    let action = try nextAction()
    report = takeReport()
    return action
  }

  private mutating func nextAction() throws(RepackFailure) -> RepackAction {
    while true {
      switch step {
      case .assemble:
        if let buffer = splitter.next() { return .output(buffer) }
        guard try assemble() else { return .awaitInput }
        noteDamage()
        step = .describe
      case .describe:
        if held.holdsCaps {
          guard !sets.canDescribe else { return .releaseCaps }
          dropBeforeParameterSets()
          removeAccessUnit()
          continue
        }
        guard let codecData = try prepare() else { continue }
        if !codecData.isEmpty { return .announce(codecData: codecData) }
      case .write(let insertions):
        let buffer = try write(insertions)
        guard output?.alignment == .nalUnit else { return .output(buffer) }
        splitter.put(buffer)
      }
    }
  }

  /// The access unit in hand cannot be put out.
  mutating func removeAccessUnit() {
    for nalUnit in content.lateParameterSets where sets.insert(nalUnit.span) == .changed {
      if output?.streamFormat == .outOfBand { sets.addPending(nalUnit) }
    }
    if assembler.pieces.count == 1 { spare = assembler.pieces[0] }
    assembler.removeAccessUnit()
    content = AccessUnitContent<Codec>()
    step = .assemble
  }

  /// Nothing will be added to the access unit that is being collected. Answers whether there is one.
  mutating func finish() -> Bool { assembler.finish() }

  /// The stream has ended. Answers the error for the bus, where nothing could come of it.
  ///
  /// Behind a flush the parameter sets may come after all: caps stay held, and the segment behind them.
  mutating func endStream() -> ElementError? {
    guard held.holdsCaps else { return nil }
    held.removeGaps()
    let count = journal.statistics.droppedBeforeParameterSets
    guard count > 0 else { return nil }
    return ElementError(
      .stream(.format), "The stream has no parameter sets that its slices could be decoded with.",
      debug: "\(count) access units came without a sequence and a picture parameter set")
  }

  /// Drops everything of before a flush.
  mutating func flush() {
    assembler.flush()
    content = AccessUnitContent<Codec>()
    step = .assemble
    splitter.removeAll()
    sets.makeAllPending()
    held.flush()
    hasLost = false
    isCut = true
  }

  /// Another stream begins: forgets the one before, and what was held back of it. Settings and output stay.
  mutating func beginStream() {
    input = nil
    assembler = AccessUnitAssembler<Codec, RepackPiece<Codec>>(.accessUnit)
    content = AccessUnitContent<Codec>()
    step = .assemble
    splitter.removeAll()
    sets = RepackParameterSets<Codec>()
    held = HeldStream()
    journal.beginStream()
    refusedCaps = nil
    hasLost = false
  }

  // MARK: Bookkeeping

  /// Counts a buffer that came in.
  mutating func count(input size: Int, isPassedOn: Bool) {
    journal.statistics.bytesIn += UInt64(size)
    guard isPassedOn else { return }
    journal.statistics.bytesOut += UInt64(size)
    journal.statistics.untouched += 1
  }

  /// What is to be told since the last time.
  mutating func takeReport() -> RepackReport {
    guard output != nil else { return journal.takeReport(latency: nil) }
    let waits = input?.alignment == .nalUnit && !assembler.seesMarkers && !isIdentity
    let duration = input?.frameRate.map {
      ClockTime.seconds(1, times: UInt32($0.denominator), over: UInt32($0.numerator))
    }
    return journal.takeReport(latency: RepackLatency(waitsForNextAccessUnit: waits, accessUnitDuration: duration))
  }

  // MARK: The way of an access unit

  /// Completes the next access unit. Answers false when the input is used up before.
  private mutating func assemble() throws(RepackFailure) -> Bool {
    do throws(FlowError) {
      return try assembler.collect(
        judge: { detector, nalUnit in detector.feed(nalUnit, parameterSets: sets.store).boundary },
        read: { nalUnit, entry in content.add(nalUnit, type: entry.type, sets: &sets) })
    } catch {
      throw RepackFailure(error)
    }
  }

  /// Decides what goes out with the access unit.
  ///
  /// - Returns: `codec_data` to be sent first, empty when there is none; nil when nothing of the access unit goes out.
  private mutating func prepare() throws(RepackFailure) -> [UInt8]? {
    guard let output else { throw abandon(RepackFailure(.notNegotiated)) }
    dropUnwanted()
    var codecData: [UInt8] = []
    var insertions: [[UInt8]] = []
    if content.hasPicture {
      let isBeside = output.streamFormat == .outOfBand
      let changes =
        isBeside ? setsBesideCodecData(&insertions) : setsInBand(&insertions)
      if changes, output.streamFormat.isLengthPrefixed { codecData = try changedCodecData(output) }
    } else if output.streamFormat == .outOfBand {
      for nalUnit in content.changedParameterSets { sets.addPending(nalUnit) }
      dropParameterSets()
    } else if content.isParameterSetsOnly, !settings.drop.contains(.parameterSets) {
      for nalUnit in content.parameterSets { sets.addPending(nalUnit) }
    }
    let isEmpty = assembler.pieces.allSatisfy { $0.nalUnits.isEmpty }
    guard !isEmpty, !content.isParameterSetsOnly else {
      removeAccessUnit()
      return nil
    }
    step = .write(delimited(insertions))
    return codecData
  }

  /// Leaves out what is not wanted.
  private mutating func dropUnwanted() {
    guard !settings.drop.isEmpty else { return }
    let unwanted = settings.drop.types(of: Codec.self)
    for piece in assembler.pieces {
      piece.found.repackager.drop { unwanted.contains($0.type) }
      journal.statistics.droppedNALUnits += UInt64(piece.found.repackager.droppedCount)
    }
  }

  private func dropParameterSets() {
    guard content.unreadableParameterSets == 0 else { return }
    let types = Codec.typesInConfigurationRecord
    for piece in assembler.pieces { piece.found.repackager.drop { types.contains($0.type) } }
  }

  /// Parameter sets out of band: they go into `codec_data`, from the next random access point on. Decoders that are given
  /// other `codec_data` may start anew, so a change in mid-sequence stays in-band.
  ///
  /// - Returns: whether `codec_data` may have changed.
  private mutating func setsBesideCodecData(_ insertions: inout [[UInt8]]) -> Bool {
    for nalUnit in content.changedParameterSets { sets.addPending(nalUnit) }
    dropParameterSets()
    guard sets.hasPending || sets.isDescriptionStale else { return false }
    guard content.isRandomAccessPoint else {
      insertions = sets.pendingNALUnits(includingOutOfBand: true)
      if !insertions.isEmpty { sets.markDelivered(outOfBand: false) }
      return false
    }
    sets.markDelivered(outOfBand: true)
    return true
  }

  /// Parameter sets in-band: those that go in front of the access unit.
  ///
  /// - Returns: whether `codec_data` may have changed.
  private mutating func setsInBand(_ insertions: inout [[UInt8]]) -> Bool {
    let insertion = insertion
    insertions = sets.pendingNALUnits(includingOutOfBand: insertion != .never)
    sets.markDelivered(outOfBand: true)
    if insertion == .keyframes, content.isRandomAccessPoint { insertions = sets.nalUnits }
    // All or none: a parameter set depends on those before it.
    let present = settings.drop.contains(.parameterSets) ? [] : content.parameterSets
    if insertions.allSatisfy(present.contains) { insertions = [] }
    if content.hasMisplacedSets, !present.isEmpty, content.unreadableParameterSets == 0 {
      insertions = sets.nalUnits.filter { present.contains($0) || insertions.contains($0) }
      dropParameterSets()
    }
    return !content.changedParameterSets.isEmpty
  }

  /// `codec_data` as it has to be now; empty when downstream has it.
  private mutating func changedCodecData(_ output: RepackFormat<Codec>) throws(RepackFailure) -> [UInt8] {
    // A damaged change: the description before is the best there is.
    guard sets.canDescribe else { return [] }
    let codecData = codecData(for: output.streamFormat, lengthSize: settings.nalLengthSize.size)
    guard !codecData.isEmpty else {
      throw abandon(
        RepackFailure(
          .error,
          ElementError(
            .stream(.format), "The stream's parameter sets do not fit codec_data.",
            debug: "\(Codec.ConfigurationRecord.name) has no room for their number or lengths")))
    }
    guard codecData != output.codecData else { return [] }
    self.output?.codecData = codecData
    journal.statistics.parameterSetChanges += 1
    return codecData
  }

  /// Puts an access unit delimiter in front where one is wanted.
  private mutating func delimited(_ insertions: [[UInt8]]) -> [[UInt8]] {
    journal.statistics.insertedParameterSets += UInt64(insertions.count)
    guard settings.insertsDelimiter, output?.streamFormat == .byteStream, content.hasPicture,
      !content.hasDelimiter || settings.drop.contains(.delimiters)
    else { return insertions }
    journal.statistics.insertedDelimiters += 1
    return [Codec.accessUnitDelimiter] + insertions
  }

  private mutating func write(_ insertions: [[UInt8]]) throws(RepackFailure) -> Buffer {
    guard let output else { throw abandon(RepackFailure(.notNegotiated)) }
    do throws(RepackFailure) {
      let pieces = assembler.pieces
      var written = try writer.write(
        pieces, inserting: insertions, marksBrokenLink: takeBrokenLink(pieces), from: input?.packaging, as: output)
      removeAccessUnit()
      if hasLost {
        written.buffer.flags.insert(.discontinuity)
        hasLost = false
      }
      journal.count(output: written.buffer.size, written.way)
      return written.buffer
    } catch {
      throw abandon(error)
    }
  }

  /// Whether the access unit is a picture at which the stream was cut, and is to say so.
  private mutating func takeBrokenLink(_ pieces: [RepackPiece<Codec>]) -> Bool {
    guard settings.marksBrokenLinks else { return false }
    if hasLost || pieces.contains(where: { $0.withBuffer { $0.flags.contains(.discontinuity) } }) { isCut = true }
    let types = pieces.lazy.flatMap(\.nalUnits).map { Codec.NALUnitType(rawValue: $0.type) }
    guard isCut, types.contains(where: \.isRandomAccessPoint) else { return false }
    isCut = false
    return true
  }

  private mutating func abandon(_ failure: RepackFailure) -> RepackFailure {
    removeAccessUnit()
    return failure
  }

  // MARK: Damage

  /// A writer that leaves start codes inside slices does so from the beginning. In a byte stream they stand where they
  /// belong anyway, so that an output in that format is spared the search once enough was seen: half of its work.
  @inline(__always) private var searchesSlices: Bool {
    output?.streamFormat != .byteStream || soundAccessUnits < Self.soundAccessUnitsWanted
  }
  private static var soundAccessUnitsWanted: Int { 100 }

  private mutating func noteDamage() {
    var misplaced = 0
    var damage: BitstreamError?
    for piece in assembler.pieces {
      misplaced += piece.found.misplacedStartCodes
      damage = damage ?? piece.found.damage
    }
    if let damage {
      journal.note(damage)
      if assembler.pieces.allSatisfy({ $0.nalUnits.isEmpty }) {
        hasLost = true
        journal.statistics.lost += 1
      }
    }
    soundAccessUnits = misplaced > 0 ? 0 : min(soundAccessUnits + 1, Self.soundAccessUnitsWanted)
    if misplaced > 0 { journal.note(misplacedStartCodes: misplaced, in: input?.streamFormat.rawValue) }
    if content.unreadableParameterSets > 0 { journal.note(unreadableParameterSets: content.unreadableParameterSets) }
  }

  /// An access unit came before the parameter sets that it needs.
  private mutating func dropBeforeParameterSets() {
    guard content.hasPicture || content.hasOther else { return }
    hasLost = true
    journal.noteMissingParameterSets()
  }
}
