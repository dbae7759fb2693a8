// SPDX-License-Identifier: MPL-2.0
import H26x

/// Reads SEI messages that both codecs have, for their syntax elements and errors.
enum SharedMessages {
  static func read(
    _ message: borrowing SEIMessages.Message, into messages: inout CommonChecks.Messages
  ) throws(BitstreamError) {
    switch message.type {
    case .userDataUnregistered: _ = try UnregisteredUserData(message)
    case .userDataRegistered: _ = try RegisteredUserData(message)
    case .masteringDisplayColourVolume: _ = try MasteringDisplayColourVolume(message)
    case .contentLightLevel: _ = try ContentLightLevel(message)
    case .alternativeTransferCharacteristics:
      messages.preferredTransfer = try AlternativeTransferCharacteristics(message).preferredTransfer
    default: _ = try message.payload()
    }
  }
}

extension ReportText {
  /// The reason of an error, its syntax element and its bit offset.
  init(_ error: BitstreamError) {
    let reason: StaticString =
      switch error.reason {
      case .truncated: "cut off"
      case .valueOutOfRange: "value out of range"
      case .codeTooLong: "code too long"
      case .badTrailingBits: "wrong bits at the end"
      case .forbiddenBitSet: "forbidden bit set"
      case .wrongNALUnitType: "wrong NAL unit type"
      case .missingParameterSet: "missing parameter set"
      case .lengthOutOfBounds: "length beyond the end"
      case .lengthNotRepresentable: "length too large"
      case .outputTooSmall: "output too small"
      case .unsupported: "not supported"
      }
    self = "\(reason): \(error.element) at bit \(error.bitOffset)"
  }
}
