// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The edits that hold, and what becomes of parameter sets and SEI by them.
///
/// Parameter sets are stored as they came, since slices are read by them; they are edited on their way out. Edits of
/// them begin with a coded video sequence: a decoder takes another SPS only there.
struct RepackEditing<Codec: RepackCodec> {
  /// What the property asks for.
  private var wanted = StreamEditList()
  /// What holds, and knows the parameter sets of this version.
  private var editor = StreamEditor<Codec>([])
  private var version: UInt64 = 0
  /// What was decided at the start of the last coded video sequence, and for which parameter sets.
  private var decided: Decision?
  /// Why the stream goes on unedited; nil when it does not.
  private var refusal: StreamEditError?
  /// The edited description of the stream, and the SPS that it is of.
  private var format: FormatDescription?
  private var described: SequenceParameterSetID?
  /// The caps fields that edits have concerned since the start of the stream.
  private var concerned: Set<EditedCapsField> = []
  /// Caps may have to change before the next access unit.
  private var isDescriptionDue = false
  /// Downstream has got something of the stream.
  private(set) var hasDelivered = false
  /// The sequence was ended: the next random access point begins another one.
  private var followsEnd = false
  private var isPending = false
  private var isRefusalDue = false
  private var isPendingDue = false

  /// What was decided, and for what.
  private struct Decision: Equatable {
    var list: StreamEditList
    /// Of the parameter sets.
    var version: UInt64
    /// The longest NAL unit.
    var limit: Int
  }

  /// Takes the property's value.
  mutating func adopt(_ list: StreamEditList) {
    guard list != wanted else { return }
    wanted = list
    refusal = nil
    isPending = false
    setMessages()
  }

  /// Whether nothing is edited, and nothing is about to be.
  @inline(__always) var isIdle: Bool { wanted.isEmpty && editor.edits.isEmpty }

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
  mutating func flush() { followsEnd = true }

  /// An access unit, or caps with parameter sets, begin.
  ///
  /// - Parameters:
  ///   - content: the access unit's; nil for caps whose parameter sets are new.
  ///   - sets: the parameter sets before the edits, those of the access unit included.
  ///   - frameRate: that of the caps.
  ///   - limit: the longest NAL unit that the output's length prefixes allow.
  /// - Returns: whether downstream has parameter sets in another form.
  mutating func begin(
    _ content: AccessUnitContent<Codec>?, _ sets: RepackParameterSets<Codec>, frameRate: Fraction?, limit: Int
  ) -> Bool {
    guard !isIdle else { return false }
    let startsSequence = content.map { $0.startsSequence(afterEnd: followsEnd) } ?? true
    if let content, content.hasPicture { followsEnd = content.hasEnd }
    guard startsSequence || !hasDelivered, !sets.store.isEmpty else {
      notePending()
      if version != sets.version { take(editor.edits, sets) }
      return false
    }
    let next = Decision(list: wanted, version: sets.version, limit: limit)
    guard decided != next else { return false }
    decided = next
    return decide(sets, frameRate, limit)
  }

  /// Notes, once, that edits wait for the start of a coded video sequence.
  private mutating func notePending() {
    guard !isPending, hasDelivered, decided?.list != wanted,
      wanted.findsLevel || wanted.headerEdits(at: nil) != editor.edits.filter({ !$0.concernsSEI })
    else { return }
    isPending = true
    isPendingDue = true
  }

  private mutating func decide(
    _ sets: RepackParameterSets<Codec>, _ frameRate: Fraction?, _ limit: Int
  ) -> Bool {
    let nalUnits = sets.nalUnits
    var before = editor
    take(editor.edits, sets)
    let old = refusal
    refusal = nil
    do throws(StreamEditError) {
      var new = StreamEditor<Codec>(try edits(for: nalUnits, frameRate), sets: sets.store)
      for nalUnit in nalUnits {
        guard let edited = try new.edited(nalUnit.span, of: nil) else { continue }
        guard edited.count <= limit else { throw Self.isTooLong(edited) }
      }
      editor = new
    } catch {
      if old == nil { isRefusalDue = true }
      refusal = error
      take([], sets)
    }
    // The description before is of the parameter sets in another form.
    (isPending, isDescriptionDue, format) = (false, true, nil)
    concerned.formUnion(EditedCapsField.list(editor.edits))
    var after = editor
    return hasDelivered && nalUnits.contains { edited($0, &before) != edited($0, &after) }
  }

  private func edits(for nalUnits: [[UInt8]], _ frameRate: Fraction?) throws(StreamEditError) -> [StreamEdit] {
    guard wanted.findsLevel else { return wanted.edits }
    let rate = frameRate.flatMap { Ratio(UInt32(clamping: $0.numerator), UInt32(clamping: $0.denominator)) }
    let level = Codec.lowestLevel(of: nalUnits, after: wanted.headerEdits(at: nil), LevelDemand(frameRate: rate))
    guard let level else {
      // Without a level, so that the edit that is refused is named.
      for nalUnit in nalUnits {
        _ = try Codec.edited(parameterSet: nalUnit.span, wanted.edits, sets: Codec.ParameterSets())
      }
      throw StreamEditError(
        .exceedsLevel, "level_idc", nil, "the stream keeps the limits of no level", clause: "Annex A")
    }
    return wanted.edits(at: level)
  }

  private mutating func take(_ edits: [StreamEdit], _ sets: RepackParameterSets<Codec>) {
    editor = StreamEditor<Codec>(edits, sets: sets.store)
    version = sets.version
  }

  /// Edits of SEI hold from the next access unit on.
  private mutating func setMessages() {
    let edits = editor.edits.filter { !$0.concernsSEI } + wanted.messageEdits
    guard edits != editor.edits else { return }
    editor = editor.with(edits)
    concerned.formUnion(EditedCapsField.list(edits))
    isDescriptionDue = true
  }

  private static func isTooLong(_ nalUnit: [UInt8]) -> StreamEditError {
    StreamEditError(
      .lengthNotRepresentable, "NALUnitLength", Int64(nalUnit.count),
      "the length prefix is too short for the edited NAL unit", clause: "ISO/IEC 14496-15 4.3.3")
  }

  // MARK: Editing

  /// The edited form of a parameter set.
  mutating func edited(_ nalUnit: [UInt8]) -> [UInt8] { isIdle ? nalUnit : edited(nalUnit, &editor) }

  private func edited(_ nalUnit: [UInt8], _ editor: inout StreamEditor<Codec>) -> [UInt8] {
    do throws(StreamEditError) { return try editor.edited(nalUnit.span, of: nil) ?? nalUnit } catch { return nalUnit }
  }

  /// The edited form of a configuration record.
  func edited(_ record: Codec.ConfigurationRecord) -> Codec.ConfigurationRecord {
    guard !editor.edits.isEmpty else { return record }
    var editor = editor
    do throws(StreamEditError) { return try editor.edit(record) } catch { return record }
  }

  /// Edits parameter sets and SEI of an access unit.
  ///
  /// - Parameters:
  ///   - pieces: the access unit.
  ///   - content: what is in it.
  ///   - limit: the longest NAL unit that the output's length prefixes allow.
  /// - Returns: how many NAL units have changed.
  mutating func edit(
    _ pieces: [RepackPiece<Codec>], _ content: AccessUnitContent<Codec>, limit: Int
  ) throws(FlowError) -> Int {
    guard !editor.edits.isEmpty, editor.editsSEI || content.hasParameterSets else { return 0 }
    let (picture, sei) = editor.editsSEI ? try search(pieces, limit) : (nil, nil)
    var changes = 0
    var index = 0
    for piece in pieces {
      try piece.withBytes { bytes in
        for (place, entry) in piece.nalUnits.enumerated() {
          if let sei, index == picture?.insertion {
            piece.insert(sei, before: place)
            changes += 1
          }
          index += 1
          let type = Codec.NALUnitType(rawValue: entry.type)
          guard type.isParameterSet || type.isSEI else { continue }
          guard let new = edited(bytes.extracting(entry.range), picture, limit) else { continue }
          piece.replace(with: new, at: place)
          changes += 1
        }
      }
    }
    return changes
  }

  /// What takes a NAL unit's place: an empty one where it is removed, nil where it stays.
  private mutating func edited(
    _ nalUnit: Span<UInt8>, _ picture: PictureSearch<Codec>.Picture?, _ limit: Int
  ) -> [UInt8]? {
    do throws(StreamEditError) {
      guard let new = try editor.edited(nalUnit, of: picture) else { return nil }
      guard new.count <= limit else { throw Self.isTooLong(new) }
      return new
    } catch {
      // Parameter sets of another sequence than this one, which is then not edited.
      noteRefusal(error)
      return nil
    }
  }

  /// Finds the picture, and what is inserted in front of it.
  private mutating func search(
    _ pieces: [RepackPiece<Codec>], _ limit: Int
  ) throws(FlowError) -> (PictureSearch<Codec>.Picture?, [UInt8]?) {
    var search = PictureSearch<Codec>()
    for piece in pieces {
      let found = try piece.withBytes { bytes -> (picture: PictureSearch<Codec>.Picture, sei: [UInt8]?)? in
        for entry in piece.nalUnits {
          if let found = editor.search(bytes.extracting(entry.range), &search) { return found }
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

  /// Describes the sequence that begins with an access unit: another SPS may be active than before.
  mutating func describe(_ pieces: [RepackPiece<Codec>], _ sets: RepackParameterSets<Codec>) {
    let id = Self.sequenceParameterSetID(of: pieces, sets)
    guard !concerned.isEmpty, id != described || format == nil else { return }
    described = id
    var edited = Codec.ParameterSets()
    do throws(BitstreamError) {
      for nalUnit in sets.nalUnits {
        do throws(BitstreamError) { try edited.insert(self.edited(nalUnit).span) } catch {
          // A decoder may know more.
        }
      }
      format = try Codec.formatDescription(edited, sequenceParameterSetID: id, nalLengthSize: nil)
    } catch {
      format = nil
    }
    isDescriptionDue = true
  }

  private static func sequenceParameterSetID(
    of pieces: [RepackPiece<Codec>], _ sets: RepackParameterSets<Codec>
  ) -> SequenceParameterSetID? {
    for piece in pieces {
      guard let slice = piece.nalUnits.first(where: { Codec.NALUnitType(rawValue: $0.type).isVCL }) else { continue }
      do throws(FlowError) {
        return try piece.withBytes {
          PictureSearch<Codec>.sequenceParameterSetID(of: $0.extracting(slice.range), sets.store)
        }
      } catch {
        return nil
      }
    }
    return nil
  }

  /// Whether caps may have to change. Returns true once.
  @inline(__always) mutating func takeDescriptionChange() -> Bool {
    guard isDescriptionDue else { return false }
    isDescriptionDue = false
    return true
  }

  /// Sets the fields that edits concern, and those that they did concern as upstream has them.
  func setFields(of caps: inout Caps, upstream: StructureView) {
    // Before the parameter sets come, what is not known is not promised.
    guard hasDelivered || decided != nil else { return }
    let edited = EditedCapsField.list(editor.edits)
    for field in concerned.union(EditedCapsField.list(wanted.edits)) {
      let value = edited.contains(field) ? format.flatMap(field.value) : upstream.value(field.rawValue)
      if let value { caps.set(field.rawValue, value) } else { caps.remove(field.rawValue) }
    }
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
}
