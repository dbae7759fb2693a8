// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

extension EncoderSettings {
  /// Sets frame rate and rate limit, so that encoded pictures fit into the coded picture buffer of their stream.
  ///
  /// - Parameters:
  ///   - buffer: bits a second into the buffer of the HRD parameters, and its size in bits; `nil` without them.
  ///   - level: the limits of the level, which apply otherwise; `nil` if the level is unknown.
  ///   - rate: `nil` if it is unknown.
  mutating func limitRate(to buffer: (bitRate: UInt64, size: UInt64)?, _ level: LevelLimits?, at rate: Ratio?) {
    var share = Self.unknownRateShare
    if let rate, codec == .h264 || !rate.numerator.isMultiple(of: 1 << 16) {
      let (numerator, denominator, terms) = (Int(rate.numerator), Int(rate.denominator), 1...1 << 24)
      // Streams with a variable rate may signal their time base.
      if terms ~= numerator, terms ~= denominator, denominator <= numerator * 10, numerator <= denominator * 500 {
        (frameRate, share) = ((numerator, denominator), 1)
      }
    }
    guard let (bitRate, size) = buffer ?? level.map({ ($0.bitRate, $0.codedBuffer) }) else { return }
    let rates: ClosedRange<UInt64> = 1000...1 << 30
    let limit = UInt64(Double(bitRate) * share)
    // Parameters of absurd buffers are ignored.
    guard limit >= rates.lowerBound, size >= rates.lowerBound else { return }
    rateLimit = (Int(min(limit, rates.upperBound)), Int(min(size, rates.upperBound)))
  }

  /// The encoder counts 25 pictures a second if it does not know better. There may be 60.
  private static var unknownRateShare: Double { 25.0 / 60 }
}
