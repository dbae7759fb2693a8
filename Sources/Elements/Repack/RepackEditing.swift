// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The edits that hold, and what becomes of parameter sets and SEI by them.
///
/// Parameter sets are stored as they came, since slices are read by them; they are edited on their way out. Edits of
/// them begin with a coded video sequence: a decoder takes another SPS only there.
struct RepackEditing<Codec: RepackCodec> {
  /// The edits that the property requests.
  private var wanted = StreamEditList()
  /// The current edits, with the parameter sets of this version.
  private var editor = StreamEditor<Codec>([])
  private var version: UInt64 = 0
  /// The scope of the current edits; the editor's own answers are not inlined here.
  private var scope = Scope()
  /// The property was set since edits were last decided.
  private var hasNewList = false
  /// The decision at the start of the last coded video sequence, with its parameter sets.
  private var decided: Decision?
  /// The reason the stream continues unedited; nil if it does not.
  private var refusal: StreamEditError?
  private var description = EditedDescription<Codec>()
  private var reordering = MeasuredReordering<Codec>()
  /// Downstream has got something of the stream.
  private(set) var hasDelivered = false
  /// The sequence was ended: the next random access point begins another one.
  private var followsEnd = false
  private var isPending = false
  private var isRefusalDue = false
  private var isPendingDue = false
  /// The reorder depth that has proved larger than was written, to be reported.
  private var excess: Int?

  /// A decision and its basis.
  private struct Decision: Equatable {
    var list: StreamEditList
    /// The edit in the place of `latency`.
    var reordering: StreamEdit?
    /// The version of the parameter sets.
    var version: UInt64
    /// The longest NAL unit.
    var limit: Int
  }

  /// The parts of a stream that edits concern.
  private struct Scope {
    var isEmpty = true
    var hasMessages = false
    /// The picture must be found.
    var needsPicture = false
    var insertsDelimiters = false
    /// NAL units of any type may have to change.
    var editsOtherNALUnits = false

    init() {}

    init(_ editor: StreamEditor<Codec>) {
      (isEmpty, hasMessages, needsPicture) = (editor.edits.isEmpty, editor.editsSEI, editor.needsPicture)
      (insertsDelimiters, editsOtherNALUnits) = (editor.needsDelimiters, editor.editsOtherNALUnits)
    }

    /// Whether all NAL units of an access unit must be looked at.
    var hasWholeAccessUnits: Bool { needsPicture || insertsDelimiters || editsOtherNALUnits }
  }

  private mutating func use(_ editor: StreamEditor<Codec>) {
    self.editor = editor
    scope = Scope(editor)
  }

  /// Takes the property's value.
  mutating func adopt(_ list: StreamEditList) {
    guard list != wanted else { return }
    // Pictures that were not measured are between those before and those to come.
    if !wanted.setsReordering { reordering.flush() }
    wanted = list
    hasNewList = true
    refusal = nil
    isPending = false
    setMessages()
  }

  /// Whether nothing is edited, and nothing is about to be, nor are caps to change back.
  @inline(__always) var isIdle: Bool { scope.isEmpty && wanted.isEmpty && !description.isChangeDue }

  /// Whether no edit concerns anything but parameter sets.
  @inline(__always) var keepsPictures: Bool {
    !wanted.setsReordering && !scope.hasWholeAccessUnits && !scope.hasMessages
  }

  // MARK: The stream

  /// Downstream has got something.
  @inline(__always) mutating func noteDelivery() { hasDelivered = true }

  /// Another stream begins.
  mutating func beginStream() {
    self = RepackEditing(wanted)
  }

  init() {}

  private init(_ list: StreamEditList) { adopt(list) }

  /// The stream continues elsewhere, with a random access point.
  mutating func flush() {
    followsEnd = true
    reordering.flush()
  }

  /// Whether an access unit leaves the decision unchanged. It is no random access point, at which a coded video
  /// sequence may begin, and has no new parameter sets.
  @inline(__always)
  func continues(_ content: RepackedAccessUnit<Codec>, _ sets: RepackParameterSets<Codec>) -> Bool {
    hasDelivered && !hasNewList && !followsEnd && version == sets.version && !content.isRandomAccessPoint
      && !content.hasEnd
  }

  /// An access unit, or caps with parameter sets, begin.
  ///
  /// - Parameters:
  ///   - content: the access unit's; nil for caps whose parameter sets are new.
  ///   - sets: the parameter sets before the edits, including the access unit's.
  ///   - frameRate: the caps' frame rate.
  ///   - limit: the longest NAL unit that the output's length prefixes allow.
  /// - Returns: whether downstream has parameter sets in another form.
  mutating func begin(
    _ content: RepackedAccessUnit<Codec>?, _ sets: RepackParameterSets<Codec>, frameRate: Fraction?, limit: Int
  ) -> Bool {
    guard !isIdle else { return false }
    let startsSequence = content.map { $0.startsSequence(afterEnd: followsEnd) } ?? true
    if let content, content.hasPicture { followsEnd = content.hasEnd }
    guard startsSequence || !hasDelivered, !sets.store.isEmpty else {
      notePending()
      if version != sets.version { take(editor.edits, sets) }
      return false
    }
    let least = wanted.leastReordering.map(reordering.edit(atLeast:))
    let depth = wanted.measuresReordering ? reordering.edit(sets) : least
    defer { reordering.beginSequence(refusal == nil ? depth : nil) }
    let next = Decision(list: wanted, reordering: depth, version: sets.version, limit: limit)
    hasNewList = false
    guard decided != next else { return false }
    decided = next
    return decide(next, sets, frameRate)
  }

  /// Notes, once, that edits wait for the start of a coded video sequence.
  private mutating func notePending() {
    let depth = wanted.leastReordering.map(reordering.edit(atLeast:)) ?? decided?.reordering
    guard !isPending, hasDelivered, decided?.list != wanted,
      wanted.findsLevel || wanted.headerEdits(depth) != editor.edits.filter({ !$0.keepsParameterSets })
    else { return }
    isPending = true
    isPendingDue = true
  }

  private mutating func decide(
    _ decision: Decision, _ sets: RepackParameterSets<Codec>, _ frameRate: Fraction?
  ) -> Bool {
    let nalUnits = sets.nalUnits
    var before = editor
    take(editor.edits, sets)
    let old = refusal
    refusal = nil
    do throws(StreamEditError) {
      var new = StreamEditor<Codec>(try edits(for: nalUnits, sets, decision.reordering, frameRate), sets: sets.store)
      for nalUnit in nalUnits {
        guard let edited = try new.edited(nalUnit.span, of: nil) else { continue }
        guard edited.count <= decision.limit else { throw Self.isTooLong(edited) }
      }
      use(new)
    } catch {
      if old == nil { isRefusalDue = true }
      refusal = error
      take([], sets)
    }
    isPending = false
    description.follow(editor.edits, isOfParameterSets: true)
    var after = editor
    return hasDelivered && nalUnits.contains { before.edited($0) != after.edited($0) }
  }

  private func edits(
    for nalUnits: [[UInt8]], _ sets: RepackParameterSets<Codec>, _ reordering: StreamEdit?, _ frameRate: Fraction?
  ) throws(StreamEditError) -> [StreamEdit] {
    guard wanted.findsLevel else { return wanted.edits(at: nil, reordering: reordering) }
    let rate = frameRate.flatMap { Ratio(UInt32(clamping: $0.numerator), UInt32(clamping: $0.denominator)) }
    let level = Codec.provenLevel(
      of: nalUnits, after: wanted.headerEdits(reordering), sets: sets.store, frameRate: rate)
    guard let level else {
      // Without a level, so that the edit that is refused is named.
      for nalUnit in nalUnits {
        _ = try Codec.edited(parameterSet: nalUnit.span, wanted.edits, sets: Codec.ParameterSets())
      }
      throw StreamEditError(
        .exceedsLevel, "level_idc", nil, "the stream exceeds the limits of every level",
        clause: Codec.clauseOfLevels)
    }
    return wanted.edits(at: level, reordering: reordering)
  }

  private mutating func take(_ edits: [StreamEdit], _ sets: RepackParameterSets<Codec>) {
    use(StreamEditor<Codec>(edits, sets: sets.store))
    version = sets.version
  }

  /// Edits of SEI apply starting at the next access unit.
  private mutating func setMessages() {
    let edits = editor.edits.filter { !$0.keepsParameterSets } + wanted.messageEdits
    guard edits != editor.edits else { return }
    use(editor.with(edits))
    description.follow(edits, isOfParameterSets: false)
  }

  private static func isTooLong(_ nalUnit: [UInt8]) -> StreamEditError {
    StreamEditError(
      .lengthNotRepresentable, "NALUnitLength", Int64(nalUnit.count),
      "the length prefix is too short for the edited NAL unit", clause: "ISO/IEC 14496-15 4.3.3")
  }

  // MARK: Editing

  /// The edited form of a parameter set.
  mutating func edited(_ nalUnit: [UInt8]) -> [UInt8] { editor.edited(nalUnit) }

  /// The edited form of a configuration record.
  func edited(_ record: Codec.ConfigurationRecord) -> Codec.ConfigurationRecord {
    guard !editor.edits.isEmpty else { return record }
    var editor = editor
    do throws(StreamEditError) { return try editor.edit(record) } catch { return record }
  }

  /// Whether an access unit has what the edits that hold concern, or its pictures are measured.
  @inline(__always) func concerns(_ content: RepackedAccessUnit<Codec>) -> Bool {
    wanted.setsReordering || scope.hasWholeAccessUnits || content.hasParameterSets
      || scope.hasMessages && content.hasSEI
  }

  /// Edits parameter sets and SEI of an access unit.
  ///
  /// - Parameters:
  ///   - pieces: the access unit, from which NAL units were dropped.
  ///   - content: its contents.
  ///   - sets: the parameter sets before the edits.
  ///   - limit: the longest NAL unit that the output's length prefixes allow.
  /// - Returns: how many NAL units have changed.
  mutating func edit(
    _ pieces: inout [RepackPiece<Codec>], _ content: RepackedAccessUnit<Codec>, _ sets: RepackParameterSets<Codec>,
    limit: Int
  ) throws(FlowError) -> Int {
    if wanted.setsReordering {
      excess = try reordering.take(pieces, sets, endsSequence: content.hasEnd) ?? excess
    }
    guard !scope.isEmpty else { return 0 }
    let (picture, sei) = scope.needsPicture ? try search(pieces, limit) : (nil, nil)
    let delimiter = scope.insertsDelimiters && content.hasDelimiter ? try delimiter(for: pieces, sets) : nil
    var changes = 0
    var index = 0
    for number in pieces.indices {
      let splices = try pieces[number].withBytes { bytes -> [(nalUnit: [UInt8], place: Int, replaces: Bool)] in
        var splices: [(nalUnit: [UInt8], place: Int, replaces: Bool)] = []
        for (place, entry) in pieces[number].nalUnits.enumerated() {
          if let sei, index == picture?.insertion { splices.append((sei, place, false)) }
          index += 1
          let type = Codec.NALUnitType(rawValue: entry.type)
          guard
            type.isParameterSet || type.isSEI || scope.editsOtherNALUnits
              || delimiter != nil && type == Codec.NALUnitType.accessUnitDelimiter
          else { continue }
          guard let new = edited(bytes.extracting(entry.range), picture, delimiter, limit) else { continue }
          splices.append((new, place, true))
        }
        return splices
      }
      for splice in splices { pieces[number].splice(splice.nalUnit, at: splice.place, replaces: splice.replaces) }
      changes += splices.count
    }
    return changes
  }

  /// Returns a NAL unit's replacement: empty if it is removed, nil if it stays.
  private mutating func edited(
    _ nalUnit: Span<UInt8>, _ picture: PictureSearch<Codec>.Picture?, _ delimiter: DelimiterSearch<Codec>?, _ limit: Int
  ) -> [UInt8]? {
    do throws(StreamEditError) {
      guard let new = try editor.edited(nalUnit, of: picture, delimiter) else { return nil }
      guard new.count <= limit else { throw Self.isTooLong(new) }
      return new
    } catch {
      // Parameter sets of another sequence than this one, which is then not edited.
      noteRefusal(error)
      return nil
    }
  }

  /// The access unit delimiter to insert into an access unit that has none; nil if none is requested.
  func insertedDelimiter(_ pieces: [RepackPiece<Codec>], _ sets: RepackParameterSets<Codec>) -> [UInt8]? {
    guard scope.insertsDelimiters else { return nil }
    // Bytes that cannot be mapped fail when they are written.
    do throws(FlowError) { return try delimiter(for: pieces, sets).nalUnit } catch { return nil }
  }

  private func delimiter(
    for pieces: [RepackPiece<Codec>], _ sets: RepackParameterSets<Codec>
  ) throws(FlowError) -> DelimiterSearch<Codec> {
    var search = DelimiterSearch<Codec>()
    for piece in pieces {
      try piece.withBytes { bytes in
        for entry in piece.nalUnits { search.take(bytes.extracting(entry.range), sets.store) }
      }
    }
    return search
  }

  /// Finds the picture, and the insertion in front of it.
  private mutating func search(
    _ pieces: [RepackPiece<Codec>], _ limit: Int
  ) throws(FlowError) -> (PictureSearch<Codec>.Picture?, [UInt8]?) {
    var search = PictureSearch<Codec>()
    for piece in pieces {
      let found = try piece.withBytes { bytes -> (picture: PictureSearch<Codec>.Picture, sei: [UInt8]?)? in
        for entry in piece.nalUnits {
          do throws(StreamEditError) {
            if let found = try editor.search(bytes.extracting(entry.range), &search) { return found }
          } catch {
            noteRefusal(error)
            return nil
          }
        }
        return nil
      }
      guard let found else { continue }
      guard let sei = found.sei, sei.count > limit else { return found }
      noteRefusal(Self.isTooLong(sei))
      return (found.picture, nil)
    }
    return (nil, nil)
  }

  private mutating func noteRefusal(_ error: StreamEditError) {
    guard refusal == nil else { return }
    refusal = error
    isRefusalDue = true
  }

  // MARK: Description

  /// Describes the sequence that begins with an access unit.
  mutating func describe(_ pieces: [RepackPiece<Codec>], _ sets: RepackParameterSets<Codec>) {
    description.describe(pieces, sets, by: editor)
  }

  /// Whether caps may have to change. Returns true once.
  @inline(__always) mutating func takeDescriptionChange() -> Bool { description.takeChange() }

  /// Sets the fields that edits concern, and those that they did concern as upstream has them.
  func setFields(of caps: inout Caps, upstream: StructureView) {
    // Before the parameter sets come, unknown fields are not announced.
    guard hasDelivered || decided != nil else { return }
    description.setFields(of: &caps, upstream: upstream, editor.edits, wanted: wanted.edits)
  }

  // MARK: Reports

  /// The refusal to warn of. Returned once.
  mutating func takeRefusal() -> StreamEditError? {
    guard isRefusalDue else { return nil }
    isRefusalDue = false
    return refusal
  }

  /// Whether to announce that edits wait for the start of a coded video sequence. Returns true once.
  mutating func takePending() -> Bool {
    guard isPendingDue else { return false }
    isPendingDue = false
    return true
  }

  /// The reorder depth that pictures need, if the headers announce less. Returned once.
  mutating func takeExcess() -> Int? { excess.take() }
}
