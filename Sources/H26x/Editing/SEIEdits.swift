// SPDX-License-Identifier: MPL-2.0

/// The edits that concern SEI.
struct SEIEdits: Sendable {
  private var removed: Set<SEIPayloadType> = []
  private var kept: Set<SEIPayloadType>?
  private var insertions: [SEIInsertion] = []
  private var removesHRD = false

  init(_ edits: [StreamEdit]) {
    for edit in edits {
      switch edit {
      case .removeSEI(let type): removed.insert(type)
      case .keepSEI(let types): kept = kept?.intersection(types) ?? types
      case .insertSEI(let insertion): insertions.append(insertion)
      case .removeHRD: removesHRD = true
      default: break
      }
    }
  }

  private var changesMessages: Bool { removesHRD || kept != nil || !removed.isEmpty }

  /// Whether none concerns SEI.
  var isEmpty: Bool { !changesMessages && insertions.isEmpty }

  /// What an access unit gets.
  func inserted(accessUnit: Int, isKeyframe: Bool) -> [SEIInsertion] {
    insertions.filter {
      switch $0.place {
      case .keyframes: isKeyframe
      case .accessUnits(let numbers): numbers.contains(accessUnit)
      }
    }
  }

  /// What takes the place of a NAL unit with SEI: nil when it stays, an empty one when nothing is left of it. One that
  /// cannot be read to its end stays.
  func edited<Codec: StreamEditing>(
    _ nalUnit: Span<UInt8>, _: Codec.Type, _ sps: Codec.SequenceParameterSet?, _ changes: inout SEIChanges
  ) -> [UInt8]? {
    guard changesMessages, nalUnit.count > Codec.nalUnitHeaderLength,
      Codec.NALUnitType(headerByte: nalUnit[0]).isSEI
    else { return nil }
    var left: [(type: SEIPayloadType, payload: [UInt8])] = []
    var counted = SEIChanges()
    do throws(BitstreamError) {
      var messages = SEIMessages(nalUnit, headerLength: Codec.nalUnitHeaderLength)
      while let message = try messages.next() {
        switch edited(message, Codec.self, sps) {
        case .unchanged: left.append((message.type, try message.payload()))
        case .replaced(let payload):
          left.append((message.type, payload))
          counted.count(message.type) { $0.changed += 1 }
        case .removed: counted.count(message.type) { $0.removed += 1 }
        }
      }
    } catch {
      return nil
    }
    guard !counted.isEmpty else { return nil }
    changes.add(counted)
    guard !left.isEmpty else { return [] }
    return seiNALUnit(left, header: [UInt8](copying: nalUnit.extracting(first: Codec.nalUnitHeaderLength)))
  }

  private func edited<Codec: StreamEditing>(
    _ message: borrowing SEIMessages.Message, _: Codec.Type, _ sps: Codec.SequenceParameterSet?
  ) -> EditedSEIMessage {
    if removed.contains(message.type) { return .removed }
    if let kept, !kept.contains(message.type) { return .removed }
    return removesHRD ? Codec.withoutHRD(message, sps: sps) : .unchanged
  }
}
