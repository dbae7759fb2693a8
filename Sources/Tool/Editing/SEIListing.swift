// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import H26x
import StreamReport

/// Types of SEI messages, by number or name, joined by commas; `none` for none, or `all`.
struct SEISelectionArgument: ExpressibleByArgument {
  /// `nil` for all.
  let types: Set<SEIPayloadType>?

  init?(argument: String) {
    guard argument != "all" else {
      types = nil
      return
    }
    guard let list = StreamEditField.types(Array(argument.utf8)[...]) else { return nil }
    types = Set(list)
  }
}

/// Writes the SEI messages of a stream, access unit by access unit, as ``SEIFile`` reads them.
struct SEIListing: AccessUnitListing {
  /// `nil` for all.
  private let types: Set<SEIPayloadType>?
  let includesHidden = true
  private var writer = ResultWriter()

  init(_ types: Set<SEIPayloadType>?) { self.types = types }

  /// The parameter sets of H.264, which picture timing is read by.
  private var sets = H264.ParameterSets()

  /// Takes the parameter sets of a configuration record.
  mutating func add<Codec: StreamEditing>(_ nalUnits: [[UInt8]], _ codec: Codec.Type) {
    guard Codec.codec == .h264 else { return }
    for nalUnit in nalUnits { _ = try? sets.insert(nalUnit.span) }
  }

  /// Lists the messages of an access unit. If a NAL unit cannot be read to its end, the messages before the fault are
  /// listed.
  mutating func add<Codec: StreamEditing>(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, _ place: AccessUnitPlace, _ codec: Codec.Type
  ) {
    let ranges = packaging.nalUnits(of: accessUnit)
    let sps = sequenceParameterSet(accessUnit, ranges, codec)
    for range in ranges {
      let nalUnit = accessUnit.extracting(range)
      guard nalUnit.count > Codec.nalUnitHeaderLength, Codec.NALUnitType(headerByte: nalUnit[0]).isSEI else { continue }
      do throws(BitstreamError) {
        var messages = SEIMessages(nalUnit, headerLength: Codec.nalUnitHeaderLength)
        while let message = try messages.next() {
          guard types?.contains(message.type) != false else { continue }
          var timestamps: [ClockTimestamp?] = []
          if message.type == .pictureTiming, let sps {
            timestamps = (try? H264.PictureTiming(message, sps: sps))?.clockTimestamps ?? []
          }
          write(place.number, message.type, try message.payload(), timestamps, Codec.codec)
        }
      } catch { continue }
    }
  }

  /// The SPS of H.264's first slice, for picture timing that is listed.
  private mutating func sequenceParameterSet<Codec: VideoCodecSyntax>(
    _ accessUnit: Span<UInt8>, _ ranges: [Range<Int>], _ codec: Codec.Type
  ) -> H264.SequenceParameterSet? {
    guard Codec.codec == .h264, types?.contains(.pictureTiming) != false else { return nil }
    for range in ranges {
      let nalUnit = accessUnit.extracting(range)
      switch H264.role(of: nalUnit) {
      case .sequenceParameterSet, .pictureParameterSet: _ = try? sets.insert(nalUnit)
      case .slice:
        guard let id = PictureSearch<H264>.sequenceParameterSetID(of: nalUnit, sets) else { return nil }
        return sets.sequenceParameterSet(id)
      default: break
      }
    }
    return nil
  }

  private mutating func write(
    _ number: Int, _ type: SEIPayloadType, _ payload: [UInt8], _ timestamps: [ClockTimestamp?],
    _ codec: FormatDescription.Codec
  ) {
    var json = JSONText()
    json.open()
    json.member("access-unit", number)
    json.member("type", Int(type.rawValue))
    if let name = type.name(in: codec) { json.member("name", name) }
    json.member("payload", hex: payload)
    if timestamps.contains(where: { $0 != nil }) {
      json.openArray("clock-timestamps")
      for timestamp in timestamps { json.value(timestamp) }
      json.closeArray()
    }
    json.close()
    json.endLine()
    writer.write(json.bytes)
  }

  /// - Throws: the first error of writing.
  mutating func finish() throws(Failure) { try writer.finish() }
}

extension JSONText {
  /// The fields that ``SEIFile`` reads; `null` for none.
  fileprivate mutating func value(_ timestamp: ClockTimestamp?) {
    guard let timestamp else { return value(literal: "null") }
    open()
    member("scan-type", timestamp.scanType)
    member("field-based", timestamp.isFieldBased)
    member("counting-type", timestamp.countingType)
    member("full", timestamp.isFull)
    member("discontinuity", timestamp.isDiscontinuous)
    member("dropped", timestamp.hasDroppedCount)
    member("frames", timestamp.frames)
    member("seconds", timestamp.seconds)
    member("minutes", timestamp.minutes)
    member("hours", timestamp.hours)
    member("offset", timestamp.timeOffset)
    close()
  }
}
