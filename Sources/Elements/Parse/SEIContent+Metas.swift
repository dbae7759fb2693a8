// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension SEIContent {
  typealias Codec = ParserCore.Codec

  /// Puts what SEI messages said onto the outgoing buffer, except for what a parser upstream has put there already.
  ///
  /// - Parameters:
  ///   - rate: frames a second in caps, which time codes count in; nil when unknown.
  ///   - tick: the clock of the stream's own time codes.
  func attach(to buffer: inout Buffer, rate: GStreamer.Fraction?, tick: FormatDescription.Tick?) {
    let isSecondField = pictureTiming?.structure == .bottomField
    if !captions.isEmpty, !buffer.hasCaptions {
      for captions in captions { buffer.addCaptions(captions.bytes.span, format: captions.format) }
    }
    if !userData.isEmpty, !buffer.hasUserData {
      for data in userData { buffer.addUserData(identifier: data.uuid.span, data.data.span) }
    }
    if let activeFormat, !buffer.hasActiveFormat {
      buffer.addActiveFormat(activeFormat, isSecondField: isSecondField)
    }
    if let bars, !buffer.hasBars { Self.attach(bars, to: &buffer, isSecondField: isSecondField) }
    if let rate, let tick, let pictureTiming, !pictureTiming.clockTimestamps.isEmpty, !buffer.hasTimeCode {
      Self.attach(pictureTiming, to: &buffer, rate, tick)
    }
  }

  private static func attach(_ bars: RegisteredUserData.BarData, to buffer: inout Buffer, isSecondField: Bool) {
    if bars.topEnd != nil || bars.bottomStart != nil {
      buffer.addBars(
        isLetterbox: true, first: UInt32(bars.topEnd ?? 0), second: UInt32(bars.bottomStart ?? 0),
        isSecondField: isSecondField)
    }
    if bars.leftEnd != nil || bars.rightStart != nil {
      buffer.addBars(
        isLetterbox: false, first: UInt32(bars.leftEnd ?? 0), second: UInt32(bars.rightStart ?? 0),
        isSecondField: isSecondField)
    }
  }

  private static func attach(
    _ timing: Codec.PictureTiming, to buffer: inout Buffer, _ rate: GStreamer.Fraction, _ tick: FormatDescription.Tick
  ) {
    for (index, timestamp) in timing.clockTimestamps.enumerated() {
      guard let timestamp else { continue }
      // n_frames counts ticks, or pairs of them (equation D-1): in frames of the caps' rate.
      let numerator =
        UInt64(clamping: rate.numerator) * UInt64(tick.units) * (timestamp.isFieldBased ? 2 : 1)
      let denominator = UInt64(clamping: rate.denominator) * UInt64(tick.timeScale)
      let (product, overflow) = UInt64(timestamp.frames).multipliedReportingOverflow(by: numerator)
      guard !overflow, denominator > 0 else { continue }
      buffer.addTimeCode(
        Buffer.TimeCode(
          hours: UInt32(timestamp.hours ?? 0), minutes: UInt32(timestamp.minutes ?? 0),
          seconds: UInt32(timestamp.seconds ?? 0), frames: UInt32(clamping: product / denominator), frameRate: rate,
          dropsFrames: dropsFrames(timestamp, rate), isInterlaced: timestamp.scanType == 1,
          fieldCount: fieldCount(timing.structure, index)))
    }
  }

  /// Table D-3: type 4 leaves out frames 0 and 1 of most minutes, type 6 an unspecified number. At other rates there is
  /// nothing to leave out, and GStreamer takes no such time code.
  private static func dropsFrames(
    _ timestamp: Codec.PictureTiming.ClockTimestamp, _ rate: GStreamer.Fraction
  ) -> Bool {
    (timestamp.countingType == 4 || timestamp.countingType == 6)
      && rate.denominator == 1001 && [30000, 60000, 120_000].contains(rate.numerator)
  }

  /// The field that a clock timestamp is for (table D-1).
  private static func fieldCount(_ structure: Codec.PictureTiming.Structure?, _ index: Int) -> UInt32 {
    switch structure {
    case .topField: 1
    case .bottomField: 2
    case .topBottom, .topBottomTop: index % 2 == 0 ? 1 : 2
    case .bottomTop, .bottomTopBottom: index % 2 == 0 ? 2 : 1
    case .frame, .frameDoubling, .frameTripling, nil: 0
    }
  }
}

extension ParsedAccessUnit {
  /// Which field comes first and whether it is shown twice.
  ///
  /// ONEFIELD is not among the flags, although a field may be alone in its access unit: to decoders it means fields as
  /// pictures of their own (interlace-mode=alternate), and they would put out halves.
  var interlaceFlags: Buffer.Flags {
    switch sei.pictureTiming?.structure {
    case .topField, .topBottom: [.interlaced, .topFieldFirst]
    case .bottomField, .bottomTop: .interlaced
    case .topBottomTop: [.interlaced, .topFieldFirst, .repeatFirstField]
    case .bottomTopBottom: [.interlaced, .repeatFirstField]
    case .frame, .frameDoubling, .frameTripling: []
    case nil:
      switch scanned.slice {
      case let slice? where slice.isField: slice.isBottomField ? .interlaced : [.interlaced, .topFieldFirst]
      default: []
      }
    }
  }
}
