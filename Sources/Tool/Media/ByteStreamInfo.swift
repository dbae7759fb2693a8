// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import StreamReport

/// Reads what `h26x info` prints of a byte stream, without GStreamer.
struct ByteStreamInfo {
  /// Bytes that are read without --count.
  private static let limit: UInt64 = 2 << 20
  /// Bytes of each NAL unit that are searched for SEI display metadata.
  private static let byteCount = 256

  private var codec = FormatDescription.Codec.h264
  private var parameterSets: [[UInt8]] = []
  private var display = DisplayMetadata()
  private var found = PictureCount()
  private var accessUnits = 0
  private var fields = 0
  /// The offset in bytes behind the last access unit that was read.
  private var end: UInt64 = 0

  static func read(_ input: InputFile, counting: Bool) throws(Failure) -> MediaInfo {
    var options = ReportOptions()
    options.byteCount = byteCount
    var reporter: StreamReporter
    let source = try ReportSource(input)
    do throws(ReportFailure) { reporter = try StreamReporter(source, options: options) } catch {
      throw input.failure(error)
    }
    var info = ByteStreamInfo()
    var isWhole = false
    while let item = reporter.next() {
      info.add(item)
      if case .summary = item { isWhole = true }
      if !counting, info.end > limit { break }
    }
    return try info.finish(input, isWhole: isWhole, counting: counting)
  }

  private mutating func add(_ item: ReportItem) {
    switch item {
    case .stream(let stream): codec = stream.codec
    case .parameterSet(let set): if found.pictures < 2 { parameterSets.append(set.nalUnit.bytes) }
    case .accessUnit(let accessUnit):
      end = accessUnit.offset + accessUnit.size
      guard accessUnit.letter != nil else { return }
      accessUnits += 1
      if accessUnit.isField { fields += 1 }
      found.add(accessUnit)
      for nalUnit in accessUnit.nalUnits where !nalUnit.messages.isEmpty {
        display.read(nalUnit.bytes.span, headerLength: codec == .h264 ? 1 : 2)
      }
    default: break
    }
  }

  private func finish(_ input: InputFile, isWhole: Bool, counting: Bool) throws(Failure) -> MediaInfo {
    guard accessUnits > 0, let format else { throw Failure(input.noVideo) }
    var video = StreamDetails(format, display, streamFormat: codec.syntax.byteStreamFormat)
    let isFieldSequence = format.isFieldSequence
    if isFieldSequence || fields == accessUnits {
      video.fields["interlace-mode"] = "interleaved"
    } else if fields > 0 || codec == .h264 && format.isInterlacedAllowed {
      video.fields["interlace-mode"] = "mixed"
    }
    let frames = isFieldSequence ? (found.pictures + 1) / 2 : found.pictures
    var (duration, isEstimate) = (ClockTime?.none, false)
    if let rate = format.plausibleFrameRate {
      duration = .seconds(UInt64(frames), times: rate.denominator, over: rate.numerator)
      if !isWhole, let read = duration {
        // Assumes that the rest has the same bitrate.
        let scale = input.size.map { Double($0) / Double(max(end, 1)) }
        duration = scale.map { ClockTime(nanoseconds: UInt64(min(Double(read.nanoseconds) * $0, 1e18))) }
        isEstimate = duration != nil
      }
    }
    var bitrate: Double?
    if isWhole, let duration, duration > .zero { bitrate = Double(end) * 8 / (Double(duration.nanoseconds) / 1e9) }
    return MediaInfo(
      name: input.name, container: "Annex B byte stream", size: input.size ?? (isWhole ? Int(clamping: end) : nil),
      duration: duration, isEstimate: isEstimate, videoBitrate: bitrate, video: video, others: [],
      counts: counting ? MediaInfo.Counts(pictures: found.pictures, keyframes: found.keyframes) : nil)
  }

  private var format: FormatDescription? {
    do throws(BitstreamError) {
      return try codec == .h264
        ? FormatDescription(h264ParameterSets: parameterSets) : FormatDescription(h265ParameterSets: parameterSets)
    } catch { return nil }
  }
}
