// SPDX-License-Identifier: MPL-2.0
public import H26x

/// A random stream of H.264, Main profile, CAVLC.
public struct RandomH264Stream: RandomStream {
  /// One SPS with its PPS of the same id.
  private struct Sequence {
    var id: UInt32
    var isWide: Bool
    var allowsFields: Bool
    var orderType: UInt32
    var bitsOfFrameNumber: UInt32
    var referenceCount: UInt32
    var allowsGaps: Bool
    /// `max_num_reorder_frames`; nil without a VUI.
    var reorderDepth: UInt32?
  }

  private var sequences: [Sequence]
  private var active = 0
  private var frameNumber: UInt32 = 0
  private var order: Int32 = 0
  private var startID: UInt32 = 0
  private var followsReference = false
  /// The field that comes next belongs to the frame of the last one.
  private var awaitsSecondField = false
  private var lastField: Picture?

  private struct Picture {
    var isIDR = false
    var isReference = true
    /// `slice_type` modulo 5.
    var kind: UInt32 = 2
    var isField = false
    var isBottom = false
    var order: Int32 = 0
    var frameNumber: UInt32 = 0
    var marking: [UInt32] = []
  }

  public init(_ decisions: inout some DecisionSource) {
    sequences = (0..<1 + decisions.below(3)).map { Self.sequence(UInt32($0), &decisions) }
  }

  private static func sequence(_ id: UInt32, _ decisions: inout some DecisionSource) -> Sequence {
    Sequence(
      id: id, isWide: decisions.oneIn(3), allowsFields: decisions.oneIn(2), orderType: UInt32(decisions.below(3)),
      bitsOfFrameNumber: UInt32(4 + 4 * decisions.below(2)), referenceCount: UInt32(1 + decisions.below(4)),
      allowsGaps: decisions.oneIn(4), reorderDepth: decisions.oneIn(2) ? nil : UInt32(decisions.below(4)))
  }

  public var parameterSets: [[UInt8]] {
    sequences.flatMap { [Self.sps($0), MinimalStream.pps(id: $0.id, sps: $0.id)] }
  }

  public var format: FormatDescription? {
    var sets = H264.ParameterSets()
    for nalUnit in parameterSets { _ = try? sets.insert(nalUnit.span) }
    return try? FormatDescription(sets)
  }

  public mutating func nextAccessUnit(_ decisions: inout some DecisionSource) -> [[UInt8]] {
    let isSecondField = awaitsSecondField && !decisions.oneIn(12)
    let isIDR = !isSecondField && decisions.oneIn(10)
    var nalUnits: [[UInt8]] = []
    if decisions.oneIn(12) { nalUnits.append([9, 0xF0]) }
    if decisions.oneIn(40) { nalUnits.append([10]) }
    nalUnits += changedParameterSets(isStart: isIDR, &decisions)
    if decisions.oneIn(8) { nalUnits.append(Self.recoveryPoint(&decisions)) }
    if decisions.oneIn(40) { return nalUnits }
    let picture = nextPicture(isIDR: isIDR, isSecondField: isSecondField, &decisions)
    nalUnits += Self.damaged(slices(of: picture, &decisions), &decisions)
    if decisions.oneIn(40) { nalUnits.append([UInt8(10 + decisions.below(3))]) }
    return nalUnits
  }

  /// Parameter sets before a picture: mostly none, otherwise repeated or changed sets.
  private mutating func changedParameterSets(isStart: Bool, _ decisions: inout some DecisionSource) -> [[UInt8]] {
    guard decisions.oneIn(isStart ? 3 : 12) else { return [] }
    if decisions.oneIn(2) { active = decisions.below(sequences.count) }
    if decisions.oneIn(3) { sequences[active] = Self.sequence(sequences[active].id, &decisions) }
    let id = sequences[active].id
    var sets = [Self.sps(sequences[active]), MinimalStream.pps(id: id, sps: id)]
    if decisions.oneIn(6) { sets.remove(at: decisions.below(sets.count)) }
    return sets
  }

  // MARK: Pictures

  private mutating func nextPicture(
    isIDR: Bool, isSecondField: Bool, _ decisions: inout some DecisionSource
  ) -> Picture {
    let sequence = sequences[active]
    var picture = Picture()
    if isSecondField, let first = lastField {
      picture = first
      picture.isIDR = false
      picture.isBottom.toggle()
      picture.kind = decisions.oneIn(3) ? 2 : 0
      picture.order &+= 1
      awaitsSecondField = false
      return picture
    }
    picture.isIDR = isIDR
    picture.isReference = isIDR || !decisions.oneIn(3)
    picture.kind = isIDR || decisions.oneIn(6) ? 2 : UInt32(decisions.below(2))
    picture.isField = sequence.allowsFields && decisions.oneIn(2)
    picture.isBottom = picture.isField && decisions.oneIn(3)
    if isIDR {
      (frameNumber, order) = (0, 0)
      startID = (startID + 1) % 16
    } else {
      if followsReference { frameNumber &+= 1 }
      if decisions.oneIn(20) { frameNumber &+= UInt32(decisions.below(6)) }
      order &+= Int32(2 * decisions.below(5) - 2)
    }
    picture.frameNumber = frameNumber & ((1 << sequence.bitsOfFrameNumber) - 1)
    picture.order = order
    if picture.isReference, !isIDR, decisions.oneIn(8) { picture.marking = Self.marking(&decisions) }
    if picture.marking.contains(5) { (frameNumber, order) = (0, 0) }
    followsReference = picture.isReference
    awaitsSecondField = picture.isField
    lastField = picture
    return picture
  }

  /// `memory_management_control_operation`s with their operands (7.3.3.3), as ue(v) codes up to the closing 0.
  private static func marking(_ decisions: inout some DecisionSource) -> [UInt32] {
    switch decisions.below(5) {
    case 0: [1, UInt32(decisions.below(4)), 0]
    case 1: [2, UInt32(decisions.below(3)), 0]
    case 2: [3, UInt32(decisions.below(4)), UInt32(decisions.below(3)), 0]
    case 3: [4, UInt32(decisions.below(4)), 6, UInt32(decisions.below(3)), 0]
    default: [5, 0]
    }
  }

  private func slices(of picture: Picture, _ decisions: inout some DecisionSource) -> [[UInt8]] {
    let sequence = sequences[active]
    let macroblocks: UInt32 = (sequence.isWide ? 8 : 4) / (picture.isField ? 2 : 1)
    let second = decisions.oneIn(3) ? UInt32(1 + decisions.below(Int(macroblocks) - 1)) : macroblocks
    let idc: UInt32 = picture.isReference ? UInt32(1 + decisions.below(3)) : 0
    return [0..<second, second..<macroblocks].filter { !$0.isEmpty }.map { macroblocks in
      var writer = BitWriter()
      writer.u(8, idc << 5 | (picture.isIDR ? 5 : 1))
      writer.ue(macroblocks.lowerBound)
      writer.ue(picture.kind)
      writer.ue(sequence.id)
      writer.u(Int(sequence.bitsOfFrameNumber), picture.frameNumber & ((1 << sequence.bitsOfFrameNumber) - 1))
      if sequence.allowsFields {
        writer.flag(picture.isField)
        if picture.isField { writer.flag(picture.isBottom) }
      }
      if picture.isIDR { writer.ue(startID) }
      if sequence.orderType == 0 { writer.u(6, UInt32(bitPattern: picture.order) & 63) }
      if sequence.orderType == 1 { writer.se(picture.order % 8) }
      if picture.kind == 1 { writer.flag(true) }
      if picture.kind < 2 { writer.flag(false) }
      for _ in picture.kind..<2 { writer.flag(false) }
      if picture.isIDR {
        writer.u(2, 0)
      } else if idc > 0 {
        writer.flag(!picture.marking.isEmpty)
        for code in picture.marking { writer.ue(code) }
      }
      writer.se(0)
      if picture.kind < 2 {
        // All macroblocks are skipped.
        writer.ue(UInt32(macroblocks.count))
      } else {
        // Intra 16 × 16 with the average of the neighbours, and no coefficients.
        for _ in macroblocks {
          writer.ue(3)
          writer.u(3, 0b111)
        }
      }
      writer.trailingBits()
      return writer.bytes
    }
  }

  /// A recovery point SEI (D.1.8).
  private static func recoveryPoint(_ decisions: inout some DecisionSource) -> [UInt8] {
    var payload = BitWriter()
    payload.ue(UInt32(decisions.below(4)))
    payload.u(4, UInt32(decisions.below(4)) << 2)
    payload.trailingBits()
    return [6, 6, UInt8(payload.bytes.count)] + payload.bytes + [0x80]
  }

  private static func sps(_ sequence: Sequence) -> [UInt8] {
    var writer = BitWriter()
    for byte: UInt32 in [0x67, 77, 0, 30] { writer.u(8, byte) }
    writer.ue(sequence.id)
    writer.ue(sequence.bitsOfFrameNumber - 4)
    writer.ue(sequence.orderType)
    if sequence.orderType == 0 { writer.ue(2) }
    if sequence.orderType == 1 {
      // Pictures that are not referred to come two earlier; a cycle of one frame.
      writer.flag(false)
      for value: Int32 in [-2, 1] { writer.se(value) }
      writer.ue(1)
      writer.se(4)
    }
    writer.ue(sequence.referenceCount)
    writer.flag(sequence.allowsGaps)
    writer.ue(sequence.isWide ? 3 : 1)
    writer.ue(sequence.allowsFields ? 0 : 1)
    writer.flag(!sequence.allowsFields)
    if sequence.allowsFields { writer.flag(false) }
    // Direct inference; no cropping.
    writer.u(2, 0b10)
    writer.flag(sequence.reorderDepth != nil)
    if let depth = sequence.reorderDepth {
      // Nothing but bitstream restrictions.
      writer.u(8, 0)
      writer.flag(true)
      writer.flag(true)
      for value: UInt32 in [0, 0, 10, 10, min(depth, sequence.referenceCount), sequence.referenceCount] {
        writer.ue(value)
      }
    }
    writer.trailingBits()
    return writer.bytes
  }
}
