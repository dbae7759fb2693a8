// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// What the SEI messages of one access unit contain.
struct SEIReading<Codec: ParserCodec> {
  /// What they contain about its picture.
  fileprivate(set) var content = SEIContent()
  /// The last recovery point; nil when there is none.
  fileprivate(set) var recoveryPoint: Codec.RecoveryPoint?
  /// What persists beyond the access unit has changed.
  fileprivate(set) var changesSequence = false
}

/// Stage: reads SEI messages, of an access unit and of the sequence.
struct SEIReader<Codec: ParserCodec>: Sendable {
  /// What persists beyond an access unit.
  private(set) var sequence = SequenceSEI()
  /// Messages that could not be read.
  private(set) var errors: UInt64 = 0

  /// Forgets what persists.
  mutating func removeAll() { sequence = SequenceSEI() }

  /// Reads the SEI NAL units of a complete access unit: the parameter sets that they need may be after them. Not
  /// needed where there are none and no sequence begins.
  ///
  /// - Parameter sps: id of the SPS of its picture or, in front of its first slice, of the next picture.
  mutating func read(
    _ accessUnit: ParsedAccessUnit<Codec>, _ bytes: Span<UInt8>, sps: SequenceParameterSetID?,
    _ scanner: borrowing Codec.Scanner, _ log: ElementLog
  ) -> SEIReading<Codec> {
    let before = sequence
    var reading = SEIReading<Codec>()
    for nalUnit in accessUnit.scanned.seiNALUnits {
      var messages = SEIMessages(bytes.extracting(nalUnit.range), headerLength: Codec.nalUnitHeaderLength)
      do throws(BitstreamError) {
        while let message = try messages.next() {
          if Codec.displayMessages.contains(message.type) {
            guard let sps, let sps = scanner.parameterSets.sequenceParameterSet(sps) else { continue }
            if try Codec.takeDisplay(message, sps: sps, into: &reading.content.display) {
              reading.content.timeCodeRange = nalUnit.range
            }
          } else {
            try take(message, &reading)
          }
        }
      } catch {
        errors += 1
        log(.debug, "SEI: \(error)")
      }
    }
    if accessUnit.beginsSequence { sequence.beginSequence() }
    reading.changesSequence = sequence != before
    return reading
  }

  private mutating func take(
    _ message: borrowing SEIMessages.Message, _ reading: inout SEIReading<Codec>
  ) throws(BitstreamError) {
    switch message.type {
    case .recoveryPoint: reading.recoveryPoint = try Codec.RecoveryPoint(message)
    case .bufferingPeriod: reading.content.hasBufferingPeriod = true
    case .userDataRegistered:
      let data = try RegisteredUserData(message)
      if data.isHDR10Plus { sequence.dynamicMetadata.set(true) }
      reading.content.take(data)
    case .userDataUnregistered: reading.content.take(try UnregisteredUserData(message))
    case .masteringDisplayColourVolume: sequence.masteringDisplay.set(try MasteringDisplayColourVolume(message))
    case .contentLightLevel: sequence.contentLight.set(try ContentLightLevel(message))
    case .alternativeTransferCharacteristics:
      sequence.alternativeTransfer.set(try AlternativeTransferCharacteristics(message))
    case .framePackingArrangement: sequence.take(try FramePackingArrangement(message, codec: Codec.codec))
    case .stereoVideoInformation:
      if sequence.take(try StereoVideoInformation(message)) { reading.content.isFirstView = true }
    default: break
    }
  }
}
