// SPDX-License-Identifier: MPL-2.0

/// The captions of a file in MCC (MacCaption) or SCC (Scenarist), by frame.
///
/// A film has hundreds of thousands of frames, so their captions are held without padding.
package struct CaptionFile: Sendable {
  /// How its time codes count.
  package let timeCode: CaptionTimeCode
  /// The user data that the captions were in, without captions; nil if the file does not have it.
  ///
  /// If it has, the messages of frames are exactly those of the file. Otherwise, each frame has as many triplets as its
  /// rate demands.
  package let form: CaptionMessage?
  /// The field of SCC's pairs; nil for MCC.
  private(set) var field: CaptionTriplet.Kind?

  /// A message, or a place for one.
  private struct Entry: Sendable {
    let frame: Int
    let line: Int
    /// Of its content in ``CaptionFile/bytes``.
    let offset: Int
  }

  /// The content of an entry.
  private enum Content: UInt8 {
    /// The number of triplets, the number without padding at the end, and these.
    case triplets
    /// The length of a Caption Distribution Packet, and its bytes.
    case packet
    /// No message: the one behind it is of the frame's second field.
    case none
  }

  private var bytes: [UInt8] = []
  private var entries: [Entry] = []

  init(timeCode: CaptionTimeCode, form: CaptionMessage?) { (self.timeCode, self.form) = (timeCode, form) }

  // MARK: Adding

  /// Adds the packet of a frame, which must not be in front of the last one.
  mutating func append(_ packet: CaptionDistributionPacket, bytes packetBytes: ArraySlice<UInt8>, _ frame: Int, line: Int) {
    let hasCaptions = packet.sections.contains { if case .captions = $0 { true } else { false } }
    if case .packet = form?.content {
      entries.append(Entry(frame: frame, line: line, offset: bytes.count))
      bytes += [Content.packet.rawValue, UInt8(clamping: packetBytes.count)]
      bytes += packetBytes.prefix(255)
    } else if hasCaptions {
      append(packet.triplets, frame, line: line)
    } else {
      entries.append(Entry(frame: frame, line: line, offset: bytes.count))
      bytes.append(Content.none.rawValue)
    }
  }

  /// Adds the triplets of a frame, which must not be in front of the last one.
  mutating func append(_ triplets: [CaptionTriplet], _ frame: Int, line: Int) {
    let count = triplets.lastIndex { $0 != .padding }.map { $0 + 1 } ?? 0
    entries.append(Entry(frame: frame, line: line, offset: bytes.count))
    bytes += [Content.triplets.rawValue, UInt8(clamping: triplets.count), UInt8(clamping: count)]
    for triplet in triplets.prefix(count) { bytes += triplet.bytes }
  }

  /// Sets the field of pairs.
  mutating func setField(_ kind: CaptionTriplet.Kind) { field = kind }

  // MARK: Frames

  /// Whether there are no captions.
  package var isEmpty: Bool { entries.isEmpty }
  /// The first frame with captions, with its line.
  package var first: (frame: Int, line: Int)? { entries.first.map { ($0.frame, $0.line) } }
  /// The last frame with captions, with its line.
  package var last: (frame: Int, line: Int)? { entries.last.map { ($0.frame, $0.line) } }

  /// The first frame with captions that is not in front of this one, with its line.
  package func first(from frame: Int) -> (frame: Int, line: Int)? {
    let index = index(from: frame)
    return entries.indices.contains(index) ? (entries[index].frame, entries[index].line) : nil
  }

  /// The index of the first entry whose frame is not in front of this one.
  private func index(from frame: Int) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = low + (high - low) / 2
      if entries[middle].frame < frame { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The messages of a frame, in the order of its fields; nil for a field without one.
  ///
  /// - Parameters:
  ///   - frame: the number in the file.
  ///   - rate: that of the stream.
  /// - Throws: for more triplets than the rate allows.
  package func messages(ofFrame frame: Int, at rate: CaptionRate) throws(CaptionFileError) -> [CaptionMessage?] {
    let first = index(from: frame)
    let found = entries[first...].prefix { $0.frame == frame }
    if let form { return found.map { message(form, $0) } }
    let triplets = found.flatMap { self.triplets($0) }
    let message: CaptionMessage
    if let field {
      // Field by field, as SCC has one of them.
      var pairs = rate.pairs(ofFrame: frame).map { CaptionTriplet($0, 0x80, 0x80) }
      if let pair = triplets.first, let place = pairs.firstIndex(where: { $0.kind == field }) {
        pairs[place] = CaptionTriplet(field, pair.first, pair.second)
      }
      message = CaptionMessage(CaptionData(rate.padded(pairs, frame: frame) ?? pairs))
    } else {
      guard let padded = rate.padded(triplets, frame: frame) else {
        throw CaptionFileError(
          line: found.first?.line ?? 0,
          "expected at most \(rate.tripletCount) triplets (cc_count at \(rate.text)), not \(triplets.count)")
      }
      message = CaptionMessage(CaptionData(padded))
    }
    return [message]
  }

  private func triplets(_ entry: Entry) -> [CaptionTriplet] {
    guard Content(rawValue: bytes[entry.offset]) == .triplets else { return [] }
    let (all, count) = (Int(bytes[entry.offset + 1]), Int(bytes[entry.offset + 2]))
    var triplets: [CaptionTriplet] = []
    for place in 0..<count {
      let offset = entry.offset + 3 + 3 * place
      triplets.append(CaptionTriplet(header: bytes[offset], bytes[offset + 1], bytes[offset + 2]))
    }
    return triplets + [CaptionTriplet](repeating: .padding, count: max(all - count, 0))
  }

  /// The message of an entry; nil if it is a field's without one.
  private func message(_ form: CaptionMessage, _ entry: Entry) -> CaptionMessage? {
    var message = form
    switch Content(rawValue: bytes[entry.offset]) {
    case .triplets:
      guard case .data(var data) = form.content else { return nil }
      data.triplets = triplets(entry)
      message.content = .data(data)
    case .packet:
      guard case .packet(_, let trailingBytes) = form.content else { return nil }
      let packet = Array(bytes[(entry.offset + 2)...].prefix(Int(bytes[entry.offset + 1])))
      do throws(BitstreamError) {
        message.content = .packet(try CaptionDistributionPacket(packet.span), trailingBytes: trailingBytes)
      } catch {
        // It was read before.
        return nil
      }
    default: return nil
    }
    return message
  }
}

extension CaptionTriplet {
  init(header: UInt8, _ first: UInt8, _ second: UInt8) {
    self.init(.field1, first, second)
    self.header = header
  }
}

extension CaptionMessage {
  /// The message without captions: what surrounds them is the same in all pictures of most streams.
  package var form: CaptionMessage {
    var form = self
    switch content {
    case .data(var data):
      data.triplets = []
      form.content = .data(data)
    case .packet(_, let trailingBytes):
      let packet = CaptionDistributionPacket(frameRateCode: 0, flags: .reserved, sequenceCounter: 0, sections: [])
      form.content = .packet(packet, trailingBytes: trailingBytes)
    }
    return form
  }
}

/// The reason that a caption file cannot be read, or used.
package struct CaptionFileError: Error, Sendable {
  /// The line, from 1; 0 for the whole file.
  package let line: Int
  /// For people.
  package let reason: String

  package init(line: Int, _ reason: String) { (self.line, self.reason) = (line, reason) }

  /// "line 7: expected a time code".
  package var text: String { line > 0 ? "line \(line): \(reason)" : reason }
}
