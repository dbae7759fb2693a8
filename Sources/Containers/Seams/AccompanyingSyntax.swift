// SPDX-License-Identifier: MPL-2.0
import H26x

/// The syntax of a codec for the messages of encoded pictures, which ``AccompanyingMessages`` writes.
protocol AccompanyingSyntax: VideoCodecSyntax {
  /// The header of an SEI NAL unit in front of slices.
  static var prefixHeader: [UInt8] { get }
  /// The header of an SEI NAL unit behind slices.
  static var suffixHeader: [UInt8] { get }
  /// Whether messages of a type describe coded data, not the picture: hashes, references, parts and layers. Buffering
  /// periods and picture timing are not among them.
  static func isAboutCoding(_ type: SEIPayloadType) -> Bool
  /// Whether a NAL unit that is not empty has dynamic metadata of Dolby Vision (RPU).
  static func isMetadata(_ nalUnit: Span<UInt8>) -> Bool

  /// Whether a NAL unit that is not empty has a part of a picture above the base: of a layer, a view, or Dolby Vision's
  /// enhancement layer.
  static func isLayer(_ nalUnit: Span<UInt8>) -> Bool

  /// Reads a buffering period of the source; `nil` if encoded pictures have none.
  static func bufferingPeriod(_ message: borrowing SEIMessages.Message, _ sets: ParameterSets) -> H264.BufferingPeriod?
  /// The payload of the buffering period of an encoded IDR picture; `nil` if its SPS requires none.
  ///
  /// - Parameters:
  ///   - sps: the source's SPS.
  ///   - fullness: how full the buffer is, from 0 to 1.
  ///   - other: the source's buffering period; `nil` for none.
  static func bufferingPeriod(
    beginning sps: SequenceParameterSet, fullness: Double, like other: H264.BufferingPeriod?
  ) -> [UInt8]?
  /// The tick in which encoded pictures count delays, in nanoseconds; `nil` if they have no delays.
  static func delayTick(_ sps: SequenceParameterSet) -> Double?
  /// Reads picture timing of the source; `nil` if it does not signal how the picture is displayed.
  static func display(_ message: borrowing SEIMessages.Message, _ sps: SequenceParameterSet) -> FrameDisplay?
  /// The payload of the picture timing of an encoded picture; `nil` if its SPS requires none.
  static func pictureTiming(
    _ display: FrameDisplay, _ delays: RemovalClock.Delays?, _ sps: SequenceParameterSet
  ) -> [UInt8]?

  /// The payload of picture timing with another removal delay; `nil` if it has none.
  static func pictureTiming(
    _ message: borrowing SEIMessages.Message, _ sps: SequenceParameterSet, removalDelay: UInt32
  ) -> [UInt8]?
  /// The buffer of encoded pictures, if bits come at a constant rate; `nil` otherwise.
  ///
  /// - Parameter fullness: from 0 to 1.
  static func constantBitRate(_ sps: SequenceParameterSet, fullness: Double) -> ConstantBitRate?
  /// How full the buffer is when the first picture of a buffering period is removed, from 0 to 1; `nil` if that is not
  /// signaled.
  static func fullness(at period: H264.BufferingPeriod, _ sps: SequenceParameterSet) -> Double?
  /// A NAL unit of filler data with this length, at least 3 bytes.
  static func fillerData(byteCount: Int) -> [UInt8]
}

extension AccompanyingSyntax {
  /// Whether messages of a type describe coded data in both codecs.
  fileprivate static func isAboutCodingInBoth(_ type: SEIPayloadType) -> Bool {
    switch type.rawValue {
    // Filler, recovery point, refinement and post-filter.
    case 3, 6, 16, 17, 22: true
    // The manifest of messages, and signatures.
    case 200, 201, 220...222: true
    default: false
    }
  }
}

extension H264: AccompanyingSyntax {
  static var prefixHeader: [UInt8] { [NALUnitType.sei.rawValue] }
  static var suffixHeader: [UInt8] { prefixHeader }

  static func isAboutCoding(_ type: SEIPayloadType) -> Bool {
    switch type.rawValue {
    // Reference marking, spare pictures and sub-sequences; slice groups; deblocking.
    case 7, 8, 10...12, 18, 20: true
    // Layers, views and depth.
    case 24...44, 46, 48...54: true
    default: isAboutCodingInBoth(type)
    }
  }

  static func isMetadata(_ nalUnit: Span<UInt8>) -> Bool { NALUnitType(headerByte: nalUnit[0]).rawValue == 28 }
  static func isLayer(_ nalUnit: Span<UInt8>) -> Bool { role(of: nalUnit) == .layerSlice }

  static func bufferingPeriod(_ message: borrowing SEIMessages.Message, _ sets: ParameterSets) -> BufferingPeriod? {
    do throws(BitstreamError) { return try BufferingPeriod(message, parameterSets: sets) } catch { return nil }
  }

  static func bufferingPeriod(
    beginning sps: SequenceParameterSet, fullness: Double, like other: BufferingPeriod?
  ) -> [UInt8]? {
    BufferingPeriod(beginning: sps, fullness: fullness, like: other)?.payload(sps: sps)
  }

  static func delayTick(_ sps: SequenceParameterSet) -> Double? {
    guard let vui = sps.vui, vui.nalHRD != nil || vui.vclHRD != nil, let timing = vui.timing, timing.timeScale > 0,
      timing.unitsInTick > 0
    else { return nil }
    return Double(timing.unitsInTick) / Double(timing.timeScale) * 1e9
  }

  static func display(_ message: borrowing SEIMessages.Message, _ sps: SequenceParameterSet) -> FrameDisplay? {
    do throws(BitstreamError) {
      let timing = try PictureTiming(message, sps: sps)
      return timing.structure.map { FrameDisplay($0, timing.clockTimestamps) }
    } catch { return nil }
  }

  static func pictureTiming(
    _ display: FrameDisplay, _ delays: RemovalClock.Delays?, _ sps: SequenceParameterSet
  ) -> [UInt8]? {
    guard let vui = sps.vui, vui.isPictureStructurePresent || vui.nalHRD != nil || vui.vclHRD != nil else { return nil }
    let timing = PictureTiming(
      delays: delays.map { .init(cpbRemoval: $0.removal, dpbOutput: $0.output) },
      structure: PictureTiming.Structure(rawValue: display.structure), clockTimestamps: display.clockTimestamps)
    return timing.payload(sps: sps)
  }

  static func pictureTiming(
    _ message: borrowing SEIMessages.Message, _ sps: SequenceParameterSet, removalDelay: UInt32
  ) -> [UInt8]? {
    do throws(BitstreamError) {
      var timing = try PictureTiming(message, sps: sps)
      guard timing.delays != nil else { return nil }
      timing.delays?.cpbRemoval = removalDelay
      return timing.payload(sps: sps)
    } catch { return nil }
  }

  private static func buffer(_ sps: SequenceParameterSet) -> (bitRate: UInt64, size: UInt64, isConstant: Bool)? {
    guard let hrd = sps.vui?.nalHRD ?? sps.vui?.vclHRD, let buffer = hrd.buffers.first else { return nil }
    let (bitRate, size) = (hrd.bitRate(of: buffer), hrd.size(of: buffer))
    return bitRate > 0 && size > 0 ? (bitRate, size, buffer.isConstantBitRate) : nil
  }

  static func constantBitRate(_ sps: SequenceParameterSet, fullness: Double) -> ConstantBitRate? {
    guard let buffer = buffer(sps), buffer.isConstant else { return nil }
    return ConstantBitRate(bitRate: buffer.bitRate, size: buffer.size, fullness: fullness)
  }

  static func fullness(at period: BufferingPeriod, _ sps: SequenceParameterSet) -> Double? {
    guard let buffer = buffer(sps), let delay = period.nal.first ?? period.vcl.first else { return nil }
    return min(Double(delay.removalDelay) / 90_000 * Double(buffer.bitRate) / Double(buffer.size), 1)
  }

  static func fillerData(byteCount: Int) -> [UInt8] {
    [NALUnitType.fillerData.rawValue] + Array(repeating: 0xFF, count: max(1, byteCount - 2)) + [0x80]
  }
}

/// Encoded pictures have an SPS of their own, without HRD parameters.
extension H265: AccompanyingSyntax {
  static var prefixHeader: [UInt8] { [NALUnitType.prefixSEI.rawValue << 1, 1] }
  static var suffixHeader: [UInt8] { [NALUnitType.suffixSEI.rawValue << 1, 1] }

  static func isAboutCoding(_ type: SEIPayloadType) -> Bool {
    switch type.rawValue {
    // Structure, parameter sets, decoding units, sub-layers, hashes, nesting and refreshes.
    case 128...134: true
    // Tiles, entries and regions.
    case 139, 145, 146, 158, 159: true
    // Layers, views and depth.
    case 160...168, 176...181: true
    default: isAboutCodingInBoth(type)
    }
  }

  static func isMetadata(_ nalUnit: Span<UInt8>) -> Bool {
    nalUnit[0] & 1 == 0 && NALUnitType(headerByte: nalUnit[0]).rawValue == 62
  }

  static func isLayer(_ nalUnit: Span<UInt8>) -> Bool {
    role(of: nalUnit) == .layerSlice || NALUnitType(headerByte: nalUnit[0]) == .dolbyVisionEnhancementLayer
  }

  static func bufferingPeriod(
    _ message: borrowing SEIMessages.Message, _ sets: ParameterSets
  ) -> H264.BufferingPeriod? { nil }

  static func bufferingPeriod(
    beginning sps: SequenceParameterSet, fullness: Double, like other: H264.BufferingPeriod?
  ) -> [UInt8]? { nil }

  static func delayTick(_ sps: SequenceParameterSet) -> Double? { nil }

  static func display(_ message: borrowing SEIMessages.Message, _ sps: SequenceParameterSet) -> FrameDisplay? {
    do throws(BitstreamError) { return try PictureTiming(message, sps: sps).display.map { FrameDisplay($0) } } catch {
      return nil
    }
  }

  static func pictureTiming(
    _ display: FrameDisplay, _ delays: RemovalClock.Delays?, _ sps: SequenceParameterSet
  ) -> [UInt8]? {
    guard sps.vui?.isPictureStructurePresent == true else { return nil }
    var own = sps
    own.vui?.timing?.hrdParameters = nil
    let shown = PictureTiming.Display(
      structure: .init(rawValue: display.structure), sourceScanType: display.sourceScanType,
      isDuplicate: display.isDuplicate)
    return PictureTiming(display: shown).payload(sps: own)
  }

  static func pictureTiming(
    _ message: borrowing SEIMessages.Message, _ sps: SequenceParameterSet, removalDelay: UInt32
  ) -> [UInt8]? { nil }

  static func constantBitRate(_ sps: SequenceParameterSet, fullness: Double) -> ConstantBitRate? { nil }

  static func fullness(at period: H264.BufferingPeriod, _ sps: SequenceParameterSet) -> Double? { nil }

  static func fillerData(byteCount: Int) -> [UInt8] {
    [NALUnitType.fillerData.rawValue << 1, 1] + Array(repeating: 0xFF, count: max(1, byteCount - 3)) + [0x80]
  }
}
