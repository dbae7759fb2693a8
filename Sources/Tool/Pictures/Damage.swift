// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer

/// The damage that a decoder and the parser before it counted.
struct Damage {
  /// Pictures that were output with the flag corrupted.
  var corrupted = 0
  /// Access units that could not be decoded.
  var failed = 0
  /// Access units whose picture is missing, such as those before the first random access point.
  var dropped = 0
  /// Pictures that were output too late for their place, because the stream signals less reordering than it has.
  var disordered = 0
  /// Slices that the parser could not read and did not pass on: damaged slices, and slices before the first parameter
  /// sets.
  var unreadable = 0
  /// Whether the end of the file is missing.
  var isCutOff = false

  init(_ statistics: Fields?, parser: Fields? = nil) {
    let errors = parser?.fields("errors")
    unreadable = (errors?["missing-parameter-sets"]?.integer ?? 0) + (errors?["slices"]?.integer ?? 0)
    guard let statistics else { return }
    corrupted = statistics["corrupted"]?.integer ?? 0
    failed = statistics["failed"]?.integer ?? 0
    dropped = statistics["lost"]?.integer ?? 0
    disordered = statistics["out-of-order"]?.integer ?? 0
  }

  static func + (left: Damage, right: Damage) -> Damage {
    var sum = left
    sum.corrupted += right.corrupted
    sum.failed += right.failed
    sum.dropped += right.dropped
    sum.disordered += right.disordered
    sum.unreadable += right.unreadable
    sum.isCutOff = left.isCutOff || right.isCutOff
    return sum
  }

  var isAny: Bool { corrupted + failed + dropped + disordered + unreadable > 0 || isCutOff }

  /// Ends a sentence: `; damage: 2 pictures damaged`; empty without damage.
  var remark: String {
    guard isAny else { return "" }
    let parts = [
      corrupted > 0 ? "\(Text.count(corrupted, "picture")) damaged" : nil,
      failed > 0 ? "\(Text.count(failed, "access unit")) undecodable" : nil,
      dropped > 0 ? "\(Text.count(dropped, "access unit")) dropped" : nil,
      disordered > 0 ? "\(Text.count(disordered, "picture")) out of order" : nil,
      unreadable > 0 ? "\(Text.count(unreadable, "slice")) unreadable" : nil,
      isCutOff ? "the file is cut off" : nil,
    ]
    return "; damage: \(parts.compactMap(\.self).joined(separator: ", "))"
  }
}
