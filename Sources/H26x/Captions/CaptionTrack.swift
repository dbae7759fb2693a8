// SPDX-License-Identifier: MPL-2.0

/// The captions of frames in presentation order, message by message.
///
/// A film has hundreds of thousands of frames, so their captions are held without padding.
package struct CaptionTrack: Sendable {
  /// A frame's message, or a place for one.
  private struct Entry: Sendable {
    let frame: Int
    let line: Int
    /// Of its content in ``CaptionTrack/bytes``.
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

  /// The user data that captions are in, without captions; nil if that does not matter.
  package let form: CaptionMessage?
  private var bytes: [UInt8] = []
  private var entries: [Entry] = []

  /// Creates a track without captions.
  package init(form: CaptionMessage?) { self.form = form }

  // MARK: Adding

  /// Adds a message of a frame, which must not be in front of the last one.
  ///
  /// - Parameters:
  ///   - message: nil for a first field without one.
  ///   - frame: the number of the frame.
  ///   - line: the line of a file.
  package mutating func append(_ message: CaptionMessage?, ofFrame frame: Int, line: Int = 0) {
    let offset = bytes.count
    switch message?.content {
    case nil: bytes.append(Content.none.rawValue)
    case .data(let data): append(data.triplets)
    case .packet(let packet, trailingBytes: _): append(packet)
    }
    entries.append(Entry(frame: frame, line: line, offset: offset))
  }

  private mutating func append(_ triplets: [CaptionTriplet]) {
    let count = triplets.lastIndex { $0 != .padding }.map { $0 + 1 } ?? 0
    bytes += [Content.triplets.rawValue, UInt8(clamping: triplets.count), UInt8(clamping: count)]
    for triplet in triplets.prefix(min(count, 255)) { bytes += triplet.bytes }
  }

  private mutating func append(_ packet: CaptionDistributionPacket) {
    guard case .packet = form?.content else { return append(packet.triplets) }
    do throws(BitstreamError) {
      let packetBytes = try packet.bytes()
      bytes += [Content.packet.rawValue, UInt8(clamping: packetBytes.count)]
      bytes += packetBytes
    } catch {
      // A packet that was read can be written.
      append(packet.triplets)
    }
  }

  // MARK: Frames

  /// Whether there are no captions.
  package var isEmpty: Bool { entries.isEmpty }
  /// The first frame with captions, with its line.
  package var first: (frame: Int, line: Int)? { entries.first.map { ($0.frame, $0.line) } }
  /// The last frame with captions, with its line.
  package var last: (frame: Int, line: Int)? { entries.last.map { ($0.frame, $0.line) } }

  /// The frames with captions, in order.
  package var frames: [Int] {
    var frames: [Int] = []
    for entry in entries where entry.frame != frames.last { frames.append(entry.frame) }
    return frames
  }

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

  /// The messages of a frame, in the order of its fields; nil for a field without one. Their form is that of the track.
  package func messages(ofFrame frame: Int) -> [CaptionMessage?] {
    entries[index(from: frame)...].prefix { $0.frame == frame }.map { message(at: $0.offset) }
  }

  /// How many messages and places for them a frame has.
  package func count(ofFrame frame: Int) -> Int { entries[index(from: frame)...].prefix { $0.frame == frame }.count }

  private func message(at offset: Int) -> CaptionMessage? {
    switch Content(rawValue: bytes[offset]) {
    case .triplets:
      let triplets = triplets(at: offset)
      guard var form, case .data(var data) = form.content else { return CaptionMessage(CaptionData(triplets)) }
      data.triplets = triplets
      form.content = .data(data)
      return form
    case .packet:
      guard var form, case .packet(_, let trailingBytes) = form.content else { return nil }
      let packet = Array(bytes[(offset + 2)...].prefix(Int(bytes[offset + 1])))
      do throws(BitstreamError) {
        form.content = .packet(try CaptionDistributionPacket(packet.span), trailingBytes: trailingBytes)
        return form
      } catch {
        // It was read before.
        return nil
      }
    default: return nil
    }
  }

  private func triplets(at offset: Int) -> [CaptionTriplet] {
    let (all, count) = (Int(bytes[offset + 1]), Int(bytes[offset + 2]))
    var triplets: [CaptionTriplet] = []
    for place in 0..<count {
      let offset = offset + 3 + 3 * place
      var triplet = CaptionTriplet(.field1, bytes[offset + 1], bytes[offset + 2])
      triplet.header = bytes[offset]
      triplets.append(triplet)
    }
    return triplets + [CaptionTriplet](repeating: .padding, count: max(all - count, 0))
  }
}

extension CaptionMessage {
  /// The message without captions: the user data around them, which are the same in all pictures of most streams.
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

  /// Messages of one picture as one: a picture has one (ATSC A/53 part 4, 6.2.3).
  ///
  /// It has the triplets of all without the padding at their ends, pairs of CTA-608 in front, and whatever else the first
  /// has. Padding fills it up.
  ///
  /// - Parameter limit: the most triplets with padding; nil for as many as one of the messages has.
  /// - Returns: nil without messages, and if one has no room for all triplets.
  package static func joined(_ messages: [CaptionMessage], limit: Int? = nil) -> CaptionMessage? {
    guard messages.count > 1, var joined = messages.first else { return messages.first }
    let lists = messages.map { $0.triplets }
    let count = min(lists.reduce(0) { $0 + $1.count }, limit ?? lists.reduce(0) { max($0, $1.count) })
    var triplets = CaptionTriplet.joined(lists)
    triplets += [CaptionTriplet](repeating: .padding, count: max(count - triplets.count, 0))
    guard triplets.count <= CaptionTriplet.limit else { return nil }
    switch joined.content {
    case .data(var data):
      data.triplets = triplets
      joined.content = .data(data)
    case .packet(var packet, let trailingBytes):
      packet.sections = messages.flatMap { $0.sections.filter { !$0.isCaptions } }
      packet.sections.insert(
        .captions(markerBits: 7, triplets), at: packet.sections.firstIndex { !$0.isTimeCode } ?? packet.sections.count)
      guard packet.byteCount <= 255 else { return nil }
      joined.content = .packet(packet, trailingBytes: trailingBytes)
    }
    return joined
  }

  /// The sections of its packet; none without one.
  private var sections: [CaptionDistributionPacket.Section] {
    if case .packet(let packet, trailingBytes: _) = content { packet.sections } else { [] }
  }
}

extension CaptionDistributionPacket.Section {
  var isCaptions: Bool { if case .captions = self { true } else { false } }
  fileprivate var isTimeCode: Bool { if case .timeCode = self { true } else { false } }
}
