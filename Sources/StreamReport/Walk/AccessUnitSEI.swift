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
  /// The triplets of its captions.
  var captions: [CaptionTriplet] = []
  /// `cc_count` of its `cc_data()`; nil without one, and with several.
  private(set) var captionCount: Int?
  private var captionMessages = 0
  var hasHDR10Plus = false
  /// Whether it has ST 2086.
  var hasMasteringDisplay = false
  /// The reason that captions or HDR10+ cannot be read; nil if they can.
  private(set) var userDataError: BitstreamError?
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
    case .userDataRegistered: take(try RegisteredUserData(message))
    case .masteringDisplayColourVolume:
      _ = try MasteringDisplayColourVolume(message)
      hasMasteringDisplay = true
    case .contentLightLevel: _ = try ContentLightLevel(message)
    case .alternativeTransferCharacteristics:
      preferredTransfer = try AlternativeTransferCharacteristics(message).preferredTransfer
    default: _ = try message.payload()
    }
  }

  /// Takes captions and HDR10+.
  private mutating func take(_ userData: RegisteredUserData) {
    do throws(BitstreamError) {
      if userData.isHDR10Plus {
        hasHDR10Plus = true
        _ = try HDR10PlusMetadata(userData)
      } else if let message = try CaptionMessage(userData) {
        if case .data(let data) = message.content {
          guard data.isProcessed else { return }
          captionMessages += 1
          captionCount = captionMessages == 1 ? data.triplets.count : nil
          // Decoders such as FFmpeg ignore all captions in front of another byte.
          guard data.trailingBytes.first == 0xFF else {
            let place = userData.data.count - data.trailingBytes.count
            throw BitstreamError(.valueOutOfRange, "marker_bits", bitOffset: 8 * place)
          }
        }
        captions += message.triplets
      }
    } catch {
      // Later versions are not damage.
      if error.reason != .unsupported { userDataError = userDataError ?? error }
    }
  }
}
