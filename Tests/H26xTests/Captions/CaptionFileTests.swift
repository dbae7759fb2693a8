// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

@Suite struct CaptionFileTests {
  private static func read(_ text: String, pieces: Int = 1 << 16) throws(CaptionFileError) -> CaptionFile {
    var reader = CaptionFileReader()
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      try reader.read(Array(bytes[start..<min(start + pieces, bytes.count)]))
    }
    return try reader.finish()
  }

  /// The reason that text is refused; nil if it is not.
  private static func refusal(_ text: String) -> String? {
    do throws(CaptionFileError) {
      _ = try read(text)
      return nil
    } catch { return error.text }
  }

  private static func rate(_ code: UInt8) throws -> CaptionRate { try #require(CaptionRate(code: code)) }

  private static let nulls = [CaptionTriplet(.field1, 0x80, 0x80), CaptionTriplet(.field2, 0x80, 0x80)]
  private static func padding(_ count: Int) -> [CaptionTriplet] { [CaptionTriplet](repeating: .padding, count: count) }

  // MARK: Time codes and rates

  @Test func dropFrameLeavesOutTwoNumbersAMinute() throws {
    let timeCode = CaptionTimeCode(base: 30, dropsFrames: true)
    for (frame, text) in [
      (0, "00:00:00:00"), (1799, "00:00:59:29"), (1800, "00:01:00:02"), (3597, "00:01:59:29"), (3598, "00:02:00:02"),
      (17_981, "00:09:59:29"), (17_982, "00:10:00:00"), (107_892, "01:00:00:00"), (2_589_407, "23:59:59:29"),
    ] {
      #expect(String(decoding: timeCode.text(ofFrame: frame), as: UTF8.self) == text)
      let found = try #require(timeCode.frame(of: Array(text.utf8)[...]))
      #expect(found.frame == frame && !found.hasSemicolon)
    }
    #expect(timeCode.framesOfDay == 2_589_408)
    for text in [
      "00:01:00:00", "00:01:00:01", "24:00:00:00", "00:60:00:00", "00:00:60:00", "00:00:00:30", "0:00:00:00",
      "00:00:00.00",
    ] {
      #expect(timeCode.frame(of: Array(text.utf8)[...]) == nil, "\(text)")
    }
    // Four of 60 a second.
    let double = CaptionTimeCode(base: 60, dropsFrames: true)
    #expect(String(decoding: double.text(ofFrame: 3600, hasSemicolon: true), as: UTF8.self) == "00:01:00;04")
    #expect(!CaptionTimeCode(base: 25, dropsFrames: true).dropsFrames)
  }

  @Test(arguments: [(24, false), (25, false), (30, false), (30, true), (50, false), (60, false), (60, true)])
  func timeCodesAreOneForEachFrame(base: Int, dropsFrames: Bool) {
    let timeCode = CaptionTimeCode(base: base, dropsFrames: dropsFrames)
    let frames = Array(stride(from: 0, to: timeCode.framesOfDay, by: 977)) + Array(0..<base * 130)
    #expect(frames.allSatisfy { timeCode.frame(of: timeCode.text(ofFrame: $0)[...])?.frame == $0 })
  }

  @Test func ratesHaveTheirTripletsAndPairs() throws {
    let counts = [1: (25, 5), 2: (25, 5), 3: (24, 4), 4: (20, 4), 5: (20, 4), 6: (12, 2), 7: (10, 2), 8: (10, 2)]
    for (code, (count, pairs)) in counts {
      let rate = try Self.rate(UInt8(code))
      #expect(CaptionRate(rate.ratio) == rate && rate.tripletCount == count, "\(rate.text)")
      #expect(rate.pairs(ofFrame: 6).count + rate.pairs(ofFrame: 7).count == pairs)
      // The fields follow each other.
      let kinds = (0..<8).flatMap { rate.pairs(ofFrame: $0) }
      #expect(kinds.indices.allSatisfy { kinds[$0] == ($0 & 1 == 0 ? .field1 : .field2) })
      for frame in 0..<4 {
        let padded = try #require(rate.padded([], frame: frame))
        #expect(padded.count == count && padded.prefix { $0 != .padding }.map(\.kind) == rate.pairs(ofFrame: frame))
      }
    }
    #expect(CaptionRate(try #require(Ratio(2997, 100)))?.code == 4)
    #expect(
      CaptionRate(try #require(Ratio(15, 1))) == nil && CaptionRate(code: 0) == nil && CaptionRate(code: 9) == nil)
    let rate = try Self.rate(7)
    #expect(rate.padded([CaptionTriplet](repeating: CaptionTriplet(.field1, 0x41, 0x42), count: 11), frame: 0) == nil)
    #expect(rate.padded(Self.nulls + Self.padding(20), frame: 0) == Self.nulls + Self.padding(8))
  }

  // MARK: MCC

  private static let head =
    "File Format=MacCaption_MCC V1.0\r\n\r\n// Comment\r\n\r\nUUID=1\r\nTime Code Rate=30DF\r\n\r\n"
  private static let empty = "T52S524F67ZZ72F4QROO73D1E0656E67C13FFF74ZZ35B4"
  private static let loading = "T52S524F67Z0172F4FC9420ROO73D1E0656E67C13FFF74Z017FB4"

  @Test(arguments: [1, 7, 1 << 16]) func readsFilesOfOtherPrograms(pieces: Int) throws {
    let file = try Self.read(
      Self.head + "00:00:59:29\t\(Self.empty)\r\n00:01:00;02\t\(Self.loading.lowercased(ofDigits: true))\r\n",
      pieces: pieces)
    let rate = try Self.rate(4)
    #expect(file.timeCode == CaptionTimeCode(base: 30, dropsFrames: true) && file.field == nil)
    #expect(file.track.first?.frame == 1799 && file.track.last?.frame == 1800 && file.track.last?.line == 9)
    let loading = [CaptionTriplet(.field1, 0x94, 0x20), CaptionTriplet(.field2, 0x80, 0x80)]
    for (frame, triplets) in [(1799, Self.nulls), (1800, loading), (1801, Self.nulls)] {
      let messages = try file.messages(ofFrame: frame, at: rate)
      #expect(messages.map { $0?.triplets } == [triplets + Self.padding(18)])
    }
  }

  @Test func readsVersion2() throws {
    let text = """
      \u{FEFF}File Format=MacCaption_MCC V2.0

      Time Code Rate=60DF
      00:00:00:00.1,9\tT16S164F43Z0572E1FC94207504U74Z057E78
      00:00:00:01\tT15S154F43Z0572E1FC94207503U74Z058077
      00:00:00:01\t6102038C9420A6
      """
    let file = try Self.read(text)
    #expect(file.timeCode.base == 60 && file.track.last?.frame == 1)
    // U stands for three zeros, or in other files for two.
    for frame in 0..<2 {
      let messages = try file.messages(ofFrame: frame, at: Self.rate(7))
      #expect(messages.map { $0?.triplets } == [[CaptionTriplet(.field1, 0x94, 0x20)] + Self.padding(9)])
    }
  }

  /// Programs leave out packet_checksum, or sum fewer bytes of the ancillary data.
  @Test(arguments: [
    "T10S104F43Z0572E1FC942074Z05DE72", "T0FS0F4F43Z0572E1FC942074Z0592", "T10S104F43Z0572E1FC942074Z05DEZ",
  ]) func readsChecksumsOfOtherPrograms(data: String) throws {
    let file = try Self.read(Self.head + "00:00:00:00\t\(data)\n")
    let messages = try file.messages(ofFrame: 0, at: Self.rate(4))
    #expect(messages.map { $0?.triplets } == [[CaptionTriplet(.field1, 0x94, 0x20)] + Self.padding(19)])
  }

  /// Pairs of CTA-608 in packets of their own, one or several a frame.
  @Test func readsPacketsOfPairs() throws {
    let pairs = [CaptionTriplet(.field1, 0x94, 0x20), CaptionTriplet(.field2, 0x15, 0x2C)]
    let file = try Self.read(
      Self.head + "00:00:00:00\t6102038C9420A6\n00:00:00:00\t6102030C152CB3\n00:00:00:01\t6102068C94200C152CF6\n")
    for frame in 0..<2 {
      let messages = try file.messages(ofFrame: frame, at: Self.rate(4))
      #expect(messages.map { $0?.triplets } == [pairs + Self.padding(18)])
    }
    // Packets of both kinds of captions have the pairs, too.
    let both = try Self.read(
      Self.head + "00:00:00:00\t6102038C9420A6\n00:00:00:01\t\(Self.loading)\n00:00:00:02\t6102038C9420A6\n")
    #expect(both.track.frames == [1])
  }

  /// Those of a field that the other packets do not have are captions of the same frame, in front of CTA-708.
  @Test func addsPacketsOfPairsToOthers() throws {
    let pairs = [CaptionTriplet(.field1, 0x94, 0x20), CaptionTriplet(.field2, 0x15, 0x2C)]
    let digital = [CaptionTriplet(.packetStart, 2, 0x21), CaptionTriplet(.packetData, 0x41, 0)]
    let lines = try (
      "\t6102038C9420A6\n", "\t6102030C152CB3\n", "\t\(Self.line(Self.nulls + digital))\n",
      "\t\(Self.line([pairs[0]] + digital))\n"
    )
    let file = try Self.read(
      Self.head + "00:00:00:00\(lines.0)00:00:00:00\(lines.2)00:00:00:00\(lines.1)00:00:00:01\(lines.2)"
        + "00:00:00:02\(lines.0)")
    #expect(file.track.frames == [0, 1, 2] && file.track.form == nil)
    for (frame, triplets) in [pairs + digital, Self.nulls + digital, [pairs[0]]].enumerated() {
      let messages = try file.messages(ofFrame: frame, at: Self.rate(4))
      #expect(messages.map { $0?.triplets } == [triplets + Self.padding(20 - triplets.count)], "\(frame)")
    }
    // The first field is in both.
    let second = try Self.read(
      Self.head + "00:00:00:00\(lines.3)00:00:00:00\(lines.1)00:00:00:01\(lines.0)00:00:00:01\(lines.1)")
    for (frame, triplets) in [pairs + digital, [pairs[1]]].enumerated() {
      let messages = try second.messages(ofFrame: frame, at: Self.rate(4))
      #expect(messages.map { $0?.triplets } == [triplets + Self.padding(20 - triplets.count)], "\(frame)")
    }
    // More than a message holds, or than the rate allows, and exact messages of this program.
    let full = try Self.line([CaptionTriplet](repeating: digital[1], count: 31))
    #expect(
      Self.refusal(Self.head + "00:00:00:00\t\(full)\n00:00:00:00\(lines.0)")?.hasPrefix(
        "line 8: expected at most 31 triplets with the pairs of CTA-608 of the same time code, not 32") == true)
    let many = try Self.read(
      Self.head + "00:00:00:00\t\(Self.line([CaptionTriplet](repeating: digital[1], count: 20)))\n00:00:00:00\(lines.0)"
    )
    #expect(throws: CaptionFileError.self) { try many.messages(ofFrame: 0, at: Self.rate(4)) }
    let exact = Self.head + "// User Data=B500314741393403C0FFFF\n00:00:00:00\(lines.2)00:00:00:00\(lines.0)"
    #expect(Self.refusal(exact)?.hasPrefix("line 10: expected caption distribution packets alone") == true)
  }

  @Test func refusesBadFilesWithTheirLine() {
    let (head, line) = (Self.head, "00:00:00:00\t\(Self.empty)\n")
    let cases: [(String, String)] = [
      ("", "empty"), ("\n\n", "empty"), (head, "no captions"), ("Scenarist_SCC V1.0\n", "no captions"),
      ("File Format=MacCaption_MCC V3.0\n", "line 1: expected \"File Format"),
      ("1\n00:00:01,000 -->\n", "line 1: expected"),
      ("\u{0}\u{0}\u{0}\u{1}", "line 1: expected"),
      (String(repeating: "a", count: 70_000), "line 1: expected a line of"),
      ("File Format=MacCaption_MCC V1.0\nTime Code Rate=29.97\n", "line 2: expected a Time Code Rate of 24"),
      ("File Format=MacCaption_MCC V1.0\n" + line, "line 2: expected a Time Code Rate in front"),
      (head + "00:01:00:00\t\(Self.empty)\n", "line 8: expected a time code"),
      (head + line + "text\n", "line 9: expected a time code, NAME=VALUE"),
      (
        head + "00:00:00:01\t\(Self.empty)\n" + line,
        "line 9: the time code runs backwards: expected 00:00:00:01 or later"
      ),
      (
        head + "00:00:00:00\t\(Self.empty.dropLast(2))\n",
        "line 8: expected 86 bytes of ancillary data, by its data count, not 85"
      ),
      (head + "00:00:00:00\n", "line 8: expected at least 4 bytes"),
      (head + "00:00:00:00\t\(Self.empty.dropLast())\n", "line 8: expected two hexadecimal digits"),
      (head + "00:00:00:00\tT52S524F67V\n", "character 11 of the data"),
      (head + "00:00:00:00\t\(Self.empty.dropLast(2))B5\n", "line 8: expected another checksum of the ancillary data"),
      (head + "00:00:00:00\t\(Self.empty.dropLast(4))36B5\n", "line 8: expected another packet_checksum"),
      (head + "00:00:00:00\tT04ZZZZ66\n", "line 8: expected a caption distribution packet"),
      (head + "00:00:00:00\tT0FS0F4F43Z0572E1FC942074Z0693\n", "line 8: expected a caption distribution packet"),
      (head + "00:00:00:00\t6102028C9485\n", "line 8: expected 3, 6 or 9 bytes of CTA-608, not 2"),
      (head + "00:00:00:00\t610100", "line 8: expected 4 bytes of ancillary data"),
      (head + String(repeating: "O", count: 40), "line 8: expected a time code, NAME=VALUE"),
      (head + "00:00:00:00\t" + String(repeating: "O", count: 40), "line 8: expected 4 bytes"),
      (head + line + "Time Code Rate=25\n", "line 9: expected one Time Code Rate"),
      (head + "// User Data=B5\n" + line, "line 8: expected user data for captions"),
      (head + "// User Data=B500314741393403C1FFFC9420FF\n" + line, "line 8: expected user data for captions"),
    ]
    for (text, reason) in cases {
      let found = Self.refusal(text)
      #expect(found?.contains(reason) == true, "\(found ?? "accepted") instead of \(reason)")
    }
    #expect(Self.refusal(head + line) == nil)
  }

  @Test func manyTripletsAreRefusedAtTheirRate() throws {
    let file = try Self.read(
      "File Format=MacCaption_MCC V1.0\nTime Code Rate=60\n00:00:00:07\t"
        + Self.line([CaptionTriplet](repeating: CaptionTriplet(.packetData, 1, 2), count: 11)))
    let rate = try Self.rate(8)
    do throws(CaptionFileError) {
      _ = try file.messages(ofFrame: 7, at: rate)
      Issue.record("no error")
    } catch { #expect(error.text == "line 3: expected at most 10 triplets (cc_count at 60), not 11") }
  }

  /// The data of a line with these triplets.
  private static func line(_ triplets: [CaptionTriplet]) throws -> String {
    let packet = CaptionDistributionPacket(
      frameRateCode: 8, flags: [.captions, .reserved], sequenceCounter: 0,
      sections: [.captions(markerBits: 7, triplets)])
    var data = [0x61, 0x01, UInt8(packet.byteCount)] + (try packet.bytes())
    data.append(data.reduce(0, &+))
    return data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
  }

  /// Messages of every form, with every rate, come back exactly.
  @Test func messagesComeBackExactly() throws {
    var generator = SeededGenerator(state: 54)
    for round in 0..<300 {
      let rate = try Self.rate(UInt8(round % 8 + 1))
      let form = try Self.form(round)
      var writer = MacCaptionWriter(rate: rate, form: form)
      var text = try writer.header(program: "test")
      var frames: [(frame: Int, messages: [CaptionMessage?])] = []
      var frame = Int.random(in: 0...3000, using: &generator)
      for _ in 0..<20 {
        var messages = (0..<Int.random(in: 1...2, using: &generator)).map { _ in
          Self.random(form, &generator) as CaptionMessage?
        }
        if messages.count == 2, Bool.random(using: &generator) { messages[0] = nil }
        frames.append((frame, messages))
        text += try writer.lines(ofFrame: frame, messages)
        frame += Int.random(in: 1...40, using: &generator)
      }
      let file = try Self.read(String(decoding: text, as: UTF8.self), pieces: round % 50 + 1)
      #expect(file.track.form == form && file.timeCode.base == rate.base)
      for (frame, messages) in frames { #expect(try file.messages(ofFrame: frame, at: rate) == messages) }
      #expect(try file.messages(ofFrame: frame, at: rate).isEmpty)
    }
  }

  private static func form(_ round: Int) throws -> CaptionMessage {
    var message = CaptionMessage(CaptionData([]))
    switch round % 3 {
    case 0: break
    case 1:
      // As of telephones.
      let data = CaptionMessage.standardPrefix + [0x40, 0x00, 0xFF]
      message = try #require(try CaptionMessage(RegisteredUserData(countryCode: 0xB5, data: data)))
    default:
      message.content = .packet(
        CaptionDistributionPacket(frameRateCode: 4, flags: [], sequenceCounter: 9, sections: [.unread([1])]),
        trailingBytes: [0xFF])
      message.prefix = [0x00, 0x31]
    }
    return message.form
  }

  private static func random(_ form: CaptionMessage, _ generator: inout SeededGenerator) -> CaptionMessage {
    var message = form
    let count = Int.random(in: 0...31, using: &generator)
    let triplets = (0..<count).map { _ -> CaptionTriplet in
      guard Bool.random(using: &generator) else { return .padding }
      return CaptionTriplet(
        CaptionTriplet.Kind.allCases.randomElement(using: &generator) ?? .field1,
        isValid: Bool.random(using: &generator), UInt8.random(in: 0...255, using: &generator),
        UInt8.random(in: 0...255, using: &generator))
    }
    switch form.content {
    case .data(var data):
      data.triplets = triplets
      message.content = .data(data)
    case .packet(_, let trailingBytes):
      let packet = CaptionDistributionPacket(
        frameRateCode: 4, flags: [.captions, .timeCode], sequenceCounter: UInt16.random(in: 0...999, using: &generator),
        sections: [.timeCode(.init(rawValue: 0x1234_5678)), .captions(markerBits: 7, triplets)])
      message.content = .packet(packet, trailingBytes: trailingBytes)
    }
    return message
  }

  @Test func writesTheLettersOfTheFormat() throws {
    var writer = MacCaptionWriter(rate: try Self.rate(4), form: CaptionMessage(CaptionData([])))
    let header = String(decoding: try writer.header(program: "test 1"), as: UTF8.self)
    #expect(header.hasPrefix("File Format=MacCaption_MCC V1.0\n\n///"))
    #expect(header.hasSuffix("\nCreation Program=test 1\nTime Code Rate=30DF\n// User Data=B500314741393403C0FFFF\n\n"))
    let message = CaptionMessage(CaptionData(Self.nulls + Self.padding(18)))
    let lines = try writer.lines(ofFrame: 1800, [message])
    // A packet of 73 bytes.
    #expect(String(decoding: lines, as: UTF8.self).hasPrefix("00:01:00:02\tT49S494F43ZZ72F4QROO74ZZ"))
    // Version 1 has no 59.94.
    let double = MacCaptionWriter(rate: try Self.rate(7), form: CaptionMessage(CaptionData([])))
    #expect(
      String(decoding: try double.header(program: ""), as: UTF8.self).hasPrefix("File Format=MacCaption_MCC V2.0\n"))
  }

  // MARK: SCC

  private static let scc = """
    Scenarist_SCC V1.0

    00:00:01;02\t9420 9420 94ae 94ae c1c2

    00:01:00;02\t942f 942f

    """

  @Test func pairsOfSCCComeBackExactly() throws {
    let file = try Self.read(Self.scc)
    #expect(file.timeCode.dropsFrames && file.field == .field1)
    var writer = ScenaristWriter()
    for frame in 0..<2000 {
      let messages = try file.messages(ofFrame: frame, at: Self.rate(4))
      #expect(messages.count == 1 && messages[0]?.triplets.count == 20)
      writer.add(messages.flatMap { $0?.triplets ?? [] }, ofFrame: frame)
    }
    #expect(writer.hasPairs(.field1) && !writer.hasPairs(.field2))
    #expect(String(decoding: writer.text(.field1), as: UTF8.self) == Self.scc)
    let pairs = try file.messages(ofFrame: 36, at: Self.rate(4))
    #expect(pairs[0]?.triplets.prefix(2) == [CaptionTriplet(.field1, 0xC1, 0xC2), CaptionTriplet(.field2, 0x80, 0x80)])
  }

  @Test func pairsOfField2AreRecognized() throws {
    let file = try Self.read("Scenarist_SCC V1.0\n\n00:00:00:00 1520 1520 8080 c1c2\n")
    #expect(file.field == .field2 && !file.timeCode.dropsFrames)
    let message = try file.messages(ofFrame: 3, at: Self.rate(4))
    #expect(
      message[0]?.triplets.prefix(2) == [CaptionTriplet(.field1, 0x80, 0x80), CaptionTriplet(.field2, 0xC1, 0xC2)])
    #expect(file.track.messages(ofFrame: 2).isEmpty)
  }

  /// A line that is longer than the time to the next one delays it, and several pairs of a frame the frames behind it.
  @Test func pairsWaitForTheirFrame() throws {
    let file = try Self.read("Scenarist_SCC V1.0\n00:00:00:00\t9420 9420 c1c2\n00:00:00:01\t942f 942f\n")
    #expect(file.track.last?.frame == 4 && file.track.last?.line == 3)
    var writer = ScenaristWriter()
    writer.add([CaptionTriplet](repeating: CaptionTriplet(.field2, 0x94, 0x20), count: 3), ofFrame: 5)
    writer.add([CaptionTriplet(.field2, 0x94, 0x2F), CaptionTriplet(.field2, isValid: false, 1, 1)], ofFrame: 6)
    #expect(
      String(decoding: writer.text(.field2), as: UTF8.self)
        == "Scenarist_SCC V1.0\n\n00:00:00;05\t9420 9420 9420 942f\n")
  }

  @Test func refusesBadSCC() {
    let head = "Scenarist_SCC V1.0\n\n"
    let cases: [(String, String)] = [
      (head + "00:00:01:02\t9420 94\n", "line 3: expected pairs of four hexadecimal digits, not \"94\""),
      (head + "00:00:01:02\t94209420\n", "line 3: expected pairs"), (head + "00:00:01:02\t94g0\n", "not \"94g0\""),
      (head + "00:01:00;01\t9420\n", "line 3: expected a time code"), (head + "9420\n", "line 3: expected a time code"),
      (head + "00:00:01:30\t9420\n", "line 3: expected a time code"),
      (
        head + "00:00:01:02\t9420\n\n00:00:01:01\t9420\n",
        "line 5: the time code runs backwards: expected 00:00:01:02 or later"
      ),
      (head + "00:00:01:02\t9420\n\n00:00:02;01\t9420\n", "line 5: expected \":\" in all time codes"),
      (head + "00:00:01:02\t8080\n", "no captions"), ("Scenarist_SCC V2.0\n", "line 1: expected"),
    ]
    for (text, reason) in cases {
      let found = Self.refusal(text)
      #expect(found?.contains(reason) == true, "\(found ?? "accepted") instead of \(reason)")
    }
  }

  // MARK: Damage

  /// Cut and changed files are read or refused, and what is read comes back.
  @Test func damagedFilesAreReadOrRefused() throws {
    var generator = SeededGenerator(state: 55)
    var writer = MacCaptionWriter(rate: try Self.rate(4), form: CaptionMessage(CaptionData([])))
    var mcc = try writer.header(program: "test")
    for frame in 0..<20 {
      mcc += try writer.lines(ofFrame: frame, [Self.random(CaptionMessage(CaptionData([])), &generator)])
    }
    var refused = 0
    for source in [mcc, Array(Self.scc.utf8)] {
      for _ in 0..<3000 {
        var bytes = source
        if Bool.random(using: &generator) {
          bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
        }
        for _ in 0..<Int.random(in: 0...2, using: &generator) where !bytes.isEmpty {
          bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        let result = CaptionFileRoundTrip.defect(bytes.span)
        #expect(result == nil, "\(result ?? "")")
        if Self.refusal(String(decoding: bytes, as: UTF8.self)) != nil { refused += 1 }
      }
    }
    #expect(refused > 1000)
  }
}

extension String {
  /// With small letters in place of hexadecimal digits from A to F.
  fileprivate func lowercased(ofDigits: Bool) -> String {
    String(map { "ABCDEF".contains($0) ? Character($0.lowercased()) : $0 })
  }
}
