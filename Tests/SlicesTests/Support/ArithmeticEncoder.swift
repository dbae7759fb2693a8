// SPDX-License-Identifier: MPL-2.0

import H26x

@testable import Slices

/// The arithmetic encoder of 9.3.5 (H.265; 9.3.4 of H.264), as the Recommendation describes it, bit by bit.
struct ArithmeticEncoder {
  var writer: BitWriter
  private var low: UInt32 = 0
  private var range: UInt32 = 510
  private var isFirst = true
  private var outstanding = 0
  /// The bits that a decoder reads for the bins so far, behind the nine at the start.
  private(set) var shiftCount = 0
  /// The bins so far, and those of the encoder before.
  private(set) var binCount: Int

  /// - Parameter binCount: of the encoder whose data end where those of this one begin.
  init(_ writer: BitWriter, binCount: Int = 0) { (self.writer, self.binCount) = (writer, binCount) }

  mutating func decision(_ bin: Bool, _ context: inout ContextState) {
    binCount += 1
    let quarter = Int(range >> 6 & 3)
    let lps = UInt32(ArithmeticTables.lpsRanges[quarter << 7 | Int(context)])
    range -= lps
    let isLeastProbable = bin != (context & 1 != 0)
    if isLeastProbable {
      low += range
      range = lps
    }
    context = ArithmeticTables.nextStates[Int(context) | (isLeastProbable ? 128 : 0)]
    renormalize()
  }

  mutating func bypass(_ bin: Bool) {
    binCount += 1
    low <<= 1
    shiftCount += 1
    if bin { low += range }
    if low >= 1024 {
      put(true)
      low -= 1024
    } else if low < 512 {
      put(false)
    } else {
      low -= 512
      outstanding += 1
    }
  }

  mutating func bypass(_ count: Int, _ value: UInt32) {
    for index in (0..<count).reversed() { bypass(value >> UInt32(index) & 1 != 0) }
  }

  /// A bin before termination. After true, the writer is aligned to bytes: its last bit is the stop bit.
  mutating func terminate(_ bin: Bool) {
    binCount += 1
    range -= 2
    guard bin else { return renormalize() }
    low += range
    range = 2
    renormalize()
    put(low >> 9 & 1 != 0)
    writer.u(2, (low >> 7 & 3) | 1)
    writer.align()
    low = 0
    range = 510
    isFirst = true
    outstanding = 0
  }

  private mutating func renormalize() {
    while range < 256 {
      if low < 256 {
        put(false)
      } else if low >= 512 {
        low -= 512
        put(true)
      } else {
        low -= 256
        outstanding += 1
      }
      range <<= 1
      low <<= 1
      shiftCount += 1
    }
  }

  private mutating func put(_ bit: Bool) {
    if isFirst { isFirst = false } else { writer.flag(bit) }
    while outstanding > 0 {
      writer.flag(!bit)
      outstanding -= 1
    }
  }
}
