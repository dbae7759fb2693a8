// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension SEIContent {
  /// Attaches the contents of SEI messages as metas, except for those that a parser upstream has attached.
  ///
  /// - Parameters:
  ///   - rate: frames a second in caps, by which time codes count; nil if unknown.
  ///   - tick: the clock of the stream's own time codes.
  func attach(to buffer: inout Buffer, rate: Fraction?, tick: FormatDescription.Tick?) {
    if !captions.isEmpty, !buffer.hasCaptions {
      for captions in captions { buffer.addCaptions(captions.bytes.span, format: captions.format) }
    }
    if !userData.isEmpty, !buffer.hasUserData {
      for data in userData { buffer.addUserData(identifier: data.uuid.span, data.data.span) }
    }
    if let activeFormat, !buffer.hasActiveFormat {
      buffer.addActiveFormat(activeFormat, isSecondField: display.isBottomField)
    }
    if let bars, !buffer.hasBars { attach(bars, to: &buffer) }
    if let rate, let tick, !display.timeCodes.isEmpty, !buffer.hasTimeCode {
      for code in display.timeCodes { Self.attach(code, to: &buffer, rate, tick) }
    }
  }

  private func attach(_ bars: RegisteredUserData.BarData, to buffer: inout Buffer) {
    if bars.topEnd != nil || bars.bottomStart != nil {
      buffer.addBars(
        isLetterbox: true, first: UInt32(bars.topEnd ?? 0), second: UInt32(bars.bottomStart ?? 0),
        isSecondField: display.isBottomField)
    }
    if bars.leftEnd != nil || bars.rightStart != nil {
      buffer.addBars(
        isLetterbox: false, first: UInt32(bars.leftEnd ?? 0), second: UInt32(bars.rightStart ?? 0),
        isSecondField: display.isBottomField)
    }
  }

  private static func attach(
    _ code: PictureDisplay.TimeCode, to buffer: inout Buffer, _ rate: Fraction, _ tick: FormatDescription.Tick
  ) {
    // n_frames counts ticks, or pairs of them (equation D-1); the meta counts frames.
    let numerator = UInt64(clamping: rate.numerator) * UInt64(tick.units) * (code.isFieldBased ? 2 : 1)
    let denominator = UInt64(clamping: rate.denominator) * UInt64(tick.timeScale)
    let (product, overflow) = UInt64(code.frames).multipliedReportingOverflow(by: numerator)
    guard !overflow, denominator > 0 else { return }
    buffer.addTimeCode(
      Buffer.TimeCode(
        hours: code.hours, minutes: code.minutes, seconds: code.seconds,
        frames: UInt32(clamping: product / denominator),
        frameRate: rate,
        // At other rates GStreamer takes no drop-frame time code.
        dropsFrames: code.dropsFrames && rate.denominator == 1001 && [30000, 60000, 120_000].contains(rate.numerator),
        isInterlaced: code.isInterlaced, fieldCount: code.fieldCount))
  }
}

extension ParsedAccessUnit {
  /// The field that comes first, and whether it is shown twice.
  ///
  /// ONEFIELD is not among the flags, although a field may be alone in its access unit: to decoders it means
  /// interlace-mode=alternate, and they would output fields.
  var interlaceFlags: Buffer.Flags {
    if let flags = sei.display.interlaceFlags { return flags }
    guard let slice = scanned.slice, slice.isField else { return [] }
    return slice.isBottomField ? .interlaced : [.interlaced, .topFieldFirst]
  }
}
