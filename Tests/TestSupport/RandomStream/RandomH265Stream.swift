// SPDX-License-Identifier: MPL-2.0
public import H26x

/// A random stream of H.265.
public struct RandomH265Stream: RandomStream {
  private var sequences: [SmallH265Sequence]
  private var active = 0
  /// The POC of the last picture of sub-layer 0, the POC of the last IRAP picture, and POCs that may be referred to.
  private var order: Int32 = 0
  private var startOrder: Int32 = 0
  private var references: [Int32] = []
  private var count: UInt32 = 0

  public init(_ decisions: inout some DecisionSource) {
    sequences = (0..<1 + decisions.below(3)).map { Self.sequence(UInt32($0), &decisions) }
  }

  private static func sequence(_ id: UInt32, _ decisions: inout some DecisionSource) -> SmallH265Sequence {
    SmallH265Sequence(
      id: id, isWide: decisions.oneIn(3), bitsOfOrder: UInt32(4 + 2 * decisions.below(3)),
      hasSubLayers: decisions.oneIn(3), reorderDepth: UInt32(decisions.below(4)), signalsOutput: decisions.oneIn(4))
  }

  public var parameterSets: [[UInt8]] { [SmallH265Sequence.vps] + sequences.flatMap { [$0.sps, $0.pps] } }

  public var format: FormatDescription? {
    var sets = H265.ParameterSets()
    for nalUnit in parameterSets { _ = try? sets.insert(nalUnit.span) }
    return try? FormatDescription(sets)
  }

  public mutating func nextAccessUnit(_ decisions: inout some DecisionSource) -> [[UInt8]] {
    let type = nextType(&decisions)
    var nalUnits: [[UInt8]] = []
    if decisions.oneIn(12) { nalUnits.append([35 << 1, 1, 0x50]) }
    if decisions.oneIn(24) { nalUnits.append([36 << 1, 1]) }
    nalUnits += changedParameterSets(isStart: type.isIRAP, &decisions)
    if decisions.oneIn(8) { nalUnits.append(Self.recoveryPoint(Int32(decisions.below(7) - 2))) }
    if decisions.oneIn(40) { return nalUnits }
    nalUnits += Self.damaged(picture(type, &decisions), &decisions)
    if decisions.oneIn(40) { nalUnits.append([1 << 1 | 0, 1 << 3 | 1, 0x55, 0x80]) }
    if decisions.oneIn(24) { nalUnits.append([UInt8(36 + decisions.below(2)) << 1, 1]) }
    return nalUnits
  }

  private mutating func nextType(_ decisions: inout some DecisionSource) -> H265.NALUnitType {
    let types: [UInt8] =
      switch decisions.below(8) {
      case 0: [16, 17, 18, 19, 20, 21]
      case 1, 2: [6, 7, 8, 9]
      case 3: [2, 3, 4, 5]
      case 4 where decisions.oneIn(8): [10, 11, 14, 15, 22, 23]
      default: [0, 1]
      }
    return H265.NALUnitType(rawValue: decisions.one(of: types))
  }

  /// Parameter sets before a picture: mostly none, otherwise repeated or changed sets.
  private mutating func changedParameterSets(
    isStart: Bool, _ decisions: inout some DecisionSource
  ) -> [[UInt8]] {
    guard decisions.oneIn(isStart ? 3 : 12) else { return [] }
    if decisions.oneIn(2) { active = decisions.below(sequences.count) }
    if decisions.oneIn(3) { sequences[active] = Self.sequence(sequences[active].id, &decisions) }
    var sets = [sequences[active].sps, sequences[active].pps]
    if decisions.oneIn(2) { sets.insert(SmallH265Sequence.vps, at: 0) }
    if decisions.oneIn(6) { sets.remove(at: decisions.below(sets.count)) }
    return sets
  }

  // MARK: Pictures

  private mutating func picture(_ type: H265.NALUnitType, _ decisions: inout some DecisionSource) -> [[UInt8]] {
    let sequence = sequences[active]
    let temporalID = type.isIRAP || !sequence.hasSubLayers ? 0 : decisions.below(2)
    let order = nextOrder(type, &decisions)
    let isIntra = type.isIRAP || decisions.oneIn(5)
    let kind = isIntra ? SmallH265Picture.Kind.i : decisions.one(of: [.b, .p])
    let sets = type.isIDR ? [:] : referencePictures(of: order, &decisions)
    let isShown = decisions.oneIn(4)
    count &+= 1
    let blocks: UInt32 = sequence.isWide ? 8 : 4
    let starts: [UInt32] = decisions.oneIn(3) ? [0, UInt32(1 + decisions.below(Int(blocks) - 1))] : [0]
    if type.isIDR || type.isBLA { references = [] }
    if temporalID == 0, !type.isLeading { self.order = order }
    if type.isIRAP { startOrder = order }
    if !decisions.oneIn(10) { references = (references + [order]).suffix(6) }
    let picture = SmallH265Picture(
      type: type, temporalID: temporalID, kind: kind, order: order, references: sets, isShown: isShown,
      addresses: starts, noise: UInt64(count))
    return picture.slices(sequence)
  }

  private mutating func nextOrder(_ type: H265.NALUnitType, _ decisions: inout some DecisionSource) -> Int32 {
    if type.isIDR { return 0 }
    if type.isLeading { return startOrder &- Int32(1 + decisions.below(4)) }
    if decisions.oneIn(30) { return order &+ Int32(decisions.below(256) - 128) }
    return order &+ Int32(decisions.below(6) - 1)
  }

  /// POCs that a picture may refer to: mostly those that are there.
  private func referencePictures(of order: Int32, _ decisions: inout some DecisionSource) -> [Int32: Bool] {
    var sets: [Int32: Bool] = [:]
    for reference in references where reference != order && !decisions.oneIn(6) {
      sets[reference] = !decisions.oneIn(3)
    }
    if decisions.oneIn(10) { sets[order &- Int32(1 + decisions.below(9))] = true }
    return sets.filter { abs($0.key &- order) < 1 << 14 }
  }

  /// A recovery point SEI (D.2.8).
  private static func recoveryPoint(_ count: Int32) -> [UInt8] {
    var payload = BitWriter()
    payload.se(count)
    payload.u(2, 0b10)
    payload.trailingBits()
    return [39 << 1, 1, 6, UInt8(payload.bytes.count)] + payload.bytes + [0x80]
  }
}
