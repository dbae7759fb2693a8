// SPDX-License-Identifier: MPL-2.0

extension H264.ReferenceSyntax {
  /// `pred_weight_table()` (7.3.3.2).
  public struct PredictionWeights: Sendable, Hashable {
    /// `luma_log2_weight_denom`, 0 to 7.
    public let lumaLog2Denominator: UInt8
    /// `chroma_log2_weight_denom`, 0 to 7; 0 for monochrome.
    public let chromaLog2Denominator: UInt8
    /// One entry for each reference index.
    public let list0: [Entry]
    /// One entry for each reference index; empty outside B slices.
    public let list1: [Entry]

    /// Weights and offsets of one reference picture; nil if the flag is 0.
    public struct Entry: Sendable, Hashable {
      /// Of luma.
      public let luma: Weight?
      /// Of Cb.
      public let cb: Weight?
      /// Of Cr.
      public let cr: Weight?
    }

    /// A weight and an offset, each −128 to 127.
    public struct Weight: Sendable, Hashable {
      /// `luma_weight_l0` and the like.
      public let weight: Int8
      /// `luma_offset_l0` and the like.
      public let offset: Int8
    }
  }
}

extension H264.ReferenceSyntax.PredictionWeights {
  init(
    _ reader: inout BitReader, count0: UInt8, count1: UInt8, isMonochrome: Bool, keepsEntries: Bool
  ) throws(BitstreamError) {
    lumaLog2Denominator = try reader.ue8(in: 0...7, "luma_log2_weight_denom")
    chromaLog2Denominator = isMonochrome ? 0 : try reader.ue8(in: 0...7, "chroma_log2_weight_denom")
    list0 = try Self.entries(
      &reader, count: count0, isMonochrome: isMonochrome, keeps: keepsEntries, names: .list0)
    list1 = try Self.entries(
      &reader, count: count1, isMonochrome: isMonochrome, keeps: keepsEntries, names: .list1)
  }

  private static func entries(
    _ reader: inout BitReader, count: UInt8, isMonochrome: Bool, keeps: Bool, names: WeightNames
  ) throws(BitstreamError) -> [Entry] {
    var entries: [Entry] = []
    if keeps { entries.reserveCapacity(Int(count)) }
    for _ in 0..<count {
      let luma: Weight? = try reader.flag(names.lumaFlag) ? try Weight(&reader, names.luma, names.lumaOffset) : nil
      var (cb, cr) = (Weight?.none, Weight?.none)
      if !isMonochrome, try reader.flag(names.chromaFlag) {
        cb = try Weight(&reader, names.chroma, names.chromaOffset)
        cr = try Weight(&reader, names.chroma, names.chromaOffset)
      }
      if keeps { entries.append(Entry(luma: luma, cb: cb, cr: cr)) }
    }
    return entries
  }
}

extension H264.ReferenceSyntax.PredictionWeights.Weight {
  fileprivate init(
    _ reader: inout BitReader, _ name: StaticString, _ offsetName: StaticString
  ) throws(BitstreamError) {
    weight = try reader.se8(in: -128...127, name)
    offset = try reader.se8(in: -128...127, offsetName)
  }
}

/// The names of `pred_weight_table()`'s elements for a list.
private struct WeightNames {
  let lumaFlag, luma, lumaOffset, chromaFlag, chroma, chromaOffset: StaticString

  static let list0 = WeightNames(
    lumaFlag: "luma_weight_l0_flag", luma: "luma_weight_l0", lumaOffset: "luma_offset_l0",
    chromaFlag: "chroma_weight_l0_flag", chroma: "chroma_weight_l0", chromaOffset: "chroma_offset_l0")
  static let list1 = WeightNames(
    lumaFlag: "luma_weight_l1_flag", luma: "luma_weight_l1", lumaOffset: "luma_offset_l1",
    chromaFlag: "chroma_weight_l1_flag", chroma: "chroma_weight_l1", chromaOffset: "chroma_offset_l1")
}
