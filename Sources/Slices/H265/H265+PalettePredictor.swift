// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265 {
  /// The palette predictor. Reading depends on its size alone.
  struct PalettePredictor {
    /// `PredictorPaletteSize`.
    var size = 0
  }
}
