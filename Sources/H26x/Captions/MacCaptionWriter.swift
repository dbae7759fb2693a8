// SPDX-License-Identifier: MPL-2.0

/// Writes an MCC file (MacCaption): a line for each message, with all of its triplets.
package struct MacCaptionWriter: Sendable {
  private let rate: CaptionRate
  private let timeCode: CaptionTimeCode
  private let form: CaptionMessage
  private var sequenceCounter: UInt16 = 0

  /// The beginning of the comment with the form of messages.
  private static let formComment: StaticString = "// User Data="

  /// The form of messages, in hexadecimal digits; nil for a line of another kind.
  static func form(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let comment = line.prefix(formComment.utf8CodeUnitCount)
    return EditText.isEqual(comment, formComment) ? line[comment.endIndex...] : nil
  }

  /// Creates a writer of a file that begins with the time code 00:00:00:00.
  ///
  /// - Parameters:
  ///   - rate: frames a second.
  ///   - form: the user data around the captions, which the file keeps.
  package init(rate: CaptionRate, form: CaptionMessage) {
    (self.rate, self.form) = (rate, form)
    timeCode = CaptionTimeCode(base: rate.base, dropsFrames: rate.dropsFrames)
  }

  /// The lines in front of the captions.
  ///
  /// - Parameter program: the program's name and version.
  /// - Throws: as writing the form does.
  package func header(program: String) throws(BitstreamError) -> [UInt8] {
    // Version 1 has no 59.94.
    let version = rate.code == 7 ? 2 : 1
    let rates = version == 2 ? "30DF, 50, 60, 60DF" : "30DF, 50, 60"
    let dropFrame = timeCode.dropsFrames ? "DF" : ""
    var header = Array(
      """
      File Format=MacCaption_MCC V\(version).0

      \(Self.rule)
      // Computer Prompting and Captioning Company
      // Ancillary Data Packet Transfer File
      //
      // Permission to generate this format is granted provided that
      //   1. This ANC Transfer file format is used on an as-is basis and no warranty is given, and
      //   2. This entire descriptive information text is included in a generated .mcc file.
      //
      // General file format:
      //   HH:MM:SS:FF(tab)[Hexadecimal ANC data in groups of 2 characters]
      //     Hexadecimal data starts with the Ancillary Data Packet DID (Data ID defined in S291M)
      //       and concludes with the Check Sum following the User Data Words.
      //     Each time code line must contain at most one complete ancillary data packet.
      //     To transfer additional ANC Data successive lines may contain identical time code.
      //     Time Code Rate=[24, 25, 30, \(rates)]
      //
      //   ANC data bytes may be represented by one ASCII character according to the following schema:
      //     G  FAh 00h 00h
      //     H  2 x (FAh 00h 00h)
      //     I  3 x (FAh 00h 00h)
      //     J  4 x (FAh 00h 00h)
      //     K  5 x (FAh 00h 00h)
      //     L  6 x (FAh 00h 00h)
      //     M  7 x (FAh 00h 00h)
      //     N  8 x (FAh 00h 00h)
      //     O  9 x (FAh 00h 00h)
      //     P  FBh 80h 80h
      //     Q  FCh 80h 80h
      //     R  FDh 80h 80h
      //     S  96h 69h
      //     T  61h 01h
      //     U  E1h 00h 00h 00h
      //     Z  00h
      //
      \(Self.rule)

      UUID=C3D0D1A2-8D95-5EE7-8AC7-D9ADF3507D08
      Creation Program=\(program)
      Time Code Rate=\(rate.base)\(dropFrame)
      \(Self.formComment)
      """.utf8)
    for byte in try form.userData().payload { Self.append(byte, to: &header) }
    return header + [10, 10]
  }

  private static var rule: String { String(repeating: "/", count: 83) }

  /// The lines of a frame.
  ///
  /// - Parameters:
  ///   - frame: its number in presentation order, from 0.
  ///   - messages: those of its fields, or all of a frame; nil for a first field that has none.
  /// - Throws: `.valueOutOfRange` for more triplets than a packet holds.
  package mutating func lines(
    ofFrame frame: Int, _ messages: [CaptionMessage?]
  ) throws(BitstreamError) -> [UInt8] {
    var lines: [UInt8] = []
    for message in messages {
      let packet: CaptionDistributionPacket
      switch message?.content {
      case .packet(let found, trailingBytes: _): packet = found
      case .data(let data): packet = self.packet([.captions(markerBits: 7, data.triplets)])
      case nil: packet = self.packet([])
      }
      sequenceCounter &+= 1
      let bytes = try packet.bytes()
      var data = [0x61, 0x01, UInt8(clamping: bytes.count)] + bytes
      data.append(data.reduce(0, &+))
      lines += timeCode.text(ofFrame: frame) + [9]
      Self.append(data, to: &lines)
      lines.append(10)
    }
    return lines
  }

  private func packet(_ sections: [CaptionDistributionPacket.Section]) -> CaptionDistributionPacket {
    let flags: CaptionDistributionPacket.Flags = [.captions, .serviceActive, .reserved]
    return CaptionDistributionPacket(
      frameRateCode: rate.code, flags: sections.isEmpty ? .reserved : flags, sequenceCounter: sequenceCounter,
      sections: sections)
  }

  // MARK: Digits

  private static func append(_ byte: UInt8, to text: inout [UInt8]) {
    for digit in [byte >> 4, byte & 0xF] { text.append(digit < 10 ? 48 + digit : 55 + digit) }
  }

  /// Writes data with letters for sequences that are frequent.
  private static func append(_ data: [UInt8], to text: inout [UInt8]) {
    var index = 0
    func has(_ bytes: [UInt8], at offset: Int) -> Bool { data[min(offset, data.count)...].starts(with: bytes) }
    while index < data.count {
      var count = 0
      while count < 9, has([0xFA, 0, 0], at: index + 3 * count) { count += 1 }
      if count > 0 {
        text.append(70 + UInt8(count))
        index += 3 * count
      } else if 0xFB...0xFD ~= data[index], has([0x80, 0x80], at: index + 1) {
        text.append(80 + (data[index] - 0xFB))
        index += 3
      } else if has([0x96, 0x69], at: index) {
        text.append(83)
        index += 2
      } else if has([0x61, 0x01], at: index) {
        text.append(84)
        index += 2
      } else {
        if data[index] == 0 { text.append(90) } else { append(data[index], to: &text) }
        index += 1
      }
    }
  }
}
