// SPDX-License-Identifier: MPL-2.0
public import H26x

/// A picture of 32 × 32 or 64 × 32 samples of H.265, whose slice segments have headers as asked for and noise as data.
public struct SmallH265Picture {
  /// `slice_type` of all its slices.
  public enum Kind: UInt32, Sendable {
    case b, p, i
  }

  public var type: H265.NALUnitType
  public var temporalID: Int
  public var kind: Kind
  /// The picture order count.
  public var order: Int32
  /// The POCs in its reference picture set, and whether it refers to them itself.
  public var references: [Int32: Bool]
  /// `pic_output_flag`, if the PPS has it.
  public var isShown: Bool
  /// `slice_segment_address` of each slice segment.
  public var addresses: [UInt32]
  /// Decides about the data.
  public var noise: UInt64

  public init(
    type: H265.NALUnitType, temporalID: Int = 0, kind: Kind = .p, order: Int32, references: [Int32: Bool] = [:],
    isShown: Bool = true, addresses: [UInt32] = [0], noise: UInt64 = 0
  ) {
    (self.type, self.temporalID, self.kind, self.order) = (type, temporalID, kind, order)
    (self.references, self.isShown, self.addresses, self.noise) = (references, isShown, addresses, noise)
  }

  /// The slice segments' NAL units.
  public func slices(_ sequence: SmallH265Sequence) -> [[UInt8]] {
    addresses.map { address in
      var writer = BitWriter()
      writer.u(8, UInt32(type.rawValue) << 1)
      writer.u(8, UInt32(temporalID + 1))
      writer.flag(address == 0)
      if type.isIRAP { writer.flag(noise % 7 == 3) }
      writer.ue(sequence.id)
      if address > 0 { writer.u(sequence.isWide ? 3 : 2, address) }
      writer.ue(kind.rawValue)
      if sequence.signalsOutput { writer.flag(isShown) }
      if !type.isIDR {
        writer.u(Int(sequence.bitsOfOrder), UInt32(bitPattern: order) & ((1 << sequence.bitsOfOrder) - 1))
        writer.flag(false)
        writeReferences(to: &writer)
      }
      if kind != .i {
        writer.flag(false)
        if kind == .b { writer.flag(false) }
        writer.ue(0)
      }
      writer.se(0)
      writer.flag(true)
      while !writer.isByteAligned { writer.flag(false) }
      var generator = SeededGenerator(state: noise << 8 | UInt64(address))
      for _ in 0..<16 { writer.u(8, UInt32(truncatingIfNeeded: generator.next() & 0xFF)) }
      writer.trailingBits()
      return writer.bytes
    }
  }

  /// `st_ref_pic_set` (7.3.7) of a slice segment header, for an SPS without any.
  private func writeReferences(to writer: inout BitWriter) {
    let before = references.filter { $0.key < order }.sorted { $0.key > $1.key }
    let after = references.filter { $0.key > order }.sorted { $0.key < $1.key }
    writer.ue(UInt32(before.count))
    writer.ue(UInt32(after.count))
    for side in [before, after] {
      var last = order
      for (reference, isUsed) in side {
        writer.ue(UInt32(abs(reference - last) - 1))
        writer.flag(isUsed)
        last = reference
      }
    }
  }
}
