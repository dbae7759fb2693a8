// SPDX-License-Identifier: MPL-2.0

/// The edits that give pictures other time codes.
struct ClockTimestampEdits: Sendable {
  private var timestamps: [Int: [ClockTimestamp?]] = [:]

  init(_ edits: [StreamEdit]) {
    for case .clockTimestamps(let new, let accessUnit) in edits { timestamps[accessUnit] = new }
  }

  var isEmpty: Bool { timestamps.isEmpty }

  /// Checks that an access unit has the picture timing that it needs.
  func check(accessUnit: Int, hasTiming: Bool) throws(StreamEditError) {
    guard timestamps[accessUnit] != nil, !hasTiming else { return }
    throw StreamEditError(
      .forbiddenCombination, "clock_timestamp_flag", nil, "the access unit has no picture timing", clause: "H.264 D.1.3"
    )
  }

  /// A NAL unit with SEI whose picture timing has the new timestamps; nil if it stays, as one that cannot be read to
  /// its end does.
  ///
  /// - Parameters:
  ///   - accessUnit: the number of its access unit.
  ///   - sps: the SPS of its picture, before the edits.
  func edited<Codec: StreamEditing>(
    _ nalUnit: Span<UInt8>, _: Codec.Type, _ sps: Codec.SequenceParameterSet?, accessUnit: Int
  ) throws(StreamEditError) -> [UInt8]? {
    guard let new = timestamps[accessUnit], nalUnit.count > Codec.nalUnitHeaderLength,
      Codec.NALUnitType(headerByte: nalUnit[0]).isSEI
    else { return nil }
    var edited: [(type: SEIPayloadType, payload: [UInt8])] = []
    var (isChanged, refusal) = (false, StreamEditError?.none)
    do throws(BitstreamError) {
      var messages = SEIMessages(nalUnit, headerLength: Codec.nalUnitHeaderLength)
      while let message = try messages.next() {
        var payload = try message.payload()
        if message.type == .pictureTiming {
          do throws(StreamEditError) {
            let result = try Codec.replacing(clockTimestamps: new, in: message, sps: sps)
            if case .replaced(let timing) = result { (payload, isChanged) = (timing, true) }
          } catch {
            refusal = error
          }
        }
        edited.append((message.type, payload))
      }
    } catch {
      return nil
    }
    if let refusal { throw refusal }
    guard isChanged else { return nil }
    return seiNALUnit(edited, header: [UInt8](copying: nalUnit.extracting(first: Codec.nalUnitHeaderLength)))
  }
}
