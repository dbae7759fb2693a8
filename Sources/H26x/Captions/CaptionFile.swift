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

  /// Returns the captions with the pairs of other fields in the same frames, in front of everything but pairs.
  ///
  /// - Parameters:
  ///   - other: a file that counts frames in the same way. Neither has a form.
  ///   - fields: the fields whose pairs are taken from it.
  /// - Throws: for a frame that gets more triplets than a message holds.
  func adding(
    _ other: CaptionFile, of fields: Set<CaptionTriplet.Kind>
  ) throws(CaptionFileError) -> CaptionFile {
    var joined = CaptionFile(timeCode: timeCode, form: nil)
    var frame = 0
    while let next = [track.first(from: frame), other.track.first(from: frame)].compactMap({ $0 })
      .min(by: { ($0.frame, $0.line) < ($1.frame, $1.line) })
    {
      frame = next.frame + 1
      let own = track.messages(ofFrame: next.frame)
      let added = other.track.messages(ofFrame: next.frame).flatMap { $0?.triplets ?? [] }
        .filter { fields.contains($0.kind) && $0.isCaptionPair }
      guard !added.isEmpty else {
        for message in own { joined.append(message, ofFrame: next.frame, line: next.line) }
        continue
      }
      // Those that they replace say nothing.
      let rest = own.flatMap { $0?.triplets ?? [] }.filter { !fields.contains($0.kind) }
      let pairs = rest.filter { $0.isPair } + added
      let first = pairs.filter { $0.kind == .field1 }
      let triplets = first + pairs.filter { $0.kind == .field2 } + rest.filter { !$0.isPair }
      guard triplets.count <= CaptionTriplet.limit else {
        throw CaptionFileError(
          line: next.line,
          "expected at most \(CaptionTriplet.limit) triplets with the pairs of CTA-608 of the same time code, not "
            + "\(triplets.count)")
      }
      joined.append(CaptionMessage(CaptionData(triplets)), ofFrame: next.frame, line: next.line)
    }
    return joined
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
    let lists = found.compactMap { $0?.triplets }
    let triplets = lists.count > 1 ? CaptionTriplet.joined(lists) : lists.first ?? []
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
