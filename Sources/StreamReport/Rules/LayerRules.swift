// SPDX-License-Identifier: MPL-2.0
import H26x

/// Rules on pictures above the base layer: other layers of H.265, such as the second view of MV-HEVC or alpha, and
/// other views and layers of H.264. Each layer is reported once.
struct LayerRules {
  /// A bit for each `nuh_layer_id` that was met.
  private var met: UInt64 = 0

  /// Checks a NAL unit of a picture that is not of the base layer.
  mutating func check(_ unit: NALUnitRecord, log: inout FindingLog) {
    // In H.264 the NAL unit's type alone shows it.
    let layer = UInt64(unit.layerID ?? 0) & 63
    guard met & 1 << layer == 0 else { return }
    met |= 1 << layer
    log.report(
      .decoderLayers, layer > 0 ? "pictures of layer \(layer)" : "pictures of another view or layer",
      expected: "only the base layer")
  }
}
