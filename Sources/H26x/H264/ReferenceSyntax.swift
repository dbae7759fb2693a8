// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// The part of the slice header about reference pictures (7.3.3.1 to 7.3.3.3).
  public struct ReferenceSyntax: Sendable, Hashable {
    /// `direct_spatial_mv_pred_flag`; false outside B slices.
    public let usesSpatialDirectPrediction: Bool
    /// `num_ref_idx_active_override_flag`; false outside P, SP and B slices.
    package let overridesReferenceCounts: Bool
    /// `num_ref_idx_l0_active_minus1` + 1, 0 to 32.
    public let referenceCountList0: UInt8
    /// `num_ref_idx_l1_active_minus1` + 1, 0 to 32.
    public let referenceCountList1: UInt8
    /// `ref_pic_list_modification()` of list 0, empty when the flag is 0.
    public let modificationsList0: [ListModification]
    /// `ref_pic_list_modification()` of list 1, empty when the flag is 0.
    public let modificationsList1: [ListModification]
    /// `pred_weight_table()`; nil if absent.
    public let predictionWeights: PredictionWeights?
    /// `dec_ref_pic_marking()`; nil for non-reference pictures.
    public let marking: ReferenceMarking?

    /// One step of `ref_pic_list_modification()` or `ref_pic_list_mvc_modification()`.
    public struct ListModification: Sendable, Hashable {
      /// `modification_of_pic_nums_idc`, 0, 1, 2, 4 or 5.
      public let operation: UInt8
      /// `abs_diff_pic_num_minus1`, `long_term_pic_num` or `abs_diff_view_idx_minus1`.
      public let value: UInt32
    }

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

    /// `dec_ref_pic_marking()` (7.3.3.3).
    public enum ReferenceMarking: Sendable, Hashable {
      /// Of an IDR picture: `no_output_of_prior_pics_flag` and `long_term_reference_flag`.
      case idr(noOutputOfPriorPictures: Bool, isLongTerm: Bool)
      /// Sliding window (8.2.5.3).
      case slidingWindow
      /// `memory_management_control_operation`s, in order.
      case adaptive([Operation])

      /// One operation (Table 7-9).
      public struct Operation: Sendable, Hashable {
        /// 1 to 6.
        public let code: UInt8
        /// Its first operand, 0 when it has none.
        public let first: UInt32
        /// Operation 3's `long_term_frame_idx`, else 0.
        public let second: UInt32

        /// Creates an operation.
        package init(code: UInt8, first: UInt32 = 0, second: UInt32 = 0) {
          (self.code, self.first, self.second) = (code, first, second)
        }
      }

      /// Whether there is an MMCO 5: all earlier pictures are no longer references.
      public var hasOperation5: Bool {
        if case .adaptive(let operations) = self { operations.contains { $0.code == 5 } } else { false }
      }
    }

    init(
      _ reader: inout BitReader, sliceType: SliceHeader.SliceType, isField: Bool, isReference: Bool, isIDR: Bool,
      isMultiview: Bool, parameters: SliceParameters, keepsWeights: Bool
    ) throws(BitstreamError) {
      let isB = sliceType == .b
      usesSpatialDirectPrediction = isB ? try reader.flag("direct_spatial_mv_pred_flag") : false
      var (count0, count1, overrides) = (UInt8(0), UInt8(0), false)
      if !sliceType.isIntra {
        count0 = parameters.defaultReferenceCountList0
        count1 = isB ? parameters.defaultReferenceCountList1 : 0
        overrides = try reader.flag("num_ref_idx_active_override_flag")
        if overrides {
          let highest: UInt8 = isField ? 31 : 15
          count0 = try reader.ue8(in: 0...highest, "num_ref_idx_l0_active_minus1") + 1
          if isB { count1 = try reader.ue8(in: 0...highest, "num_ref_idx_l1_active_minus1") + 1 }
        }
      }
      overridesReferenceCounts = overrides
      referenceCountList0 = count0
      referenceCountList1 = count1
      modificationsList0 =
        sliceType.isIntra
        ? []
        : try Self.modifications(
          &reader, "ref_pic_list_modification_flag_l0", count: count0, isMultiview: isMultiview)
      modificationsList1 =
        isB
        ? try Self.modifications(
          &reader, "ref_pic_list_modification_flag_l1", count: count1, isMultiview: isMultiview) : []
      let isWeighted =
        (parameters.usesWeightedPrediction && (sliceType == .p || sliceType == .sp))
        || (parameters.weightedBipredictionIDC == 1 && isB)
      predictionWeights =
        isWeighted
        ? try PredictionWeights(
          &reader, count0: count0, count1: count1, isMonochrome: parameters.isMonochrome, keepsEntries: keepsWeights)
        : nil
      marking = isReference ? try ReferenceMarking(&reader, isIDR: isIDR) : nil
    }

    private static func modifications(
      _ reader: inout BitReader, _ flag: StaticString, count: UInt8, isMultiview: Bool
    ) throws(BitstreamError) -> [ListModification] {
      var steps: [ListModification] = []
      guard try reader.flag(flag) else { return steps }
      // At most num_ref_idx_active_minus1 + 1 steps, and the one that ends them (7.4.3.1).
      for _ in 0...count {
        let operation = try reader.ue8(in: 0...(isMultiview ? 5 : 3), "modification_of_pic_nums_idc")
        if operation == 3 { return steps }
        let name: StaticString =
          switch operation {
          case 2: "long_term_pic_num"
          case 4, 5: "abs_diff_view_idx_minus1"
          default: "abs_diff_pic_num_minus1"
          }
        steps.append(
          ListModification(operation: operation, value: try reader.ue(in: 0...UInt32.max - 1, name)))
      }
      throw BitstreamError(.valueOutOfRange, "modification_of_pic_nums_idc", bitOffset: reader.bitOffset)
    }
  }
}

extension H264.ReferenceSyntax.PredictionWeights {
  fileprivate init(
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

extension H264.ReferenceSyntax.ReferenceMarking {
  /// More than a picture can use: every reference field unmarked, reassigned, and three more.
  private static var maximumOperations: Int { 99 }

  /// The name of an operation's first operand; nil if it has none.
  private static func operandName(_ code: UInt8) -> StaticString? {
    switch code {
    case 1, 3: "difference_of_pic_nums_minus1"
    case 2: "long_term_pic_num"
    case 4: "max_long_term_frame_idx_plus1"
    case 6: "long_term_frame_idx"
    default: nil
    }
  }

  fileprivate init(_ reader: inout BitReader, isIDR: Bool) throws(BitstreamError) {
    if isIDR {
      self = .idr(
        noOutputOfPriorPictures: try reader.flag("no_output_of_prior_pics_flag"),
        isLongTerm: try reader.flag("long_term_reference_flag"))
      return
    }
    guard try reader.flag("adaptive_ref_pic_marking_mode_flag") else {
      self = .slidingWindow
      return
    }
    var operations: [Operation] = []
    for _ in 0...Self.maximumOperations {
      let code = try reader.ue8(in: 0...6, "memory_management_control_operation")
      if code == 0 {
        self = .adaptive(operations)
        return
      }
      var (first, second) = (UInt32(0), UInt32(0))
      if let name = Self.operandName(code) { first = try reader.ue(in: 0...UInt32.max - 1, name) }
      if code == 3 { second = try reader.ue(in: 0...UInt32.max - 1, "long_term_frame_idx") }
      operations.append(Operation(code: code, first: first, second: second))
    }
    throw BitstreamError(.valueOutOfRange, "memory_management_control_operation", bitOffset: reader.bitOffset)
  }
}
