// SPDX-License-Identifier: MPL-2.0

extension SEIPayloadType {
  /// Whether it depends on HRD parameters: those that a nesting has no others beside (D.3.24).
  fileprivate var dependsOnHRD: Bool { [.bufferingPeriod, .pictureTiming, .decodingUnitInformation].contains(self) }
}

extension H265 {
  /// Removes buffering period and decoding unit information. Picture timing keeps the display information, and is
  /// removed if it has none (D.2.3).
  public static func withoutHRD(
    _ message: borrowing SEIMessages.Message, sps: SequenceParameterSet?
  ) -> EditedSEIMessage {
    switch message.type {
    case .bufferingPeriod, .decodingUnitInformation: return .removed
    case .scalableNesting: return nestsHRD(message) ? .removed : .unchanged
    case .pictureTiming:
      guard var new = sps, new.vui?.timing?.hrdParameters != nil else { return .unchanged }
      guard new.vui?.isPictureStructurePresent == true else { return .removed }
      do throws(BitstreamError) {
        var timing = try PictureTiming(message, sps: new)
        timing.delays = nil
        new.vui?.timing?.hrdParameters = nil
        return .replaced(timing.payload(sps: new))
      } catch {
        return .removed
      }
    default: return .unchanged
    }
  }

  /// Whether the first message of a nesting depends on HRD parameters (D.2.24).
  private static func nestsHRD(_ message: borrowing SEIMessages.Message) -> Bool {
    do throws(BitstreamError) {
      var reader = message.reader
      _ = try reader.flag("bitstream_subset_flag")
      if try reader.flag("nesting_op_flag") {
        let isDefault = try reader.flag("default_op_flag")
        let count = Int(try reader.ue(in: 0...1023, "nesting_num_ops_minus1")) + 1
        for _ in (isDefault ? 1 : 0)..<max(count, 1) {
          _ = try reader.u(3, "nesting_max_temporal_id_plus1")
          _ = try reader.ue(in: 0...1023, "nesting_op_idx")
        }
      } else if try !reader.flag("all_layers_flag") {
        _ = try reader.u(3, "nesting_no_op_max_temporal_id_plus1")
        for _ in 0...(try reader.ue(in: 0...63, "nesting_num_layers_minus1")) {
          _ = try reader.u(6, "nesting_layer_id")
        }
      }
      while !reader.isByteAligned { _ = try reader.flag("nesting_zero_bit") }
      return SEIPayloadType(rawValue: UInt32(try reader.byte("last_payload_type_byte"))).dependsOnHRD
    } catch {
      return false
    }
  }

  /// Prefix SEI of the slice's temporal sub-layer.
  public static func seiHeader(forPictureOf slice: Span<UInt8>) -> [UInt8] {
    [NALUnitType.prefixSEI.rawValue << 1, temporalID(of: slice) + 1]
  }

  /// Reads a time code.
  ///
  /// - Throws: `.truncated`.
  public static func checkSEI(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
    if message.type == .timeCode { _ = try TimeCode(message) }
  }

  /// False: nothing belongs to the slice behind it alone.
  public static func isPrefix(_ nalUnit: Span<UInt8>) -> Bool { false }

  /// Nothing: picture timing has none (D.2.3).
  public static func replacing(
    clockTimestamps timestamps: [ClockTimestamp?], in message: borrowing SEIMessages.Message,
    sps: SequenceParameterSet?
  ) throws(StreamEditError) -> EditedSEIMessage { .unchanged }

  /// Table 7-2; the bits are B, P and I, the lowest first.
  public static var delimiterTypes: [UInt8] { [4, 6, 7] }

  /// `slice_type` of a slice segment that is not dependent.
  public static func sliceTypes(of slice: Span<UInt8>, _ sets: borrowing ParameterSets) -> UInt8 {
    do throws(BitstreamError) {
      let header = try SliceSegmentHeader(nalUnit: slice, parameterSets: sets)
      return header.sliceType.map { 1 << $0.rawValue } ?? 0
    } catch {
      return 7
    }
  }

  /// Whether `nuh_layer_id` is above 0 (7.4.2.2).
  public static func isOfEnhancementLayer(_ nalUnit: Span<UInt8>) -> Bool {
    nalUnit.count >= nalUnitHeaderLength && (nalUnit[0] & 1 != 0 || nalUnit[1] >> 3 != 0)
  }
}
