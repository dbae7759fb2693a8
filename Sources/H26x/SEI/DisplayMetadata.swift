// SPDX-License-Identifier: MPL-2.0

/// How to display a sequence, by its SEI messages.
package struct DisplayMetadata: Sendable, Hashable {
  /// The display that the sequence was mastered on.
  package var masteringDisplay: MasteringDisplayColourVolume?
  /// Its light levels.
  package var contentLight: ContentLightLevel?
  /// The transfer that should be used instead of the VUI's.
  package var alternativeTransfer: AlternativeTransferCharacteristics?

  /// Creates one without any of them.
  package init() {}

  /// Takes the messages of an SEI NAL unit. Unreadable messages are ignored.
  ///
  /// - Parameters:
  ///   - nalUnit: the NAL unit with its header.
  ///   - headerLength: bytes of the header: 1 in H.264, 2 in H.265.
  package mutating func read(_ nalUnit: Span<UInt8>, headerLength: Int = 1) {
    var messages = SEIMessages(nalUnit, headerLength: headerLength)
    do throws(BitstreamError) {
      while let message = try messages.next() {
        switch message.type {
        case .masteringDisplayColourVolume: masteringDisplay = try MasteringDisplayColourVolume(message)
        case .contentLightLevel: contentLight = try ContentLightLevel(message)
        case .alternativeTransferCharacteristics:
          alternativeTransfer = try AlternativeTransferCharacteristics(message)
        default: break
        }
      }
    } catch {
      // The messages before it were read.
    }
  }
}
