// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Stage: reads SEI messages, of an access unit and of the sequence.
struct SEIReader<Codec: ParserCodec>: Sendable {
  /// The messages that persist beyond an access unit.
  private(set) var sequence = SequenceSEI()
  /// Messages that could not be read.
  private(set) var errors: UInt64 = 0

  /// Forgets what persists.
  mutating func removeAll() { sequence = SequenceSEI() }

  /// Reads the SEI NAL units of a complete access unit: the parameter sets that they need may be after them. Not
  /// needed if there are none and no sequence begins.
  ///
  /// - Parameters:
  ///   - content: takes their content about its picture.
  ///   - recoveryPoint: becomes the last recovery point, if there is one.
  ///   - sps: id of the SPS of its picture or, in front of its first slice, of the next picture.
  /// - Returns: whether what persists has changed.
  mutating func read(
    _ accessUnit: ScannedAccessUnit<Codec.SliceHeader>, beginsSequence: Bool, into content: inout SEIContent,
    _ recoveryPoint: inout Codec.RecoveryPoint?, _ bytes: Span<UInt8>, sps: SequenceParameterSetID?,
    _ scanner: borrowing Codec.Scanner, _ log: ElementLog
  ) -> Bool {
    let before = sequence
    for nalUnit in accessUnit.seiNALUnits {
      var messages = SEIMessages(bytes.extracting(nalUnit.range), headerLength: Codec.nalUnitHeaderLength)
      do throws(BitstreamError) {
        while let message = try messages.next() {
          if Codec.displayMessages.contains(message.type) {
            guard let sps, let sps = scanner.parameterSets.sequenceParameterSet(sps) else { continue }
            if try Codec.takeDisplay(message, sps: sps, into: &content.display) {
              content.timeCodeRange = nalUnit.range
            }
          } else {
            try take(message, &content, &recoveryPoint)
          }
        }
      } catch {
        errors += 1
        log(.debug, "SEI: \(error)")
      }
    }
    if beginsSequence { sequence.beginSequence() }
    return sequence != before
  }

  private mutating func take(
    _ message: borrowing SEIMessages.Message, _ content: inout SEIContent, _ recoveryPoint: inout Codec.RecoveryPoint?
  ) throws(BitstreamError) {
    switch message.type {
    case .recoveryPoint: recoveryPoint = try Codec.RecoveryPoint(message)
    case .bufferingPeriod: content.hasBufferingPeriod = true
    case .userDataRegistered:
      let data = try RegisteredUserData(message)
      if data.isHDR10Plus { sequence.dynamicMetadata.set(true) }
      content.take(data)
    case .userDataUnregistered: content.take(try UnregisteredUserData(message))
    case .masteringDisplayColourVolume: sequence.masteringDisplay.set(try MasteringDisplayColourVolume(message))
    case .contentLightLevel: sequence.contentLight.set(try ContentLightLevel(message))
    case .alternativeTransferCharacteristics:
      sequence.alternativeTransfer.set(try AlternativeTransferCharacteristics(message))
    case .framePackingArrangement: sequence.take(try FramePackingArrangement(message, codec: Codec.codec))
    case .stereoVideoInformation:
      if sequence.take(try StereoVideoInformation(message)) { content.isFirstView = true }
    default: break
    }
  }
}
