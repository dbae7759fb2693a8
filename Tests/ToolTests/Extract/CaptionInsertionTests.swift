// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import Testing

@testable import Tool

/// Captions of files go to the pictures of their time codes.
@Suite(.enabled(if: Program.isBuilt)) struct CaptionInsertionTests {
  private static let scc = "Scenarist_SCC V1.0\n\n01:00:00;02\t9420 9420 942c 942c\n\n01:00:01;00\t942f 942f\n"

  /// The triplets of each frame that has captions, in the order of presentation.
  private static func captions(_ name: String, in folder: Folder) async throws -> [[CaptionTriplet]] {
    let run = try await Program.run(["extract", name, "--captions", "\(name).mcc", "--force"], in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    let file = try CaptionExtractionTests.read("\(name).mcc", in: folder)
    return (0...(file.track.last?.frame ?? 0)).map { file.track.messages(ofFrame: $0).flatMap { $0?.triplets ?? [] } }
  }

  @Test(arguments: ["-107892", "-01:00:00;00", "-3600"]) func shiftsTimeCodes(shift: String) async throws {
    let folder = try Folder()
    try await CaptionStream.make("in.h264", in: folder)
    try folder.write("in.scc", Data(Self.scc.utf8))
    let late = try await Program.run(
      ["edit", "in.h264", "-o", "out.h264", "--insert-captions", "in.scc"], in: folder.url)
    #expect(
      late.status == 1
        && late.said.contains(
          "in.scc: line 3: 01:00:00;02 would be frame 107894, but in.h264 has 180 frames, counted from 0; "
            + "--shift=-107894 begins with the first captions"),
      "\(late.said)")
    #expect(folder.bytes("out.h264") == nil)
    let run = try await Program.run(
      [
        "edit", "in.h264", "-o", "out.h264", "--insert-captions", "in.scc", "--shift",
        shift == "-3600" ? "-1:00:00" : shift,
      ],
      in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    let captions = try await Self.captions("out.h264", in: folder)
    #expect(captions.count == 180)
    // A clock's hour is 107892.1 frames.
    let pairs: [Int: UInt8] = [2: 0x20, 3: 0x20, 4: 0x2C, 5: 0x2C, 30: 0x2F, 31: 0x2F]
    for (frame, triplets) in captions.enumerated() {
      let pair = pairs[frame].map { CaptionTriplet(.field1, 0x94, $0) } ?? CaptionTriplet(.field1, 0x80, 0x80)
      #expect(triplets.count == 20 && triplets[0] == pair && triplets[1] == CaptionTriplet(.field2, 0x80, 0x80))
      #expect(triplets[2...].allSatisfy { $0 == .padding })
    }
  }

  @Test func leavesOutCaptionsBesideTheVideoIfForced() async throws {
    let folder = try Folder()
    try await CaptionStream.make("in.h264", in: folder)
    try folder.write("in.scc", Data("Scenarist_SCC V1.0\n\n00:00:01:00\t9420 9420\n00:00:09:00\t942c 942c\n".utf8))
    let command = ["edit", "in.h264", "-o", "out.h264", "--insert-captions", "in.scc"]
    let refused = try await Program.run(command, in: folder.url)
    #expect(
      refused.status == 1
        && refused.said.contains(
          "line 4: 00:00:09:00 would be frame 270, but in.h264 has 180 frames, counted from 0; --force leaves out "
            + "captions outside of the video"),
      "\(refused.said)")
    let forced = try await Program.run(command + ["--force"], in: folder.url)
    try #require(forced.status == 0, "\(forced.said)")
    #expect(forced.said.contains("in.scc: captions of 2 frames outside of the video are left out"), "\(forced.said)")
    let captions = try await Self.captions("out.h264", in: folder)
    #expect(captions.count == 180)
    #expect(captions.indices.filter { captions[$0][0].second == 0x20 } == [30, 31])
    // None is inside.
    let early = try await Program.run(command + ["--force", "--shift=-1000"], in: folder.url)
    #expect(early.status == 1 && early.said.contains("would be frame -970"), "\(early.said)")
  }

  /// `cc_count` and the pairs of each rate, for a file that has only what is not padding.
  @Test(arguments: [
    ("24000/1001", "24", 25), ("24/1", "24", 25), ("25/1", "25", 24), ("30/1", "30", 20), ("50/1", "50", 12),
    ("60000/1001", "60DF", 10), ("60/1", "60", 10),
  ])
  func padsToTheCountOfTheRate(rate: String, code: String, count: Int) async throws {
    let folder = try Folder()
    try folder.write("plain.h264", try Data(contentsOf: Program.media.appending(path: "clip.h264")))
    let line = "T16S164F43Z0572E1FC94207504U74Z057E78"
    try folder.write(
      "in.mcc", Data("File Format=MacCaption_MCC V2.0\n\nTime Code Rate=\(code)\n00:00:00:05\t\(line)\n".utf8))
    let run = try await Program.shell(
      "h26x edit plain.h264 -o in.h264 --frame-rate \(rate) --level 4 && h26x edit in.h264 -o out.mp4 --insert-captions in.mcc",
      in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    let captions = try await Self.captions("out.mp4", in: folder)
    #expect(captions.count == 62 && captions.allSatisfy { $0.count == count })
    #expect(captions[5][0] == CaptionTriplet(.field1, 0x94, 0x20) && captions[5][1] == .padding)
    let number = try #require(UInt32(rate.split(separator: "/")[0]))
    let ratio = try #require(Ratio(number, rate.hasSuffix("1001") ? 1001 : 1))
    let stream = try #require(CaptionRate(ratio))
    for frame in [0, 1, 2, 3, 61] {
      #expect(captions[frame].filter { $0 != .padding }.map(\.kind) == stream.pairs(ofFrame: frame))
    }
    let checked = try await Program.run(["check", "out.mp4"], in: folder.url)
    #expect(!checked.text.contains("cc-count"), "\(checked.text)")
  }

  @Test func refusesOtherRatesAndBadFiles() async throws {
    let folder = try Folder()
    try folder.write("in.h264", FieldStream.make(frames: 24))
    try folder.write("hour.scc", Data(Self.scc.utf8))
    let files: [(String, String, String)] = [
      (
        "in.scc", "Scenarist_SCC V1.0\n\n00:00:00:00\t9420\n",
        "in.scc: SCC has 29.97 frames a second, but in.h264 has 25"
      ),
      (
        "in.mcc",
        "File Format=MacCaption_MCC V1.0\nTime Code Rate=30\n00:00:00:00\tT16S164F43Z0572E1FC94207504U74Z057E78\n",
        "in.mcc: time codes of 30 frames a second, but in.h264 has 25"
      ),
      ("bad.scc", "Scenarist_SCC V1.0\n\n00:00:00:00\t94\n", "bad.scc: line 3: expected pairs"),
      ("foreign.scc", "1\n00:00:00,000 --> 00:00:01,000\nText\n", "foreign.scc: line 1: expected \"File Format="),
      ("empty.mcc", "", "empty.mcc: an empty file"), ("missing.mcc", "", "missing.mcc: no such file"),
    ]
    for (name, text, reason) in files {
      if name != "missing.mcc" { try folder.write(name, Data(text.utf8)) }
      let run = try await Program.run(["edit", "in.h264", "-o", "out.h264", "--insert-captions", name], in: folder.url)
      #expect(run.status == 1 && run.said.contains(reason), "\(run.said)")
    }
    let alone = try await Program.run(["edit", "in.h264", "-o", "out.h264", "--shift", "2"], in: folder.url)
    #expect(alone.status == 64 && alone.said.contains("--shift is for --insert-captions FILE"), "\(alone.said)")
    #expect(!folder.names.contains { $0.contains("out.h264") }, "\(folder.names)")
  }

  // MARK: Several messages

  /// A picture has one message. Two are joined, and lines name that.
  @Test func messagesOfAPictureAreJoined() async throws {
    let folder = try Folder()
    try folder.write("plain.h264", try Data(contentsOf: Program.media.appending(path: "clip.h264")))
    let (pair, data) = (CaptionTriplet(.field1, 0x94, 0x20), CaptionTriplet(.packetStart, 2, 0x21))
    let padding = [CaptionTriplet](repeating: .padding, count: 18)
    try await CaptionStream.insert("plain.h264", as: "in.h264", in: folder) { place in
      let all = [[data, data] + padding, [pair] + padding, [pair]]
      return try (place == 3 ? all : place == 5 ? Array(all.suffix(1)) : []).map { try CaptionStream.payload($0) }
    }
    let run = try await Program.shell(
      "h26x extract in.h264 --captions out.mcc && h26x edit in.h264 -o back.h264 --insert-captions out.mcc "
        + "&& h26x extract back.h264 --captions again.mcc", in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    let line = "out.mcc: 1 picture with several messages of captions, which are joined into one\n"
    #expect(run.said.contains(line) && run.said.contains("replaces the captions of 2 pictures"), "\(run.said)")
    let (file, rate) = (
      try CaptionExtractionTests.read("out.mcc", in: folder), try #require(CaptionRate(code: 3))
    )
    for (frame, triplets) in [(3, [pair, pair, data, data] + padding.prefix(16)), (5, [pair])] {
      #expect(try file.messages(ofFrame: frame, at: rate).map { $0?.triplets } == [triplets], "\(frame)")
    }
    #expect(file.track.frames == [3, 5] && folder.bytes("again.mcc") == folder.bytes("out.mcc"))
  }

  /// Messages of two fields are one message of a frame. More than a message holds are refused at their line.
  @Test func messagesOfTwoFieldsAreJoinedInAFrame() async throws {
    let folder = try Folder()
    try folder.write("fields.h264", FieldStream.make(frames: 24))
    try await CaptionStream.insert("fields.h264", as: "in.h264", in: folder) { place in
      let pair = CaptionTriplet(place & 1 == 0 ? .field1 : .field2, 0xC1, UInt8(place))
      let (padding, other) = (CaptionTriplet.padding, CaptionTriplet(.packetData, 1, UInt8(place)))
      // The first field of frame 7 has two, which stay in it.
      guard place == 14 else { return [try CaptionStream.payload([pair] + Array(repeating: padding, count: 11))] }
      return try [[pair, padding], [other, padding]].map { try CaptionStream.payload($0) }
    }
    let source = Program.media.appending(path: "clip.h264").path
    let run = try await Program.shell(
      "h26x extract in.h264 --captions out.mcc && h26x edit in.h264 -o back.h264 --insert-captions out.mcc "
        + "&& h26x edit '\(source)' -o frames.h264 --insert-captions out.mcc", in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    let line = "out.mcc: captions of 24 frames with several messages for a picture are joined into one\n"
    #expect(run.said.components(separatedBy: line).count == 2, "\(run.said)")
    let (file, captions) = (
      try CaptionExtractionTests.read("out.mcc", in: folder), try await Self.captions("frames.h264", in: folder)
    )
    for frame in 0..<24 {
      let messages = file.track.messages(ofFrame: frame)
      let found = messages.map { $0?.triplets.filter { $0 != .padding }.map(\.second) }
      #expect(found == [frame == 7 ? [14, 14] : [UInt8(2 * frame)], [UInt8(2 * frame + 1)]], "\(frame)")
      let all = messages.flatMap { $0?.triplets ?? [] }.filter { $0 != .padding }
      let sorted = all.filter(\.isPair) + all.filter { !$0.isPair }
      let count = frame == 7 ? 14 : 24
      #expect(captions[frame] == sorted + Array(repeating: .padding, count: count - sorted.count), "\(frame)")
    }
    // Two lines of 16 triplets, none of which is padding.
    var writer = MacCaptionWriter(rate: try #require(CaptionRate(code: 3)), form: CaptionMessage(CaptionData([])))
    let message = CaptionMessage(CaptionData((0..<16).map { CaptionTriplet(.packetData, 1, $0) }))
    try folder.write(
      "many.mcc", Data(try writer.header(program: "test") + writer.lines(ofFrame: 4, [message, message])))
    let refused = try await Program.run(
      ["edit", source, "-o", "many.h264", "--insert-captions", "many.mcc"], in: folder.url)
    let reason = ": 2 messages for one picture, with more triplets than the 31 of a message"
    #expect(refused.status == 1 && refused.said.contains("many.mcc: line ") && refused.said.contains(reason))
    #expect(folder.bytes("many.h264") == nil)
  }

  // MARK: Frames

  /// Times in nanoseconds, with an error, of frames of which some are missing.
  private static func clock(
    _ rate: Double, count: Int, rounding: Int64 = 1, missing: Set<Int> = []
  ) -> CaptionClock {
    var clock = CaptionClock()
    for frame in 0..<count where !missing.contains(frame) {
      clock.add(Int64((Double(frame) * 1e9 / rate).rounded()) / rounding * rounding)
    }
    return clock
  }

  @Test func ratesAreFoundByTimes() throws {
    for code: UInt8 in 1...8 {
      let rate = try #require(CaptionRate(code: code))
      let frames = Double(rate.ratio.numerator) / Double(rate.ratio.denominator)
      // Matroska counts milliseconds.
      for rounding: Int64 in [1, 1_000_000] {
        #expect(try Self.clock(frames, count: 400, rounding: rounding).rate("in") == rate)
      }
    }
    for clock in [
      Self.clock(15, count: 100), Self.clock(25, count: 100, missing: [50]), Self.clock(25, count: 40, missing: [1]),
      Self.clock(48, count: 100),
    ] {
      let error = #expect(throws: (any Error).self) { try clock.rate("in") }
      #expect("\(error.map { "\($0)" } ?? "")".contains("variable or unknown rate"))
    }
    // A recording that was cut, whose first and last pictures are not all there.
    #expect(try Self.clock(25, count: 100, missing: [1, 2, 97]).rate("in").code == 3)
    #expect(throws: (any Error).self) { try CaptionClock().rate("in") }
    #expect(try CaptionClock().rate("in", edited: Ratio(25, 1)).code == 3)
  }

  @Test func fieldsOfAFrameHaveItsNumber() {
    var numbering = FrameNumbering()
    let pictures: [(isField: Bool, isSecondField: Bool, frame: Int)] = [
      (false, false, 0), (true, false, 1), (true, true, 1), (true, true, 2), (true, false, 2), (true, false, 3),
      (true, false, 4), (true, true, 4), (false, false, 5),
    ]
    for (rank, picture) in pictures.enumerated() {
      let (frame, isOther) = numbering.next(
        PresentationRanks.Picture(rank: rank, isField: picture.isField, isSecondField: picture.isSecondField))
      #expect(frame == picture.frame && isOther == (rank > 0 && pictures[rank - 1].frame == frame))
    }
    #expect(numbering.count == 6)
  }

  /// `pic_struct` in the order of presentation, and whether the field is the second one of its frame.
  @Test(
    arguments: [
      [(1, false), (2, true), (1, false), (2, true), (1, false)], [(2, false), (1, true), (2, false), (1, true)],
      // A field is missing.
      [(1, false), (1, false), (2, true), (2, false), (1, true)],
      [(10, false), (11, false), (10, true), (11, false), (12, false), (9, true), (9, false), (12, false)],
      [(11, false), (9, false), (12, false), (9, true)],
      // A frame between fields, and fields without a message.
      [(1, false), (nil, false), (2, false), (1, true)], [(0, false), (0, true), (0, false), (1, true), (0, false)],
    ] as [[(UInt8?, Bool)]])
  func fieldsPairInTheOrderOfPresentation(fields: [(structure: UInt8?, isSecond: Bool)]) {
    var pairing = PresentedFieldPairing()
    for (number, field) in fields.enumerated() {
      guard let structure = field.structure else {
        pairing.takeFrame()
        continue
      }
      let found = structure == 0 ? nil : PresentedField(H265.PictureTiming.Structure(rawValue: structure))
      #expect(pairing.isSecond(found) == field.isSecond, "\(fields) \(number)")
    }
  }

  @Test func readsShifts() throws {
    let (rate, timeCode) = (try #require(CaptionRate(code: 4)), CaptionTimeCode(base: 30, dropsFrames: true))
    for (text, frames) in [
      ("5", 5), ("-5", -5), ("+7", 7), ("0.5", 15), ("-1:00", -1798), ("00:01:00:02", 1800), ("-00:00:01;00", -30),
    ] {
      #expect(CaptionShift(argument: text)?.frames(at: rate, timeCode) == frames, "\(text)")
    }
    for text in ["", "-", "--5", "x", "5x", "1:2:3:4:5"] { #expect(CaptionShift(argument: text) == nil, "\(text)") }
    #expect(CaptionShift(argument: "00:01:00:00")?.frames(at: rate, timeCode) == nil)
  }
}
