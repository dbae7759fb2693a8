// SPDX-License-Identifier: MPL-2.0
import AVFormat
import H26x

/// How one description of the video serves several inputs of a copy.
struct JoinedDescription: Sendable {
  /// An input.
  struct Input: Sendable {
    /// The parameter sets of the input.
    var parameterSets: [[UInt8]] = []
    /// The new ids of these sets.
    var identifiers = ParameterSetIdentifiers()
  }

  let codec: FormatDescription.Codec
  /// The configuration record with the parameter sets of all inputs; `nil` if parameter sets stay with their pictures.
  var configuration: [UInt8]?
  /// In the order of the copy.
  var inputs: [Input] = []
  /// Ticks that hold the times of all inputs as exactly as possible; `nil` if none has ticks.
  var timeBase: TimeBase?
  /// Whether all inputs have the same frame rate.
  var hasOneRate = true

  /// Ticks that hold the times of several clocks.
  ///
  /// - Parameter timescales: ticks a second of each.
  /// - Returns: their least common multiple up to ten million, otherwise the finest of them; `nil` without any.
  static func timeBase(_ timescales: [Int32]) -> TimeBase? {
    var common: Int64 = 1
    for scale in timescales where scale > 0 && common <= 10_000_000 {
      var (left, right) = (common, Int64(scale))
      while right != 0 { (left, right) = (right, left % right) }
      common *= Int64(scale) / left
    }
    guard let finest = timescales.max(), finest > 0 else { return nil }
    return TimeBase(1, common <= 10_000_000 ? Int32(clamping: common) : finest)
  }
}
