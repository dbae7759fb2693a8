// SPDX-License-Identifier: MPL-2.0

/// The edits that concern SEI.
struct SEIEdits: Sendable {
  private var removed: Set<SEIPayloadType> = []
  private var removedMetadata: Set<RemovableMetadata> = []
  private var kept: Set<SEIPayloadType>?
  private var atKeyframes: [SEIInsertion] = []
  private var byAccessUnit: [Int: [SEIInsertion]] = [:]
  private var removesHRD = false

  init(_ edits: [StreamEdit]) {
    for edit in edits {
      switch edit {
      case .removeSEI(let type): removed.insert(type)
      case .keepSEI(let types): kept = kept?.intersection(types) ?? types
      case .removeMetadata(let kind, isForced: _): if kind != .dolbyVision { removedMetadata.insert(kind) }
      case .insertSEI(let insertion): add(insertion)
      case .removeHRD: removesHRD = true
      default: break
      }
    }
  }

  private mutating func add(_ insertion: SEIInsertion) {
    switch insertion.place {
    case .keyframes: atKeyframes.append(insertion)
    case .accessUnits(let numbers): for number in numbers { byAccessUnit[number, default: []].append(insertion) }
    }
  }

  /// Checks that messages stay which a stream with HRD parameters has to have.
  func checkTiming(clause: StaticString) throws(StreamEditError) {
    guard !removesHRD, let type = [.bufferingPeriod, .pictureTiming].first(where: removes) else { return }
    throw StreamEditError(
      .forbiddenCombination, "payloadType", Int64(type.rawValue), "HRD parameters need it: remove them, too",
      clause: clause)
  }

  /// Whether all messages of a type are removed.
  private func removes(_ type: SEIPayloadType) -> Bool {
    removed.contains(type) || kept?.contains(type) == false || removedMetadata.contains { $0.owns(type) }
  }

  /// The metadata that is removed with a message; nil if the message is none.
  private func removedKind(of message: borrowing SEIMessages.Message) -> RemovableMetadata? {
    guard !removedMetadata.isEmpty, let kind = RemovableMetadata(message), removedMetadata.contains(kind) else {
      return nil
    }
    return kind
  }

  private var changesMessages: Bool { removesHRD || kept != nil || !removed.isEmpty || !removedMetadata.isEmpty }

  /// Whether none concerns SEI.
  var isEmpty: Bool { !changesMessages && !insertsMessages }

  private var insertsMessages: Bool { !atKeyframes.isEmpty || !byAccessUnit.isEmpty }

  /// Whether an edit needs the picture: it inserts a message, or the SPS determines the contents of a message.
  var dependOnPicture: Bool { removesHRD || insertsMessages }

  /// Returns the messages to insert into an access unit. If a type allows one message at most and the access unit
  /// already has it, the message is not repeated.
  ///
  /// - Parameters:
  ///   - messages: the messages of the access unit, before the edits, whose types allow one message at most.
  ///   - clause: the annex of SEI.
  /// - Throws: `.forbiddenCombination` if a message that stays has other content.
  func inserted(
    accessUnit: Int, isKeyframe: Bool, beside messages: [SEIPayloadType: [UInt8]], clause: StaticString
  ) throws(StreamEditError) -> [SEIInsertion] {
    var present = messages.filter { !removes($0.key) }
    var inserted: [SEIInsertion] = []
    for insertion in (isKeyframe ? atKeyframes : []) + (byAccessUnit[accessUnit] ?? []) {
      if Self.single.contains(insertion.type),
        let other = present.updateValue(insertion.payload, forKey: insertion.type)
      {
        guard other == insertion.payload else {
          throw StreamEditError(
            .forbiddenCombination, "payloadType", Int64(insertion.type.rawValue),
            "the access unit has a message of this type with other content", clause: clause)
        }
        continue
      }
      inserted.append(insertion)
    }
    return inserted
  }

  /// The types of which messages with different contents cannot be meant for one picture.
  static let single: Set<SEIPayloadType> = [
    .recoveryPoint, .displayOrientation, .masteringDisplayColourVolume, .contentLightLevel,
    .alternativeTransferCharacteristics,
  ]

  /// The replacement for an SEI NAL unit: nil if it stays, empty if no message is left. A NAL unit that cannot be
  /// read to its end stays.
  func edited<Codec: StreamEditing>(
    _ nalUnit: Span<UInt8>, _: Codec.Type, _ sps: Codec.SequenceParameterSet?, _ changes: inout SEIChanges
  ) -> [UInt8]? {
    guard changesMessages, nalUnit.count > Codec.nalUnitHeaderLength,
      Codec.NALUnitType(headerByte: nalUnit[0]).isSEI, concern(nalUnit, headerLength: Codec.nalUnitHeaderLength)
    else { return nil }
    var counted = SEIChanges()
    let new: [UInt8]?
    do throws(BitstreamError) {
      new = try SEIMessages.edited(nalUnit, headerLength: Codec.nalUnitHeaderLength) { message in
        if let kind = removedKind(of: message) {
          counted.countRemoved(kind)
          return .removed
        }
        let result = edited(message, Codec.self, sps)
        switch result {
        case .unchanged: break
        case .replaced: counted.count(message.type) { $0.changed += 1 }
        case .removed: counted.count(message.type) { $0.removed += 1 }
        }
        return result
      }
    } catch {
      return nil
    }
    changes.add(counted)
    return new
  }

  /// Whether one of a NAL unit's messages may change. Most have none, and their payloads need not be copied.
  private func concern(_ nalUnit: Span<UInt8>, headerLength: Int) -> Bool {
    guard !removesHRD else { return true }
    var messages = SEIMessages(nalUnit, headerLength: headerLength)
    do throws(BitstreamError) {
      while let message = try messages.next() {
        if removes(message.type) || removedKind(of: message) != nil { return true }
      }
    } catch {
      // One that cannot be read to its end stays.
    }
    return false
  }

  /// Checks that decoders can read the messages of an SEI NAL unit that is inserted in front of a picture.
  static func checkInserted<Codec: StreamEditing>(_ nalUnit: Span<UInt8>, _: Codec.Type) throws(StreamEditError) {
    let clause = Codec.clauseOfSEI
    var type = SEIPayloadType(rawValue: 0)
    do throws(BitstreamError) {
      var messages = SEIMessages(nalUnit, headerLength: Codec.nalUnitHeaderLength)
      while let message = try messages.next() {
        type = message.type
        switch type {
        case .bufferingPeriod, .pictureTiming, .decodingUnitInformation, .decodedPictureHash,
          .activeParameterSets, .scalableNesting:
          throw BitstreamError(.unsupported, "payloadType", bitOffset: 0)
        case .userDataRegistered: _ = try RegisteredUserData(message)
        case .userDataUnregistered: _ = try UnregisteredUserData(message)
        case .recoveryPoint: _ = try Codec.RecoveryPoint(message)
        case .stereoVideoInformation: _ = try StereoVideoInformation(message)
        case .framePackingArrangement: _ = try FramePackingArrangement(message, codec: Codec.codec)
        case .displayOrientation: _ = try DisplayOrientation(message, codec: Codec.codec)
        case .masteringDisplayColourVolume: _ = try MasteringDisplayColourVolume(message)
        case .contentLightLevel: _ = try ContentLightLevel(message)
        case .alternativeTransferCharacteristics: _ = try AlternativeTransferCharacteristics(message)
        default: try Codec.checkSEI(message)
        }
      }
    } catch {
      throw error.reason == .unsupported
        ? StreamEditError(
          .forbiddenCombination, "payloadType", Int64(type.rawValue),
          "depends on the rest of the stream, and cannot be inserted", clause: clause)
        : StreamEditError(
          .valueOutOfRange, "sei_payload of type", Int64(type.rawValue), "is too short, or has a value out of range",
          clause: clause)
    }
  }

  private func edited<Codec: StreamEditing>(
    _ message: borrowing SEIMessages.Message, _: Codec.Type, _ sps: Codec.SequenceParameterSet?
  ) -> EditedSEIMessage {
    if removed.contains(message.type) { return .removed }
    if let kept, !kept.contains(message.type) { return .removed }
    return removesHRD ? Codec.withoutHRD(message, sps: sps) : .unchanged
  }
}

extension StreamEditing {
  /// The annex that has the syntax and semantics of SEI messages.
  static var clauseOfSEI: StaticString { codec == .h264 ? "H.264 Annex D" : "H.265 Annex D" }
}

/// An SEI message that is added to access units.
public struct SEIInsertion: Sendable, Hashable {
  /// The access units that get it.
  public enum Place: Sendable, Hashable {
    /// Those with an IDR or IRAP picture, or a recovery point.
    case keyframes
    /// Those with these numbers in decoding order, from 0.
    case accessUnits(Set<Int>)

    /// The numbers; none for ``keyframes``.
    package var accessUnits: Set<Int> { if case .accessUnits(let numbers) = self { numbers } else { [] } }
  }

  /// `payloadType`.
  public let type: SEIPayloadType
  /// The payload, without emulation prevention bytes.
  public let payload: [UInt8]
  /// The access units that get it.
  public let place: Place

  /// Creates an insertion.
  public init(_ type: SEIPayloadType, payload: [UInt8], at place: Place) {
    (self.type, self.payload, self.place) = (type, payload, place)
  }
}

/// How many SEI messages of each type an edit has changed.
public struct SEIChanges: Sendable, Hashable {
  /// How many messages of a type.
  public struct Count: Sendable, Hashable {
    /// With another payload.
    public var changed = 0
    /// That are gone.
    public var removed = 0
    /// That were added.
    public var inserted = 0

    /// Creates a count of none.
    public init() {}
  }

  /// By type, of which at most 256 are distinguished. Removed metadata is not included.
  public private(set) var counts: [SEIPayloadType: Count] = [:]
  /// Messages that were removed by the metadata that they have.
  public private(set) var removedMetadata: [RemovableMetadata: Int] = [:]

  /// Whether none was changed.
  public var isEmpty: Bool { counts.isEmpty && removedMetadata.isEmpty }

  init() {}

  mutating func count(_ type: SEIPayloadType, _ kind: (inout Count) -> Void) {
    guard counts.count < 256 || counts[type] != nil else { return }
    kind(&counts[type, default: Count()])
  }

  mutating func countRemoved(_ kind: RemovableMetadata) { removedMetadata[kind, default: 0] += 1 }

  mutating func add(_ other: SEIChanges) {
    for (kind, more) in other.removedMetadata { removedMetadata[kind, default: 0] += more }
    for (type, more) in other.counts {
      count(type) {
        $0.changed += more.changed
        $0.removed += more.removed
        $0.inserted += more.inserted
      }
    }
  }
}
