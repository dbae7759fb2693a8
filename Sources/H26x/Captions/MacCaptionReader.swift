// SPDX-License-Identifier: MPL-2.0

/// Reads the lines of an MCC file (MacCaption).
///
/// A line with a time code has an ancillary data packet (SMPTE ST 291-1) in hexadecimal digits, and letters for sequences
/// that are frequent. Lines with the same time code have further packets of the frame.
struct MacCaptionReader: Sendable {
  private var timeCode: CaptionTimeCode?
  private var form: CaptionMessage?
  /// The captions of Caption Distribution Packets.
  private var packets: CaptionFile?
  /// The fields whose pairs these have.
  private var packetFields: Set<CaptionTriplet.Kind> = []
  /// Pairs of CTA-608 that are in packets of their own (SMPTE ST 334-1, annex A).
  private var pairs: CaptionFile?
  /// The frame of the last time code.
  private var lastFrame = 0

  /// The captions so far; nil before the first time code.
  ///
  /// A file with packets of both kinds usually has the pairs in its Caption Distribution Packets, too. Those of a field
  /// that has none there are added.
  ///
  /// - Throws: for a frame that gets more triplets than a message holds.
  func finished() throws(CaptionFileError) -> CaptionFile? {
    guard let packets, let pairs else { return packets ?? pairs }
    return try packets.adding(pairs, of: Set([.field1, .field2]).subtracting(packetFields))
  }

  private var hasCaptions: Bool { packets != nil || pairs != nil }

  /// Whether a file begins with this line.
  static func begins(_ line: ArraySlice<UInt8>) -> Bool {
    EditText.isEqual(line, "File Format=MacCaption_MCC V1.0")
      || EditText.isEqual(line, "File Format=MacCaption_MCC V2.0")
  }

  /// Reads a line behind the first one.
  mutating func read(_ text: ArraySlice<UInt8>, line: Int) throws(CaptionFileError) {
    guard let first = text.first else { return }
    if first == EditText.slash, let form = MacCaptionWriter.form(of: text) { return try setForm(form, line) }
    guard !text.starts(with: [EditText.slash, EditText.slash]) else { return }
    if 48...57 ~= first { return try readCaptions(text, line) }
    guard let equals = text.firstIndex(of: EditText.equals) else {
      throw CaptionFileError(line: line, "expected a time code, NAME=VALUE or a comment")
    }
    let (name, value) = (text[..<equals], text[(equals + 1)...])
    if EditText.isEqual(name, "Time Code Rate") { try setRate(value, line) }
  }

  private mutating func setRate(_ value: ArraySlice<UInt8>, _ line: Int) throws(CaptionFileError) {
    let rates: [(StaticString, base: Int, dropsFrames: Bool)] = [
      ("24", 24, false), ("25", 25, false), ("30", 30, false), ("30DF", 30, true), ("50", 50, false), ("60", 60, false),
      ("60DF", 60, true),
    ]
    guard let rate = rates.first(where: { EditText.isEqual(value, $0.0) }) else {
      throw CaptionFileError(line: line, "expected a Time Code Rate of 24, 25, 30, 30DF, 50, 60 or 60DF")
    }
    guard !hasCaptions else { throw CaptionFileError(line: line, "expected one Time Code Rate") }
    timeCode = CaptionTimeCode(base: rate.base, dropsFrames: rate.dropsFrames)
  }

  private mutating func setForm(_ value: ArraySlice<UInt8>, _ line: Int) throws(CaptionFileError) {
    guard !hasCaptions, let payload = EditText.hexadecimal(value), let country = payload.first else {
      throw CaptionFileError(line: line, "expected user data in hexadecimal, in front of the captions")
    }
    let userData = RegisteredUserData(countryCode: country, data: Array(payload.dropFirst()))
    do throws(BitstreamError) { form = try CaptionMessage(userData) } catch { form = nil }
    guard let form, form.triplets.isEmpty else {
      throw CaptionFileError(line: line, "expected user data for captions, with a cc_count of 0")
    }
  }

  private mutating func readCaptions(_ text: ArraySlice<UInt8>, _ line: Int) throws(CaptionFileError) {
    guard let timeCode else {
      throw CaptionFileError(line: line, "expected a Time Code Rate in front of the first time code")
    }
    let end = text.firstIndex { $0 == 9 || $0 == 32 } ?? text.endIndex
    // Version 2 may add the field and the line of the picture: "00:00:01:00.1,9".
    let time = text[..<end].prefix { $0 != EditText.point && $0 != EditText.comma }
    guard let (frame, _) = timeCode.frame(of: time) else {
      let limit = "at \(timeCode.base)\(timeCode.dropsFrames ? "DF" : "") frames a second"
      throw CaptionFileError(line: line, "expected a time code HH:MM:SS:FF \(limit)")
    }
    guard frame >= lastFrame else {
      let lastText = String(decoding: timeCode.text(ofFrame: lastFrame), as: UTF8.self)
      throw CaptionFileError(line: line, "the time code runs backwards: expected \(lastText) or later")
    }
    let data = try Self.ancillaryData(text[end...].drop { $0 == 9 || $0 == 32 }, line)
    lastFrame = frame
    switch (data[0], data[1]) {
    case (0x61, 0x01):
      let packet = try Self.packet(data, line)
      packetFields.formUnion(packet.triplets.lazy.filter { $0.isCaptionPair }.map { $0.kind })
      let message = message(packet)
      if packets == nil { packets = CaptionFile(timeCode: timeCode, form: form) }
      packets?.append(message, ofFrame: frame, line: line)
    case (0x61, 0x02):
      let triplets = try Self.triplets(data, line)
      guard form == nil else {
        throw CaptionFileError(
          line: line, "expected caption distribution packets alone behind user data, not a packet of CTA-608")
      }
      if pairs == nil { pairs = CaptionFile(timeCode: timeCode, form: nil) }
      pairs?.append(CaptionMessage(CaptionData(triplets)), ofFrame: frame, line: line)
    // Data of other kinds may be between captions.
    default: break
    }
  }

  /// The message of a packet; nil if the packet only takes the place of a field without one.
  private func message(_ packet: CaptionDistributionPacket) -> CaptionMessage? {
    guard var form, case .packet(_, let trailingBytes) = form.content else {
      let hasCaptions = packet.sections.contains { $0.isCaptions }
      return hasCaptions ? CaptionMessage(CaptionData(packet.triplets)) : nil
    }
    guard packet.flags != .reserved || !packet.sections.isEmpty else { return nil }
    form.content = .packet(packet, trailingBytes: trailingBytes)
    return form
  }

  // MARK: Packets

  /// An ancillary data packet: identifiers, data count, user data words and checksum.
  private static func ancillaryData(_ text: ArraySlice<UInt8>, _ line: Int) throws(CaptionFileError) -> [UInt8] {
    // Files disagree on the number of zeros that U stands for.
    var data = try expanded(text, zerosOfU: 3, line)
    if !isComplete(data), text.contains(85) {
      let other = try expanded(text, zerosOfU: 2, line)
      if isComplete(other) { data = other }
    }
    guard hasItsLength(data) else {
      let count = data.count > 2 ? "\(Int(data[2]) + 4)" : "at least 4"
      throw CaptionFileError(
        line: line, "expected \(count) bytes of ancillary data, by its data count, not \(data.count): cut off?")
    }
    guard isComplete(data) else {
      throw CaptionFileError(line: line, "expected another checksum of the ancillary data: a digit is wrong")
    }
    return data
  }

  private static func hasItsLength(_ data: [UInt8]) -> Bool { data.count > 3 && data.count == Int(data[2]) + 4 }

  /// Whether ancillary data has the length of its data count, and its checksum.
  ///
  /// GStreamer's mccenc leaves identifiers and data count out of the sum.
  private static func isComplete(_ data: [UInt8]) -> Bool {
    guard hasItsLength(data), let checksum = data.last else { return false }
    let words = data[3...].dropLast().reduce(0, &+)
    return checksum == words || checksum == words &+ data[0] &+ data[1] &+ data[2]
  }

  /// The Caption Distribution Packet of ancillary data.
  private static func packet(_ data: [UInt8], _ line: Int) throws(CaptionFileError) -> CaptionDistributionPacket {
    let bytes = withChecksum(Array(data[3...].dropLast()))
    let packet: CaptionDistributionPacket
    do throws(BitstreamError) { packet = try CaptionDistributionPacket(bytes.span) } catch {
      throw CaptionFileError(line: line, "expected a caption distribution packet: \(error)")
    }
    guard packet.byteCount == bytes.count else {
      throw CaptionFileError(line: line, "expected a cdp_length of \(bytes.count), not \(packet.byteCount)")
    }
    guard packet.hasValidChecksum else {
      throw CaptionFileError(line: line, "expected another packet_checksum: a digit is wrong")
    }
    guard packet.triplets.count <= CaptionTriplet.limit, !packet.sections.contains(where: { $0.isUnread }) else {
      throw CaptionFileError(line: line, "expected sections of a caption distribution packet that can be read")
    }
    return packet
  }

  /// A packet with the packet_checksum that Caption Inspector and CCExtractor leave out, cdp_length included.
  private static func withChecksum(_ bytes: [UInt8]) -> [UInt8] {
    let footer = bytes.count - 3
    guard 7..<252 ~= footer, Int(bytes[2]) == bytes.count, bytes.reduce(0, &+) != 0, bytes[footer] == 0x74,
      bytes[(footer + 1)...].elementsEqual(bytes[5...6])
    else { return bytes }
    var bytes = bytes
    bytes[2] += 1
    bytes.append(0 &- bytes.reduce(0, &+))
    return bytes
  }

  /// The pairs of ancillary data of CTA-608. The first bit of three bytes is 1 for the first field.
  private static func triplets(_ data: [UInt8], _ line: Int) throws(CaptionFileError) -> [CaptionTriplet] {
    let words = data[3...].dropLast()
    guard !words.isEmpty, words.count.isMultiple(of: 3), words.count <= 9 else {
      throw CaptionFileError(line: line, "expected 3, 6 or 9 bytes of CTA-608, not \(words.count)")
    }
    return stride(from: words.startIndex, to: words.endIndex, by: 3).map { place in
      CaptionTriplet(words[place] & 0x80 != 0 ? .field1 : .field2, words[place + 1], words[place + 2])
    }
  }

  /// The bytes that digits and letters stand for, 260 at most.
  private static func expanded(
    _ text: ArraySlice<UInt8>, zerosOfU: Int, _ line: Int
  ) throws(CaptionFileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var index = text.startIndex
    while index < text.endIndex, bytes.count < 260 {
      let letter = text[index]
      switch letter {
      case 71...79:
        for _ in 70..<letter { bytes += [0xFA, 0, 0] }
      case 80...82: bytes += [0xFB + (letter - 80), 0x80, 0x80]
      case 83: bytes += [0x96, 0x69]
      case 84: bytes += [0x61, 0x01]
      case 85: bytes += [0xE1] + [UInt8](repeating: 0, count: zerosOfU)
      case 90: bytes.append(0)
      default:
        guard index + 1 < text.endIndex, let byte = EditText.hexadecimal(text[index...index + 1]) else {
          let place = text.distance(from: text.startIndex, to: index) + 1
          throw CaptionFileError(
            line: line,
            "expected two hexadecimal digits, or a letter from G to U or Z, at character \(place) of the data")
        }
        bytes += byte
        index += 1
      }
      index += 1
    }
    return bytes
  }
}

extension CaptionDistributionPacket.Section {
  fileprivate var isUnread: Bool { if case .unread = self { true } else { false } }
}
