// SPDX-License-Identifier: MPL-2.0

extension UInt64 {
  /// The sum, at most the largest number.
  func plus(_ other: UInt64) -> UInt64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }

  /// The number times `factor` over `divisor`, rounded down and at most the largest number; 0 without a divisor.
  func scaled(by factor: UInt64, over divisor: UInt64) -> UInt64 {
    guard divisor > 0 else { return 0 }
    let product = multipliedFullWidth(by: factor)
    return product.high < divisor ? divisor.dividingFullWidth(product).quotient : .max
  }
}
