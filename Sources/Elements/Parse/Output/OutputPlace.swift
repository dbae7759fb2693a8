// SPDX-License-Identifier: MPL-2.0
import H26x

/// Where an access unit is in the base class's frame, or in the buffer that is output in its place. In bytes.
struct OutputPlace: Sendable {
  /// Where it begins.
  let start: Int
  /// Its size, without what is inserted.
  let size: Int
  /// Where parameter sets are to be inserted, from its beginning on; nil where none are.
  let parameterSetOffset: Int?

  init<SliceHeader: Sendable>(of accessUnit: borrowing ScannedAccessUnit<SliceHeader>, at start: Int = 0, size: Int) {
    (self.start, self.size, parameterSetOffset) = (start, size, accessUnit.parameterSetOffset)
  }
}
