// SPDX-License-Identifier: MPL-2.0
import H26x

/// The contents of the SEI messages of an access unit.
struct AccessUnitSEI: Sendable {
  var isRecoveryPoint = false
  /// The initial removal delay of the buffering period, in seconds.
  var initialDelay: Double?
  /// The removal delay of the picture timing, in seconds.
  var removalDelay: Double?
  /// Whether the picture timing repeats the picture or one of its fields.
  var isRepeated = false
  /// Whether the picture timing is of a field; nil if it does not signal that.
  var isField: Bool?
  /// `preferred_transfer_characteristics`.
  var preferredTransfer: UInt8?
  var hasBufferingPeriod = false
  var hasPictureTiming = false

  /// Takes a buffering period by its initial removal delays, those of the NAL HRD first.
  mutating func takeBufferingPeriod(_ removalDelays: [UInt32]) throws(BitstreamError) {
    hasBufferingPeriod = true
    initialDelay = removalDelays.first.map { Double($0) / 90_000 }
    if removalDelays.contains(0) {
      throw BitstreamError(.valueOutOfRange, "initial_cpb_removal_delay", bitOffset: 0)
    }
  }

  /// Takes a message that both codecs have; others are read as far as their payload's end.
  mutating func read(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
    switch message.type {
    case .userDataUnregistered: _ = try UnregisteredUserData(message)
    case .userDataRegistered: _ = try RegisteredUserData(message)
    case .masteringDisplayColourVolume: _ = try MasteringDisplayColourVolume(message)
    case .contentLightLevel: _ = try ContentLightLevel(message)
    case .alternativeTransferCharacteristics:
      preferredTransfer = try AlternativeTransferCharacteristics(message).preferredTransfer
    default: _ = try message.payload()
    }
  }
}
