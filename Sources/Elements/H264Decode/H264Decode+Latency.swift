// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// The latency that was told to the base class.
struct ReportedLatency: Hashable {
  var frames: Int
  var frameDuration: ClockTime
}

extension H264Decode {
  /// Tells the pipeline how long pictures are held back, when that changed.
  func updateLatency() {
    guard let session else { return }
    let latency = ReportedLatency(frames: session.latency.frames, frameDuration: frameDuration)
    guard latency != reportedLatency else { return }
    reportedLatency = latency
    let total = ClockTime(
      nanoseconds: latency.frameDuration.nanoseconds.multipliedReportingOverflow(by: UInt64(latency.frames))
        .partialValue)
    Self.log(.info, self, "latency \(latency.frames) frames, \(total.nanoseconds) ns")
    setLatency(minimum: total, maximum: total)
  }

  /// How long a picture lasts: by the negotiated rate, else by the stream's, else a 25th of a second.
  private var frameDuration: ClockTime {
    if let rate = output?.info.frameRate, rate.numerator > 0, rate.denominator > 0 {
      return .seconds(1, times: UInt32(rate.denominator), over: UInt32(rate.numerator))
    }
    return .seconds(1, times: 1, over: 25)
  }
}
