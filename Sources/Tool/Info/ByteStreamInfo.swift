// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import H26x
import StreamReport

/// Reads the output of `h26x info` for a byte stream, without GStreamer.
struct ByteStreamInfo {
  /// Bytes that are read without --count.
  private static let limit: UInt64 = 2 << 20

  private var stream = StreamSurvey()

  static func read(_ input: InputFile, counting: Bool, _ place: ProgressPlace) throws(Failure) -> MediaInfo {
    var options = ReportOptions()
    options.keepsMetadata = true
    var reporter: StreamReporter
    let source = try InputBytes(input)
    do throws(ReportFailure) { reporter = try StreamReporter(source, options: options, codec: input.codec) } catch {
      throw input.failure(error)
    }
    var info = ByteStreamInfo()
    var isWhole = false
    while let item = reporter.next() {
      info.stream.add(item)
      place.reach(item)
      if case .summary = item { isWhole = true }
      if !counting, info.stream.end > limit { break }
    }
    return try info.finish(input, isWhole: isWhole, counting: counting)
  }

  private func finish(_ input: InputFile, isWhole: Bool, counting: Bool) throws(Failure) -> MediaInfo {
    let (found, end) = (stream.found, stream.end)
    guard stream.accessUnits > 0, let format = stream.format else { throw Failure(input.noVideo) }
    var video = StreamDetails(format, stream.display, streamFormat: format.codec.syntax.byteStreamFormat)
    video.fields["interlace-mode"] = stream.interlaceMode.map(FieldValue.string)
    let isFieldSequence = format.isFieldSequence
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
      duration: duration, isEstimate: isEstimate, videoBitrate: bitrate,
      peakBitrate: isWhole ? stream.peak.bitsPerSecond : nil, video: video, others: [],
      counts: counting ? found : nil, layers: LayerText.text(stream.layers),
      metadata: stream.videoMetadata(colour: nil, record: nil, rate: video.fields["framerate"]?.fraction))
  }
}
