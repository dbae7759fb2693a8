// SPDX-License-Identifier: MPL-2.0
import H26x

/// An access unit's place in the base class's frame, or in the buffer that is output instead. In bytes.
struct OutputPlace: Sendable {
  /// The beginning.
  let start: Int
  /// Its size, without insertions.
  let size: Int
  /// The offset, from the beginning, at which parameter sets can be inserted; nil if none can.
  let parameterSetOffset: Int?

  init<SliceHeader: Sendable>(of accessUnit: borrowing ScannedAccessUnit<SliceHeader>, at start: Int = 0, size: Int) {
    (self.start, self.size, parameterSetOffset) = (start, size, accessUnit.parameterSetOffset)
  }
}
