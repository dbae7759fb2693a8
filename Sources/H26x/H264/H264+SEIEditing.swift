// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Removes buffering period SEI. Picture timing loses its delays, and is removed if it has nothing else (D.1.3).
  /// Time offsets have 24 bits without HRD parameters (E.2.2).
  public static func withoutHRD(
    _ message: borrowing SEIMessages.Message, sps: SequenceParameterSet?
  ) -> EditedSEIMessage {
    switch message.type {
    case .bufferingPeriod: return .removed
    case .pictureTiming:
      guard var new = sps, let vui = new.vui, vui.nalHRD != nil || vui.vclHRD != nil else { return .unchanged }
      guard vui.isPictureStructurePresent else { return .removed }
      do throws(BitstreamError) {
        let timing = try PictureTiming(message, sps: new)
        new.vui?.nalHRD = nil
        new.vui?.vclHRD = nil
        guard timing.clockTimestamps.allSatisfy({ abs(Int64($0?.timeOffset ?? 0)) < 1 << 23 }) else { return .removed }
        return .replaced(timing.payload(sps: new))
      } catch {
        // The elements after the delays cannot be found.
        return .removed
      }
    default: return .unchanged
    }
  }

  /// Reads nothing: H.265 has all messages of H.264 that can be inserted.
  public static func checkSEI(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {}

  /// `nal_unit_type` 6.
  public static func seiHeader(forPictureOf slice: Span<UInt8>) -> [UInt8] { [6] }

  /// Whether it is a prefix NAL unit (14).
  public static func isPrefix(_ nalUnit: Span<UInt8>) -> Bool {
    nalUnit.count > 0 && NALUnitType(headerByte: nalUnit[0]) == .prefix
  }

  /// Table 7-5; the bits are P, B, I, SP and SI, the lowest first.
  public static var delimiterTypes: [UInt8] { [4, 5, 7, 16, 24, 20, 29, 31] }

  /// `slice_type` modulo 5 of a slice of the primary coded picture.
  public static func sliceTypes(of slice: Span<UInt8>, _ sets: borrowing ParameterSets) -> UInt8 {
    do throws(BitstreamError) {
      let header = try SliceHeader(nalUnit: slice, parameterSets: sets, depth: .pictureIdentity)
      return header.isRedundant ? 0 : 1 << header.sliceType.rawValue
    } catch {
      return 31
    }
  }

  /// Whether it is a subset sequence parameter set or a coded slice extension. Prefix NAL units are of the base layer.
  public static func isOfEnhancementLayer(_ nalUnit: Span<UInt8>) -> Bool {
    nalUnit.count > 0 && [15, 20, 21].contains(NALUnitType(headerByte: nalUnit[0]).rawValue)
  }
}
