// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The damage that a decoder element counted.
struct Damage {
  /// Pictures that were output with the flag corrupted.
  var corrupted = 0
  /// Access units that could not be decoded.
  var failed = 0
  /// Access units whose picture is missing, such as those before the first random access point.
  var dropped = 0

  init(_ statistics: Fields?) {
    guard let statistics else { return }
    corrupted = statistics["corrupted"]?.integer ?? 0
    failed = statistics["failed"]?.integer ?? 0
    dropped = statistics["lost"]?.integer ?? 0
  }

  var isAny: Bool { corrupted + failed + dropped > 0 }

  /// Ends a sentence: `; damage: 2 pictures damaged`; empty without damage.
  var remark: String {
    guard isAny else { return "" }
    let parts = [
      corrupted > 0 ? "\(Text.count(corrupted, "picture")) damaged" : nil,
      failed > 0 ? "\(Text.count(failed, "access unit")) undecodable" : nil,
      dropped > 0 ? "\(Text.count(dropped, "access unit")) dropped" : nil,
    ]
    return "; damage: \(parts.compactMap(\.self).joined(separator: ", "))"
  }
}
