// SPDX-License-Identifier: MPL-2.0

extension H264.ReferenceSyntax {
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

  init(_ reader: inout BitReader, isIDR: Bool) throws(BitstreamError) {
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
