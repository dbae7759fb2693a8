// SPDX-License-Identifier: MPL-2.0

/// The captions of a file in MCC (MacCaption) or SCC (Scenarist).
package struct CaptionFile: Sendable {
  /// How its time codes count frames.
  package let timeCode: CaptionTimeCode
  /// Its captions, by the frames of their time codes. If they have a form, each frame gets exactly these. Otherwise,
  /// each frame gets as many triplets as its rate demands.
  package private(set) var track: CaptionTrack
  /// The field of the pairs of SCC, whose file does not have it; nil for MCC.
  package private(set) var field: CaptionTriplet.Kind?

  init(timeCode: CaptionTimeCode, form: CaptionMessage?) {
    (self.timeCode, track) = (timeCode, CaptionTrack(form: form))
  }

  /// Adds a message of a frame, which must not be in front of the last one.
  mutating func append(_ message: CaptionMessage?, ofFrame frame: Int, line: Int) {
    track.append(message, ofFrame: frame, line: line)
  }

  /// Sets the field of the pairs.
  mutating func setField(_ kind: CaptionTriplet.Kind) { field = kind }

  /// The messages of a frame, in the order of its fields; nil for a field without one.
  ///
  /// - Parameters:
  ///   - frame: the number in the file.
  ///   - rate: that of the stream.
  /// - Throws: for more triplets than the rate allows.
  package func messages(ofFrame frame: Int, at rate: CaptionRate) throws(CaptionFileError) -> [CaptionMessage?] {
    let found = track.messages(ofFrame: frame)
    guard track.form == nil else { return found }
    let triplets = found.flatMap { $0?.triplets ?? [] }
    guard let field else {
      guard let padded = rate.padded(triplets, frame: frame) else {
        throw CaptionFileError(
          line: track.first(from: frame)?.line ?? 0,
          "expected at most \(rate.tripletCount) triplets (cc_count at \(rate.text)), not \(triplets.count)")
      }
      return [CaptionMessage(CaptionData(padded))]
    }
    var pairs = rate.pairs(ofFrame: frame).map { CaptionTriplet($0, 0x80, 0x80) }
    if let pair = triplets.first, let place = pairs.firstIndex(where: { $0.kind == field }) {
      pairs[place] = CaptionTriplet(field, pair.first, pair.second)
    }
    return [CaptionMessage(CaptionData(rate.padded(pairs, frame: frame) ?? pairs))]
  }
}

/// The reason that a caption file cannot be read, or used.
package struct CaptionFileError: Error, Sendable {
  /// The line, from 1; 0 for the whole file.
  package let line: Int
  /// For people.
  package let reason: String

  /// Creates an error.
  package init(line: Int, _ reason: String) { (self.line, self.reason) = (line, reason) }

  /// "line 7: expected a time code".
  package var text: String { line > 0 ? "line \(line): \(reason)" : reason }
}
