// SPDX-License-Identifier: MPL-2.0

/// The distribution of a quantization parameter, weighted by area.
public struct QPDistribution: Sendable, Hashable {
  /// Luma samples of the blocks that were added.
  public private(set) var area: UInt64 = 0
  /// The least value; 0 if there is none.
  public private(set) var minimum = 0
  /// The greatest value; 0 if there is none.
  public private(set) var maximum = 0
  private var sum: Int64 = 0
  private var squares: UInt64 = 0

  /// Creates an empty distribution.
  public init() {}

  /// Adds a block.
  @inline(__always)
  mutating func add(_ qp: Int, area more: UInt64) {
    if area == 0 {
      (minimum, maximum) = (qp, qp)
    } else {
      minimum = min(minimum, qp)
      maximum = max(maximum, qp)
    }
    area &+= more
    sum &+= Int64(qp) &* Int64(truncatingIfNeeded: more)
    squares &+= UInt64(truncatingIfNeeded: qp &* qp) &* more
  }

  /// Adds the blocks of another distribution.
  mutating func add(_ other: QPDistribution) {
    guard other.area > 0 else { return }
    minimum = area == 0 ? other.minimum : min(minimum, other.minimum)
    maximum = area == 0 ? other.maximum : max(maximum, other.maximum)
    area &+= other.area
    sum &+= other.sum
    squares &+= other.squares
  }

  /// The average in thousandths, rounded; 0 if there is no block.
  public var average: Int { area == 0 ? 0 : Self.thousandths(mean) }

  /// The standard deviation in thousandths, rounded; 0 if there is no block.
  public var deviation: Int {
    guard area > 0 else { return 0 }
    let variance = Double(squares) / Double(area) - mean * mean
    return variance > 0 ? Self.thousandths(variance.squareRoot()) : 0
  }

  private var mean: Double { Double(sum) / Double(area) }

  private static func thousandths(_ value: Double) -> Int {
    // Limited, because sums of hostile streams may have wrapped.
    let limited = max(-1000, min(1000, value)) * 1000
    return limited < 0 ? -Int(0.5 - limited) : Int(limited + 0.5)
  }
}
