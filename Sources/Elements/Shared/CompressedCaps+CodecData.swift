// SPDX-License-Identifier: MPL-2.0
import GStreamer

extension CompressedCaps {
  /// The bytes of `codec_data`; nil if there is none, or if it cannot be mapped.
  static func codecData(_ view: StructureView) -> [UInt8]? {
    guard let buffer = view.buffer("codec_data") else { return nil }
    do throws(FlowError) {
      let map = try buffer.map()
      return map.bytes.copied()
    } catch {
      return nil
    }
  }
}
