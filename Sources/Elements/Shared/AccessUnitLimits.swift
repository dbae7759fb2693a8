// SPDX-License-Identifier: MPL-2.0
import H26x

extension AccessUnitLimits {
  /// Buffers. A picture of level 5.2 with one slice for each macroblock row has 270, and with one for each macroblock
  /// more than any encoder makes.
  static var pieces: Int { 16_384 }
}
