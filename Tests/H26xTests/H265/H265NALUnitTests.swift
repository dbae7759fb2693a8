// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@Suite struct H265NALUnitTests {
  @Test func headersComeBack() throws {
    for type in UInt8(0)..<64 {
      for (layer, temporal) in [(UInt8(0), UInt8(0)), (1, 6), (32, 3), (63, 0)] {
        let header = H265.NALUnitHeader(type: .init(rawValue: type), layerID: layer, temporalID: temporal)
        var writer = BitWriter(addsEmulationPrevention: false)
        header.write(to: &writer)
        let bytes = writer.bytes
        #expect(bytes.count == 2)
        same(try H265.NALUnitHeader(bytes.span), header)
        #expect(H265.NALUnitType(headerByte: bytes[0]).rawValue == type)
      }
    }
  }

  @Test func illegalHeadersAreErrors() {
    func reason(_ bytes: [UInt8]) -> BitstreamError? {
      failure { () throws(BitstreamError) in _ = try H265.NALUnitHeader(bytes.span) }
    }
    #expect(reason([]) == BitstreamError(.truncated, "nal_unit_header", bitOffset: 0))
    #expect(reason([0x40]) == BitstreamError(.truncated, "nal_unit_header", bitOffset: 0))
    #expect(reason([0x80, 0x01]) == BitstreamError(.forbiddenBitSet, "forbidden_zero_bit", bitOffset: 0))
    #expect(reason([0x40, 0x00]) == BitstreamError(.valueOutOfRange, "nuh_temporal_id_plus1", bitOffset: 13))
  }

  @Test func everyTypeHasItsClasses() {
    func numbers(_ isMember: (H265.NALUnitType) -> Bool) -> [UInt8] {
      (UInt8(0)..<64).filter { isMember(.init(rawValue: $0)) }
    }
    #expect(numbers(\.isVCL) == Array(0..<32))
    #expect(numbers(\.isSlice) == Array(0...9) + Array(16...21))
    #expect(numbers(\.isIRAP) == Array(16...23))
    #expect(numbers(\.isIDR) == [19, 20])
    #expect(numbers(\.isBLA) == [16, 17, 18])
    #expect(numbers(\.isRADL) == [6, 7])
    #expect(numbers(\.isRASL) == [8, 9])
    #expect(numbers(\.isLeading) == [6, 7, 8, 9])
    #expect(numbers(\.isSubLayerNonReference) == [0, 2, 4, 6, 8, 10, 12, 14])
    #expect(numbers(\.isParameterSet) == [32, 33, 34])
    // 62 and 63 are Dolby Vision's: unspecified, but not to be dropped.
    #expect(numbers(\.isRTPOnly) == [48, 49, 50])
  }

  @Test func symbolsAreTheStandardsNames() {
    func symbol(_ type: UInt8) -> String { H265.NALUnitType(rawValue: type).symbol }
    #expect(
      (UInt8(0)..<10).map(symbol) == [
        "TRAIL_N", "TRAIL_R", "TSA_N", "TSA_R", "STSA_N", "STSA_R", "RADL_N", "RADL_R", "RASL_N", "RASL_R",
      ])
    #expect([10, 11, 14, 15].map(symbol) == ["RSV_VCL_N10", "RSV_VCL_R11", "RSV_VCL_N14", "RSV_VCL_R15"])
    #expect(
      (UInt8(16)..<24).map(symbol) == [
        "BLA_W_LP", "BLA_W_RADL", "BLA_N_LP", "IDR_W_RADL", "IDR_N_LP", "CRA_NUT", "RSV_IRAP_VCL22", "RSV_IRAP_VCL23",
      ])
    #expect(
      [24, 31, 41, 47, 48, 63].map(symbol) == [
        "RSV_VCL24", "RSV_VCL31", "RSV_NVCL41", "RSV_NVCL47", "UNSPEC48", "UNSPEC63",
      ])
    #expect(
      (UInt8(32)..<41).map(symbol) == [
        "VPS_NUT", "SPS_NUT", "PPS_NUT", "AUD_NUT", "EOS_NUT", "EOB_NUT", "FD_NUT", "PREFIX_SEI_NUT", "SUFFIX_SEI_NUT",
      ])
    #expect(H265.NALUnitType.cra.name == "coded slice segment of a CRA picture")
    #expect(Set((UInt8(0)..<64).map(symbol)).count == 64)
  }
}
