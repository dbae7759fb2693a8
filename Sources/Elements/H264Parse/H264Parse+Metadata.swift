// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Parse {
  /// Reads an SEI NAL unit.
  func takeInformation(_ nalUnit: Span<UInt8>, start: Int) {
    unit.contents.insert(.supplementalInformation)
    if unit.informationOffset == nil { unit.informationOffset = start }
    var messages = SEIMessages(nalUnit)
    do throws(BitstreamError) {
      while let message = try messages.next() {
        switch message.type {
        case .recoveryPoint: unit.contents.insert(.recoveryPoint)
        case .bufferingPeriod: unit.information.hasBufferingPeriod = true
        case .pictureTiming:
          if let id = capsState.sequenceParameterSetID ?? lastSequenceParameterSetID,
            let sps = parameterSets.sequenceParameterSet(id)
          {
            unit.information.pictureTiming = try H264.PictureTiming(message, sps: sps)
          }
        default: break
        }
      }
    } catch {
      statistics.errors.supplementalInformation += 1
      Self.log(.debug, self, "SEI: \(error)")
    }
  }

  /// Puts what SEI messages said onto the outgoing buffer.
  func attachInformation(_ buffer: inout Buffer) {
  }

  /// Which field comes first and whether it is shown twice.
  ///
  /// ONEFIELD is not among the flags, although a field may be alone in its access unit: to decoders it means fields as
  /// pictures of their own (interlace-mode=alternate), and they would put out halves.
  func insertInterlaceFlags(_ flags: inout Buffer.Flags) {
    switch unit.information.pictureTiming?.structure {
    case .topField, .topBottom: flags.formUnion([.interlaced, .topFieldFirst])
    case .bottomField, .bottomTop: flags.insert(.interlaced)
    case .topBottomTop: flags.formUnion([.interlaced, .topFieldFirst, .repeatFirstField])
    case .bottomTopBottom: flags.formUnion([.interlaced, .repeatFirstField])
    case .frame, .frameDoubling, .frameTripling: break
    case nil:
      guard let slice = unit.slice, slice.isField else { break }
      flags.insert(.interlaced)
      if !slice.isBottomField { flags.insert(.topFieldFirst) }
    }
  }
}
