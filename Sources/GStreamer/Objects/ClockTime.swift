// SPDX-License-Identifier: MPL-2.0

/// A time or duration in nanoseconds (`GstClockTime`). Never `GST_CLOCK_TIME_NONE`: a `ClockTime?` of `nil` is an
/// unknown time. Arithmetic saturates, because timestamps come from files and networks.
public struct ClockTime: Hashable, Comparable, Sendable {
  /// Nanoseconds, 0 to 2⁶⁴ − 2.
  public let nanoseconds: UInt64

  /// A time in nanoseconds; 2⁶⁴ − 1, which means "none" in C, becomes 2⁶⁴ − 2.
  public init(nanoseconds: UInt64) { self.nanoseconds = min(nanoseconds, .max - 1) }

  /// A time from GStreamer's representation, where `UInt64.max` means "none", which gives `nil`.
  public init?(raw: UInt64) {
    guard raw != .max else { return nil }
    nanoseconds = raw
  }

  /// 0 nanoseconds.
  public static var zero: Self { Self(nanoseconds: 0) }
  /// One second (`GST_SECOND`).
  public static var second: Self { Self(nanoseconds: 1_000_000_000) }
  /// A number of seconds; saturates.
  public static func seconds(_ count: UInt64) -> Self {
    let (product, overflow) = count.multipliedReportingOverflow(by: second.nanoseconds)
    return Self(nanoseconds: overflow ? .max : product)
  }

  /// A number of milliseconds; saturates.
  public static func milliseconds(_ count: UInt64) -> Self {
    let (product, overflow) = count.multipliedReportingOverflow(by: 1_000_000)
    return Self(nanoseconds: overflow ? .max : product)
  }

  /// A `Duration`, in whole nanoseconds; saturates, at zero too.
  public init(_ duration: Duration) {
    // Not by its seconds, which may not fit 64 bits.
    self.init(nanoseconds: UInt64(clamping: duration.attoseconds / 1_000_000_000))
  }

  /// `count` times `numerator / denominator` seconds, rounded down; saturates. A denominator of zero gives zero.
  public static func seconds(_ count: UInt64, times numerator: UInt32, over denominator: UInt32) -> Self {
    guard denominator != 0 else { return .zero }
    let (scaled, overflow) = second.nanoseconds.multipliedReportingOverflow(by: UInt64(numerator))
    guard !overflow else { return Self(nanoseconds: .max) }
    let wide = count.multipliedFullWidth(by: scaled)
    guard wide.high < UInt64(denominator) else { return Self(nanoseconds: .max) }
    return Self(nanoseconds: UInt64(denominator).dividingFullWidth(wide).quotient)
  }

  /// Half the time, rounded down.
  package var half: Self { Self(nanoseconds: nanoseconds / 2) }

  /// Whether `a` is the earlier or shorter time.
  public static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

  /// The sum, at most the largest time.
  public static func + (a: Self, b: Self) -> Self {
    let (sum, overflow) = a.nanoseconds.addingReportingOverflow(b.nanoseconds)
    return Self(nanoseconds: overflow ? .max : sum)
  }

  /// The difference, at least zero.
  public static func - (a: Self, b: Self) -> Self {
    Self(nanoseconds: a.nanoseconds > b.nanoseconds ? a.nanoseconds - b.nanoseconds : 0)
  }
}

extension Duration {
  /// The `Duration` of a `ClockTime`.
  public init(_ time: ClockTime) {
    let (seconds, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: ClockTime.second.nanoseconds)
    self = .seconds(Int64(clamping: seconds)) + .nanoseconds(Int64(clamping: rest))
  }
}

extension ClockTime? {
  /// GStreamer's representation: `GST_CLOCK_TIME_NONE` for `nil`.
  package var raw: UInt64 { self?.nanoseconds ?? .max }
}
