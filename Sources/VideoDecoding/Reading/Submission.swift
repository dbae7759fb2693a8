// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// An access unit to be sent to the codec.
struct Submission {
  let index: UInt64
  let request: DecodeRequest
  let summary: DecodingSummary
  let packet: Packet
  /// Parameter sets before it.
  let parameterSets: [UInt8]
  /// The parameter sets in force at it, including its own.
  let parameterSetsInForce: [UInt8]
  /// Decoding may begin here: a clean random access point, a splice, or the first one that is decoded.
  var isStart: Bool
}
