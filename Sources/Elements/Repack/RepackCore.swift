// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The repackager without its element: a buffer's way from the sink pad to the source pad.
///
/// It never calls other code: it returns a ``RepackAction``, such as a buffer to send or a query. The element
/// performs it and fetches the next one. Used with the sink pad's stream lock held.
///
/// input format → assembler → continuity → parameter sets → edits → captions → caps → writer → splitter
///
/// If captions come in presentation order, ``CaptionOrder`` assembles access units instead, and holds them.
struct RepackCore<Codec: RepackCodec>: ~Copyable {
  private var settings: RepackSettings
  private var input: RepackFormat<Codec>?
  private var output: RepackFormat<Codec>?
  private var assembler = AccessUnitAssembler<Codec, RepackPiece<Codec>>(.accessUnit)
  private var packets = LengthPrefixed.PacketHistory()
  private var content = RepackedAccessUnit<Codec>()
  private var sets = RepackParameterSets<Codec>()
  private var editing = RepackEditing<Codec>()
  /// nil if each buffer has its own picture's captions.
  private var captionOrder: CaptionOrder<Codec>?
  private var held = HeldStream()
  private var continuity = RepackContinuity<Codec>()
  private var writer = RepackWriter<Codec>()
  private var splitter = NALUnitSplitter<Codec>()
  private var journal = RepackJournal()
  /// The next step for the current access unit.
  private var step = RepackStep.assemble
  /// The input's last caps, if they were refused with an error on the bus.
  private var refusedCaps: CompressedCaps<Codec>?
  /// Something was edited since buffers could bypass the element.
  private var hasEdited = false
  /// Downstream did not take the last caps.
  private var isAnnouncementDue = false
  /// A used piece, kept for the memory of its NAL unit table.
  private var spare: RepackPiece<Codec>?

  init(_ settings: RepackSettings) {
    self.settings = settings
    editing.adopt(settings.edit.list)
    if settings.captionOrder == .display { captionOrder = CaptionOrder() }
  }

  // MARK: Settings

  /// The step that changed settings require.
  enum Change { case nothing, passthrough, lengthSize }

  /// Takes the settings of the next buffer.
  mutating func adopt(_ current: RepackSettings) -> Change {
    guard current != settings else { return .nothing }
    let isOtherSize = current.nalLengthSize != settings.nalLengthSize
    if current.edit != settings.edit { journal.beginEdits() }
    settings = current
    editing.adopt(current.edit.list)
    guard output != nil, !held.holdsCaps else { return .nothing }
    // codec_data holds the length size.
    return isOtherSize ? .lengthSize : .passthrough
  }

  /// Whether there is nothing to do: buffers can bypass the element.
  @inline(__always) var isIdentity: Bool { editing.isIdle && changesByEditsOnly }

  /// Whether nothing but edits can change an access unit.
  private var changesByEditsOnly: Bool {
    guard let input, let output, !held.holdsCaps, !input.lacksCodecData else { return false }
    guard input.streamFormat == output.streamFormat, input.alignment == output.alignment,
      input.packaging == output.packaging, settings.drop.isEmpty, !settings.marksBrokenLinks,
      !settings.insertsCaptions, !settings.removesCaptionMetas, captionOrder == nil
    else { return false }
    let insertsDelimiters = output.streamFormat == .byteStream && settings.insertsDelimiter
    return !insertsDelimiters && (output.streamFormat == .outOfBand || insertion == .never)
  }

  /// Whether edits change nothing but parameter sets of whole access units.
  private var keepsPictures: Bool { input?.alignment == .accessUnit && editing.keepsPictures && changesByEditsOnly }

  /// Whether buffers can bypass the element as soon as the collected buffers were output.
  @inline(__always) var isBypassDue: Bool { (!assembler.pieces.isEmpty || hasEdited) && isIdentity }

  /// When to insert parameter sets.
  @inline(__always) private var insertion: RepackSettings.ParameterSetInsertion {
    guard settings.parameterSets == .automatic else { return settings.parameterSets }
    // Same format on both sides: they stay in place.
    if input?.streamFormat == output?.streamFormat { return .never }
    return input?.streamFormat == .outOfBand || sets.areOutOfBand ? .keyframes : .never
  }

  // MARK: Formats

  /// The input's last caps were refused, with an error on the bus.
  var hasRefusedCaps: Bool { refusedCaps != nil }

  /// Refuses the input's caps. Returns whether they differ from the last that were refused.
  mutating func refuse(_ caps: CompressedCaps<Codec>) -> Bool {
    guard refusedCaps != caps else { return false }
    refusedCaps = caps
    return true
  }

  /// Whether caps wait for parameter sets.
  var holdsCaps: Bool { held.holdsCaps }

  /// Takes the input's caps; the last access unit under earlier caps was output.
  ///
  /// - Parameters:
  ///   - caps: the caps as they were read.
  ///   - format: the packaging that they specify.
  ///   - predicted: the output's probable format; nil when none is possible, which the negotiation will show.
  /// - Returns: whether the caps are held until the stream's parameter sets have come.
  /// - Throws: an error for the bus, when `codec_data` cannot be read and must be.
  mutating func adopt(
    _ caps: CompressedCaps<Codec>, _ format: RepackFormat<Codec>, predicted: StreamFormat<Codec>?
  ) throws(ElementError) -> Bool {
    held.forgetCaps()
    if format.packaging == nil {
      guard predicted == format.streamFormat else { throw RepackFormat.unreadable(caps) }
      journal.warnOfUnreadableCodecData(RepackFormat.unreadable(caps))
    }
    refusedCaps = nil
    input = format
    continuity.beginFormat()
    assembler = AccessUnitAssembler<Codec, RepackPiece<Codec>>(format.alignment)
    captionOrder?.adopt(caps, format.alignment)
    packets = LengthPrefixed.PacketHistory()
    removeAccessUnit()
    let known = sets.nalUnits
    sets.adopt(caps)
    if sets.areOutOfBand, sets.nalUnits != known { beginEditing(nil) }
    // The parameter sets so far may be the previous stream's: wait for the next access unit's.
    guard !sets.areOutOfBand, format.packaging != nil else { return false }
    return switch predicted {
    case .outOfBand: true
    case .inBand: format.streamFormat != .inBand || caps.record == nil
    case .byteStream, nil: false
    }
  }

  /// Takes the output's negotiated caps.
  mutating func adopt(output format: RepackFormat<Codec>) {
    output = format
    if format.streamFormat == .outOfBand { sets.markDelivered(leavesDescriptionStale: false) }
  }

  /// `codec_data` for output in a length-prefixed format; empty when it cannot be made yet.
  func codecData(for output: StreamFormat<Codec>) -> [UInt8] {
    input.flatMap { sets.codecData(for: output, input: $0.streamFormat, settings.nalLengthSize.size, editing) } ?? []
  }

  /// Sets the fields of the output's caps that edits concern.
  func setEditedFields(of caps: inout Caps, upstream: StructureView) {
    editing.setFields(of: &caps, upstream: upstream)
  }

  mutating func hold(caps event: consuming Event) { held.hold(caps: event) }
  mutating func hold(_ event: consuming Event) { held.hold(event) }
  /// Whether access units are held for their captions.
  var holdsAccessUnits: Bool { captionOrder.map { !$0.isEmpty } ?? false }
  mutating func holdBehindAccessUnits(_ event: consuming Event) { captionOrder?.hold(event) }
  mutating func takeHeldCaps() -> Event? { held.takeCaps() }
  mutating func takeHeldEvent() -> Event? { held.takeEvent() }

  // MARK: Flow

  /// Takes a buffer. The previous buffer must be used up: ``advance(_:)`` has returned `awaitInput`.
  mutating func put(_ buffer: consuming Buffer) throws(RepackFailure) {
    guard let input else { throw RepackFailure(.notNegotiated) }
    guard let packaging = input.packaging else { throw .unreadableCodecData(input) }
    let search = continuity.search(for: output?.streamFormat, keepsPictures: keepsPictures)
    do throws(FlowError) {
      if var piece = spare.take() {
        try piece.reuse(for: buffer, packaging: packaging, &packets, search)
        try put(piece)
      } else {
        try put(try RepackPiece<Codec>(buffer, packaging: packaging, &packets, search))
      }
    } catch {
      throw RepackFailure(error)
    }
  }

  private mutating func put(_ piece: RepackPiece<Codec>) throws(FlowError) {
    if captionOrder == nil { assembler.put(piece) } else { try captionOrder?.put(piece) }
  }

  /// Whether a buffer is a picture that nothing is edited in, and that changes nothing: it is output as it came.
  mutating func passes(_ buffer: borrowing Buffer) -> Bool {
    let passes =
      keepsPictures && editing.continues(content, sets) && !sets.areToBeSent && continuity.isSteady
      && assembler.pieces.isEmpty && PlainPicture<Codec>.isIn(buffer, input?.packaging)
    if passes { journal.count(output: buffer.size, .untouched) }
    return passes
  }

  /// The next thing for the element to do.
  ///
  /// - Parameter report: what to report by then.
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
        if let event = captionOrder?.takeEvent()?.take() { return .forward(event) }
        guard try assemble() else { return .awaitInput }
        continuity.inspect(assembler.pieces, &content)
        journal.note(content, in: input?.streamFormat)
        if !editing.continues(content, sets) { beginEditing(content) }
        step = .describe
      case .describe:
        if held.holdsCaps {
          guard !sets.canDescribe else { return .releaseCaps }
          if content.hasPicture || content.hasOther {
            continuity.noteLoss()
            journal.noteMissingParameterSets()
          }
          removeAccessUnit()
          continue
        }
        guard let codecData = try prepare() else { continue }
        let isDue = isAnnouncementDue
        isAnnouncementDue = false
        if editing.takeDescriptionChange() || !codecData.isEmpty || isDue { return .announce(codecData: codecData) }
      case .write:
        let buffer = try write()
        guard output?.alignment == .nalUnit else { return .output(buffer) }
        splitter.put(buffer)
      }
    }
  }

  /// Removes the current access unit, because its caps were not sent: they are sent with the next one.
  mutating func announceAgain() {
    removeAccessUnit()
    output?.codecData = []
    isAnnouncementDue = true
  }

  /// Removes the current access unit, written or not. Parameter sets after its slices count from now on.
  mutating func removeAccessUnit() {
    for nalUnit in content.lateParameterSets
    where sets.insert(nalUnit.span) == .changed && output?.streamFormat == .outOfBand { sets.addPending([nalUnit]) }
    if assembler.pieces.count == 1 { spare = assembler.pieces[0] }
    assembler.removeAccessUnit()
    content = RepackedAccessUnit<Codec>()
    step = .assemble
  }

  /// Gives back the buffers of the access unit that was begun, as they came.
  mutating func takeCollected() -> [RepackPiece<Codec>] {
    let pieces = assembler.pieces
    assembler.flush()
    removeAccessUnit()
    hasEdited = false
    return pieces
  }

  /// Ends the access unit that was begun. Returns whether there was one.
  mutating func finish() -> Bool {
    guard captionOrder != nil else { return assembler.finish() }
    captionOrder?.finish()
    return holdsAccessUnits
  }

  /// The stream has ended. Returns the error to post, if it gave no output.
  /// After a flush the parameter sets may still come: the caps stay held, with the segment after them.
  mutating func endStream() -> ElementError? {
    guard held.holdsCaps else { return nil }
    held.removeGaps()
    return journal.missingParameterSets
  }

  /// Discards everything from before a flush.
  mutating func flush() {
    assembler.flush()
    captionOrder?.flush()
    content = RepackedAccessUnit<Codec>()
    step = .assemble
    splitter.removeAll()
    sets.makeAllPending()
    held.flush()
    continuity.flush()
    editing.flush()
  }

  /// Another stream begins: forgets the previous stream and its held events. Settings and output stay.
  mutating func beginStream() {
    input = nil
    assembler = AccessUnitAssembler<Codec, RepackPiece<Codec>>(.accessUnit)
    if captionOrder != nil { captionOrder = CaptionOrder() }
    content = RepackedAccessUnit<Codec>()
    step = .assemble
    splitter.removeAll()
    sets = RepackParameterSets<Codec>()
    held = HeldStream()
    journal.beginStream()
    refusedCaps = nil
    continuity.beginStream()
    editing.beginStream()
  }

  // MARK: Bookkeeping

  /// Counts a buffer that came in.
  mutating func count(input size: Int, isPassedOn: Bool) {
    if isPassedOn { editing.noteDelivery() }
    journal.count(input: size, isPassedOn: isPassedOn)
  }

  /// Returns the report since the last call.
  mutating func takeReport() -> RepackReport {
    let seesMarkers = captionOrder?.seesMarkers ?? assembler.seesMarkers
    let waits = input?.alignment == .nalUnit && !seesMarkers && !isIdentity
    let accessUnits = (waits ? 1 : 0) + (captionOrder?.delay ?? 0)
    return journal.takeReport(
      latency: output.map { _ in RepackLatency(accessUnits: accessUnits, frameRate: input?.frameRate) })
  }

  // MARK: The way of an access unit

  /// Assembles the next access unit. Returns false when the input is used up before.
  private mutating func assemble() throws(RepackFailure) -> Bool {
    do throws(FlowError) {
      guard captionOrder == nil else { return try takeAccessUnit() }
      return try assembler.collect(
        judge: { detector, nalUnit in detector.feed(nalUnit, parameterSets: sets.store).boundary },
        read: { nalUnit, entry in Self.read(nalUnit, entry, &content, &sets) })
    } catch {
      throw RepackFailure(error)
    }
  }

  /// Takes the next access unit that was held for its captions. Returns whether there is one.
  private mutating func takeAccessUnit() throws(FlowError) -> Bool {
    guard let accessUnit = captionOrder?.takeAccessUnit() else { return false }
    try assembler.take(accessUnit) { nalUnit, entry in Self.read(nalUnit, entry, &content, &sets) }
    return true
  }

  @inline(__always)
  private static func read(
    _ nalUnit: Span<UInt8>, _ entry: Repackager.Entry, _ content: inout RepackedAccessUnit<Codec>,
    _ sets: inout RepackParameterSets<Codec>
  ) {
    let role = Codec.role(of: nalUnit)
    guard role.isParameterSet else { return content.add(nalUnit, role, type: entry.type) }
    // Behind the slices they are meant for the next access unit.
    if content.hasPicture { return content.add(lateParameterSet: nalUnit) }
    content.add(parameterSet: nalUnit, role, sets.insert(nalUnit))
  }

  /// Decides on the parts that are sent with the access unit.
  ///
  /// - Returns: `codec_data` to send first, empty for none; nil when nothing of the access unit is sent.
  private mutating func prepare() throws(RepackFailure) -> [UInt8]? {
    guard let output else { throw abandon(RepackFailure(.notNegotiated)) }
    if !settings.drop.isEmpty {
      journal.count(dropped: assembler.pieces.drop(settings.drop.types(of: Codec.self)))
    }
    sets.place(
      &content, insertion: insertion, dropsInBand: settings.drop.contains(.parameterSets), in: output.streamFormat)
    if content.losesParameterSets { _ = assembler.pieces.drop(Codec.typesInConfigurationRecord) }
    // Until downstream has got something, its caps may be older than the edits.
    let isOlder = hasEdited && !editing.hasDelivered
    let isStale = content.changesCodecData || isOlder || isAnnouncementDue
    let codecData = isStale ? try changedCodecData(output) : []
    try edit(output)
    if settings.insertsCaptions { try insertCaptions(output) }
    guard !assembler.pieces.allSatisfy(\.isEmpty), !content.isParameterSetsOnly else {
      removeAccessUnit()
      return nil
    }
    completeInsertions()
    step = .write
    return codecData
  }

  /// Chooses the edits of an access unit, or of new caps.
  private mutating func beginEditing(_ content: RepackedAccessUnit<Codec>?) {
    guard !editing.isIdle else { return }
    hasEdited = true
    let isStale = editing.begin(
      content, sets, frameRate: input?.frameRate, limit: output?.longestParameterSet ?? .max)
    if isStale { sets.makeStale() }
    if content?.isRandomAccessPoint ?? true || !editing.hasDelivered { editing.describe(assembler.pieces, sets) }
    journal.note(refusal: editing.takeRefusal(), isPending: editing.takePending())
  }

  /// Edits the access unit.
  private mutating func edit(_ output: RepackFormat<Codec>) throws(RepackFailure) {
    guard editing.concerns(content) else { return }
    do throws(FlowError) {
      journal.count(edited: try editing.edit(&assembler.pieces, content, sets, limit: output.longestNALUnit))
    } catch {
      throw abandon(RepackFailure(error))
    }
    journal.note(refusal: editing.takeRefusal(), isPending: false)
    if let depth = editing.takeExcess() { journal.note(measuredReorderDepth: depth) }
  }

  /// Writes captions of the buffers into the access unit.
  private mutating func insertCaptions(_ output: RepackFormat<Codec>) throws(RepackFailure) {
    do throws(FlowError) {
      let insertion = try CaptionInsertion<Codec>(into: assembler.pieces, sets.store, as: output)
      journal.count(edited: insertion.apply(to: &assembler.pieces))
      if insertion.isIncomplete { journal.warnOfUnreadableCaptions() }
    } catch {
      throw abandon(RepackFailure(error))
    }
  }

  /// New `codec_data`; empty when downstream has it.
  private mutating func changedCodecData(_ output: RepackFormat<Codec>) throws(RepackFailure) -> [UInt8] {
    // After a damaged change, the codec_data before is the best there is.
    guard output.streamFormat.isLengthPrefixed, sets.canDescribe else { return [] }
    let codecData = codecData(for: output.streamFormat)
    guard !codecData.isEmpty else { throw abandon(.unrepresentableParameterSets(Codec.self)) }
    guard codecData != output.codecData else { return [] }
    self.output?.codecData = codecData
    journal.countParameterSetChange()
    return codecData
  }

  /// Edits the parameter sets to insert, and inserts an access unit delimiter if needed.
  private mutating func completeInsertions() {
    content.insertions = content.insertions.map { editing.edited($0) }
    journal.count(insertedParameterSets: content.insertions.count)
    guard content.hasPicture, !content.hasDelimiter || settings.drop.contains(.delimiters) else { return }
    let isWanted = settings.insertsDelimiter && output?.streamFormat == .byteStream
    let any = isWanted ? Codec.accessUnitDelimiter(temporalID: content.temporalID) : nil
    guard let delimiter = editing.insertedDelimiter(assembler.pieces, sets) ?? any else { return }
    journal.countInsertedDelimiter()
    content.insertions.insert(delimiter, at: 0)
  }

  private mutating func write() throws(RepackFailure) -> Buffer {
    guard let output else { throw abandon(RepackFailure(.notNegotiated)) }
    do throws(RepackFailure) {
      let marksBrokenLink = settings.marksBrokenLinks && continuity.takeCut(assembler.pieces)
      var written = try writer.write(
        &assembler.pieces, inserting: content.insertions, marksBrokenLink: marksBrokenLink, from: input?.packaging,
        as: output)
      removeAccessUnit()
      editing.noteDelivery()
      if continuity.takeLoss() { written.buffer.flags.insert(.discontinuity) }
      if settings.removesCaptionMetas, written.buffer.hasCaptions { written.buffer.removeMetas(with: .captions) }
      journal.count(output: written.buffer.size, written.method)
      return written.buffer
    } catch {
      throw abandon(error)
    }
  }

  private mutating func abandon(_ failure: RepackFailure) -> RepackFailure {
    removeAccessUnit()
    return failure
  }
}
