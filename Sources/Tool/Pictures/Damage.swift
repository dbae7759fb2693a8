// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// What a decoder could not decode as it was meant, by its own count.
struct Damage {
  /// Pictures that came out with damage.
  var corrupted = 0
  /// Access units that do not decode.
  var failed = 0
  /// Access units that were left out, such as those before the first random access point.
  var dropped = 0

  init(_ statistics: Fields?) {
    guard let statistics else { return }
    corrupted = statistics["corrupted"]?.integer ?? 0
    failed = statistics["failed"]?.integer ?? 0
    dropped = statistics["dropped"]?.integer ?? 0
  }

  var isAny: Bool { corrupted + failed + dropped > 0 }

  /// For the end of a line; empty where all is well.
  var remark: String {
    guard isAny else { return "" }
    let parts = [
      corrupted > 0 ? "\(Text.count(corrupted, "picture")) damaged" : nil,
      failed > 0 ? "\(Text.count(failed, "access unit")) undecodable" : nil,
      dropped > 0 ? "\(Text.count(dropped, "access unit")) left out" : nil,
    ]
    return "; damage: \(parts.compactMap(\.self).joined(separator: ", "))"
  }
}
