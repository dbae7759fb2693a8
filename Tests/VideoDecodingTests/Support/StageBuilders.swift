// SPDX-License-Identifier: MPL-2.0
import AVCodec

@testable import VideoDecoding

/// What tests of a session's stages make up.
protocol StageBuilders {}

extension StageBuilders {
  func packet(_ byteCount: Int) throws -> Packet {
    let bytes = [UInt8](repeating: 1, count: byteCount)
    return try PacketPool().packet(copying: bytes.span, timestamp: 0)
  }

  func record(
    _ index: UInt64, recoveryStart: UInt64? = nil, sequenceStart: UInt64 = 0, isReference: Bool = true,
    referencesSince: UInt64? = nil, _ change: (inout DecodingSummary) -> Void = { _ in }
  ) -> LedgerEntry {
    let summary = summary {
      $0.nalUnitType = 1
      $0.isReference = isReference
      change(&$0)
    }
    return LedgerEntry(
      index: index, request: DecodeRequest(tag: index), summary: summary, standsAlone: false,
      sequenceStart: sequenceStart, recoveryStart: recoveryStart, start: .marked, referencesSince: referencesSince)
  }

  func summary(_ change: (inout DecodingSummary) -> Void = { _ in }) -> DecodingSummary {
    var summary = DecodingSummary()
    summary.isReference = true
    change(&summary)
    return summary
  }

  /// Ten bytes that wait for decoding.
  func waiting(_ index: UInt64, nalUnitType: UInt8? = nil, time: Duration? = nil) throws -> LedgerEntry {
    LedgerEntry(
      index: index, request: DecodeRequest(tag: index, time: time), summary: summary { $0.nalUnitType = nalUnitType },
      state: .waiting, packet: try packet(10))
  }
}
