// SPDX-License-Identifier: MPL-2.0

/// Writes an SCC file (Scenarist) of one field of CTA-608 at 29.97 frames a second.
///
/// A line has the pairs of frames in a row. Pairs without captions are left out, and end the line.
package struct ScenaristWriter: Sendable {
  /// The pairs of frames in a row.
  private struct Run: Sendable {
    let frame: Int
    var pairs: [UInt8]
    /// The frame behind them.
    var end: Int { frame + pairs.count / 2 }
  }

  private var runs: (field1: [Run], field2: [Run]) = ([], [])

  /// FFmpeg reads lines of up to 4,095 bytes.
  private static let limit = 512

  /// Creates a writer of a file that begins with the time code 00:00:00;00.
  package init() {}

  /// Whether a field has pairs.
  package func hasPairs(_ field: CaptionTriplet.Kind) -> Bool {
    field == .field1 ? !runs.field1.isEmpty : field == .field2 && !runs.field2.isEmpty
  }

  /// Adds the triplets of the next frame in presentation order.
  ///
  /// - Parameters:
  ///   - triplets: those of all of its messages.
  ///   - frame: its number, from 0.
  package mutating func add(_ triplets: [CaptionTriplet], ofFrame frame: Int) {
    for triplet in triplets where triplet.isCaptionPair {
      if triplet.kind == .field1 { Self.add(triplet, frame, to: &runs.field1) }
      if triplet.kind == .field2 { Self.add(triplet, frame, to: &runs.field2) }
    }
  }

  private static func add(_ pair: CaptionTriplet, _ frame: Int, to runs: inout [Run]) {
    // A frame with several delays the next ones.
    let end = runs.last?.end ?? 0
    if let last = runs.indices.last, frame <= end, runs[last].pairs.count < limit {
      runs[last].pairs += [pair.first, pair.second]
    } else {
      runs.append(Run(frame: max(frame, end), pairs: [pair.first, pair.second]))
    }
  }

  /// The file of a field.
  package func text(_ field: CaptionTriplet.Kind) -> [UInt8] {
    let timeCode = CaptionTimeCode(base: 30, dropsFrames: true)
    var text = Array("Scenarist_SCC V1.0\n".utf8)
    for run in field == .field1 ? runs.field1 : runs.field2 {
      text.append(10)
      text += timeCode.text(ofFrame: run.frame, hasSemicolon: true)
      for (index, byte) in run.pairs.enumerated() {
        // A tab behind the time code, and spaces between pairs.
        if index & 1 == 0 { text.append(index == 0 ? 9 : 32) }
        for digit in [byte >> 4, byte & 0xF] { text.append(digit < 10 ? 48 + digit : 87 + digit) }
      }
      text.append(10)
    }
    return text
  }
}
