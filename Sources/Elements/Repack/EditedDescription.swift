// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The caps fields of a stream whose parameter sets and SEI are edited.
struct EditedDescription<Codec: RepackCodec> {
  /// The edited description of the stream, and the SPS that it is of.
  private var format: FormatDescription?
  private var described: SequenceParameterSetID?
  /// The caps fields that edits have concerned since the start of the stream.
  private var concerned: Set<EditedCapsField> = []
  /// Caps may have to change before the next access unit.
  private(set) var isChangeDue = false

  /// Edits apply starting at the next access unit.
  ///
  /// - Parameter isOfParameterSets: the description before is of parameter sets in another form.
  mutating func follow(_ edits: [StreamEdit], isOfParameterSets: Bool) {
    if isOfParameterSets { format = nil }
    concerned.formUnion(EditedCapsField.list(StreamEditList(edits)))
    isChangeDue = true
  }

  /// Describes the sequence that begins with an access unit: another SPS may be active than before.
  ///
  /// - Parameter editor: edits the parameter sets.
  mutating func describe(
    _ pieces: [RepackPiece<Codec>], _ sets: RepackParameterSets<Codec>, by editor: StreamEditor<Codec>
  ) {
    let id = Self.sequenceParameterSetID(of: pieces, sets)
    guard !concerned.isEmpty, id != described || format == nil else { return }
    described = id
    var editor = editor
    var store = Codec.ParameterSets()
    do throws(BitstreamError) {
      for nalUnit in sets.nalUnits {
        do throws(BitstreamError) { try store.insert(editor.edited(nalUnit).span) } catch {
          // A decoder may be able to read more.
        }
      }
      format = try Codec.formatDescription(store, sequenceParameterSetID: id, nalLengthSize: nil)
    } catch {
      format = nil
    }
    isChangeDue = true
  }

  private static func sequenceParameterSetID(
    of pieces: [RepackPiece<Codec>], _ sets: RepackParameterSets<Codec>
  ) -> SequenceParameterSetID? {
    for piece in pieces {
      guard let slice = piece.firstSlice else { continue }
      do throws(FlowError) {
        return try piece.withBytes {
          PictureSearch<Codec>.sequenceParameterSetID(of: $0.extracting(slice), sets.store)
        }
      } catch {
        return nil
      }
    }
    return nil
  }

  /// Whether caps may have to change. Returns true once.
  @inline(__always) mutating func takeChange() -> Bool {
    guard isChangeDue else { return false }
    isChangeDue = false
    return true
  }

  /// The value of `hdr-format` for a stream with dynamic metadata, whether or not it has that of HDR10.
  private static var hdr10Plus: String { "hdr10+" }

  /// Sets the fields that edits concern, and those that they did concern as upstream has them.
  ///
  /// - Parameters:
  ///   - edits: those that hold.
  ///   - wanted: those that are to hold.
  func setFields(of caps: inout Caps, upstream: StructureView, _ edits: [StreamEdit], wanted: [StreamEdit]) {
    let edited = EditedCapsField.list(StreamEditList(edits))
    let inserted = DisplayMetadata(insertedBy: edits)
    let fields = concerned.union(EditedCapsField.list(StreamEditList(wanted)))
    for field in fields {
      let value = edited.contains(field) ? field.value(format, inserted) : upstream.value(field.rawValue)
      if let value { caps.set(field.rawValue, value) } else { caps.remove(field.rawValue) }
    }
    guard fields.contains(.dynamicRange), edited.contains(.dynamicRange) else { return }
    let field = EditedCapsField.dynamicRange.rawValue
    var format = upstream.string(field)
    if format == Self.hdr10Plus, StreamEditList(edits).affects(.metadata(.hdr10Plus)) { format = nil }
    let lights: [EditedCapsField] = [.masteringDisplay, .contentLight]
    guard format == Self.hdr10Plus || lights.allSatisfy({ caps.first.has($0.rawValue) }) else { return }
    caps.set(field, .string(format ?? "hdr10"))
  }
}

extension StreamEditor {
  /// The edited form of a parameter set; its own form if nothing is edited, or the edit is refused.
  mutating func edited(_ nalUnit: [UInt8]) -> [UInt8] {
    guard !edits.isEmpty else { return nalUnit }
    do throws(StreamEditError) { return try edited(nalUnit.span, of: nil) ?? nalUnit } catch { return nalUnit }
  }
}
