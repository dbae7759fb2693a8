// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import H26x
import TestSupport
import Testing

/// `edit --remove` and `--dolby-vision`, in each container.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct EditMetadataTests {
  private typealias Message = (type: SEIPayloadType, payload: [UInt8])

  // MARK: Streams

  private static let containers = ["mp4", "mov", "mkv", "ts"]
  private static let mastering = "33c286c41d4c0bb884d03e803d134042009896800000000a"

  private static func message(_ userData: RegisteredUserData) -> Message { (.userDataRegistered, userData.payload) }

  /// Messages of a kind, as each picture has them.
  private static func messages(_ kind: RemovableMetadata) throws -> [Message] {
    switch kind {
    case .captions:
      [message(try CaptionMessage(CaptionData([CaptionTriplet(.field1, 0x94, 0x20)])).userData())]
    case .hdr10Plus:
      [message(try HDR10PlusMetadata(targetedMaximumLuminance: 400).userData())]
    case .dolbyVision: []
    case .hdr10:
      [
        (.masteringDisplayColourVolume, try #require(EditText.hexadecimal(Array(mastering.utf8)[...]))),
        (.contentLightLevel, [3, 0xE8, 1, 0x90]),
      ]
    }
  }

  /// The enhancement layer, as a NAL unit that contains a slice.
  private static let layer: [UInt8] = [0x7E, 0x01, 0x02, 0x01, 0xD0, 0x88, 0x80]

  /// `clip.h265` with metadata of all kinds but some. All messages of a picture share a NAL unit with another message.
  private static func stream(without removed: [RemovableMetadata] = [], profile: UInt8 = 8) throws -> Data {
    var messages: [Message] = [(.userDataUnregistered, [UInt8](repeating: 7, count: 17))]
    for kind in RemovableMetadata.allCases where !removed.contains(kind) { messages += try Self.messages(kind) }
    let rpu = try AddedMetadata.rpu(profile: profile)
    let dolbyVision = removed.contains(.dolbyVision) ? [] : profile == 7 ? [layer, rpu] : [rpu]
    return try AddedMetadata.clip(
      front: { _ in [seiNALUnit(messages, header: [0x4E, 1])] }, behind: { _ in dolbyVision })
  }

  /// Writes a byte stream with the colour of HDR10.
  private static func write(_ name: String, _ stream: Data, in folder: Folder) async throws {
    try folder.write("plain-\(name)", stream)
    let run = try await Program.run(["edit", "plain-\(name)", "-o", name, "--colour", "bt2020-pq"], in: folder.url)
    try #require(run.status == 0, "\(run.said)")
  }

  private static func run(_ line: String, in folder: Folder) async throws -> String {
    let run = try await Program.shell(line, in: folder.url)
    #expect(run.status == 0, "\(line): \(run.said)")
    return run.said
  }

  private static func sideData(_ name: String, _ folder: Folder) throws -> Set<SideData.Kind> {
    let input = try CutCompanionTests.open(folder.url.appending(path: name).path)
    return Set(input.stream(0)?.sideData.map(\.kind) ?? [])
  }

  private static func has(_ text: String, _ name: String, _ folder: Folder) -> Bool {
    folder.bytes(name)?.range(of: Data(text.utf8)) != nil
  }

  /// The rules of the findings in a file, each once.
  private static func findings(_ name: String, in folder: Folder) async throws -> Set<String> {
    let run = try await Program.run(["check", "--json", name], in: folder.url)
    return Set(
      try run.text.split(separator: "\n").compactMap { line in
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return object?["kind"] as? String == "finding" ? object?["rule"] as? String : nil
      })
  }

  // MARK: Removal

  /// The message goes, and all else stays byte for byte: the rest of its NAL unit, slices, and other kinds.
  @Test(arguments: TestScope.rows(RemovableMetadata.allCases, usually: 2))
  func removesAKindFromEachContainer(kind: RemovableMetadata) async throws {
    let folder = try Folder()
    try await Self.write("in.h265", try Self.stream(), in: folder)
    try await Self.write("rest.h265", try Self.stream(without: [kind]), in: folder)
    let said = try await Self.run("h26x edit in.h265 -o out.h265 --remove \(kind.name)", in: folder)
    #expect(folder.bytes("out.h265") == folder.bytes("rest.h265"))
    let line = "\(kind.name): \(kind == .hdr10 ? 124 : 62) removed\n"
    #expect(said.hasSuffix("out.h265: \(line)"), "\(said)")
    for suffix in Self.containers {
      let said = try await Self.run(
        "h26x repack in.h265 -o in.\(suffix) && h26x edit in.\(suffix) -o out.\(suffix) --remove \(kind.name)",
        in: folder)
      #expect(said.contains("out.\(suffix): \(line)") && !said.contains("left behind"), "\(said)")
      _ = try await Self.run(
        """
        h26x repack out.\(suffix) -o out-\(suffix).h265 && h26x repack rest.h265 -o rest.\(suffix) \
        && h26x repack rest.\(suffix) -o rest-\(suffix).h265
        """, in: folder)
      #expect(folder.bytes("out-\(suffix).h265") == folder.bytes("rest-\(suffix).h265"), "\(suffix)")
      let (before, after) = try await (
        Self.findings("in.\(suffix)", in: folder), Self.findings("out.\(suffix)", in: folder)
      )
      // HDR10+ needs the mastering display.
      let expected: Set = kind == .hdr10 ? ["hdr10plus-without-st2086"] : []
      #expect(after.subtracting(before) == expected, "\(suffix)")
      guard suffix != "ts" else { continue }
      let kinds = try Self.sideData("in.\(suffix)", folder)
      #expect(kinds.isSuperset(of: [.dolbyVision, .masteringDisplay, .contentLight]), "\(suffix)")
      let gone: Set<SideData.Kind> =
        kind == .dolbyVision ? [.dolbyVision] : kind == .hdr10 ? [.masteringDisplay, .contentLight] : []
      #expect(try Self.sideData("out.\(suffix)", folder) == kinds.subtracting(gone), "\(suffix)")
    }
  }

  private static let probe = "/usr/bin/ffprobe"

  /// FFmpeg reads the stream itself.
  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: probe)))
  func ffprobeFindsNothingRemoved() async throws {
    let folder = try Folder()
    try await Self.write("in.h265", try Self.stream(), in: folder)
    func types(_ name: String) async throws -> Set<String> {
      let line = "\(Self.probe) -v quiet -show_entries frame_side_data=side_data_type:stream_side_data=side_data_type"
      let run = try await Program.shell("\(line) -of csv=p=0 \(name)", in: folder.url)
      return Set(run.text.split(separator: "\n").flatMap { $0.split(separator: ",").map(String.init) })
    }
    func has(_ word: String, _ types: Set<String>) -> Bool { types.contains { $0.contains(word) } }
    for suffix in ["h265", "mp4", "mkv", "ts"] {
      if suffix != "h265" { _ = try await Self.run("h26x repack in.h265 -o in.\(suffix)", in: folder) }
      _ = try await Self.run(
        "h26x edit in.\(suffix) -o out.\(suffix) --remove captions,hdr10plus --remove dolby-vision", in: folder)
      let (before, after) = (try await types("in.\(suffix)"), try await types("out.\(suffix)"))
      for word in ["Captions", "2094-40"] {
        #expect(has(word, before) && !has(word, after), "\(suffix) \(word): \(before) \(after)")
      }
      #expect(!has("Dolby", after) && !has("DOVI", after), "\(suffix): \(after)")
      for word in ["Mastering display", "Content light level"] {
        #expect(has(word, before) && has(word, after), "\(suffix) \(word): \(before) \(after)")
      }
    }
  }

  /// The record, the brand and the sample entry go with Dolby Vision.
  @Test(arguments: TestScope.rows([8, 7, 5] as [UInt8], usually: 2)) func removesTheRecordOfDolbyVision(profile: UInt8)
    async throws
  {
    let folder = try Folder()
    try await Self.write("in.h265", try Self.stream(profile: profile), in: folder)
    let force = profile == 5 ? " --force" : ""
    for suffix in Self.containers {
      let said = try await Self.run(
        "h26x repack in.h265 -o in.\(suffix) && h26x edit in.\(suffix) -o out.\(suffix) --remove dolby-vision\(force)",
        in: folder)
      #expect(!said.contains("left behind"), "\(said)")
      #expect(said.contains("; pictures of profile 5 have wrong colours now") == (profile == 5), "\(said)")
      let words = ", with 62 NAL units of the enhancement layer"
      #expect(said.contains("dolby-vision: 62 removed\(profile == 7 ? words : "")"), "\(said)")
      #expect(try Self.sideData("in.\(suffix)", folder).contains(.dolbyVision))
      #expect(try !Self.sideData("out.\(suffix)", folder).contains(.dolbyVision))
      for name in ["dvcC", "dvvC", "dvh1", "dvhe", "dby1", "hvcE", "DOVI"] {
        #expect(!Self.has(name, "out.\(suffix)", folder), "\(suffix) \(name)")
      }
      if suffix == "mp4" || suffix == "mov" { #expect(Self.has("hvc1", "out.\(suffix)", folder)) }
    }
    // Into another container, through a pipe, and with parameter sets in the stream.
    for target in ["mkv", "mov", "ts"] {
      _ = try await Self.run("h26x edit in.mp4 -o other.\(target) --remove dolby-vision\(force)", in: folder)
      #expect(!Self.has("dvcC", "other.\(target)", folder) && !Self.has("dvvC", "other.\(target)", folder))
    }
    _ = try await Self.run("h26x edit in.mp4 -o - --format mp4 --remove dolby-vision\(force) > pipe.mp4", in: folder)
    #expect(!Self.has("dvcC", "pipe.mp4", folder) && !Self.has("dvvC", "pipe.mp4", folder))
  }

  /// Boxes of the enhancement layer go, and others stay.
  @Test func removesBoxesOfTheEnhancementLayer() async throws {
    let folder = try Folder()
    let clip = try Data(contentsOf: Program.media.appending(path: "clip-h265.mp4"))
    let boxes = [
      AddedBoxes.dolbyVision("dvcC", profile: 7, compatibility: 6), AddedBoxes.box("hvcE", [1, 2, 3]),
      AddedBoxes.box("amve", [UInt8](repeating: 1, count: 8)),
    ]
    try folder.write("in.mp4", boxes.reduce(clip) { AddedBoxes.add($1, to: AddedBoxes.entry, of: $0) })
    let said = try await Self.run("h26x edit in.mp4 -o out.mp4 --remove dolby-vision", in: folder)
    #expect(!Self.has("dvcC", "out.mp4", folder) && !Self.has("hvcE", "out.mp4", folder))
    #expect(Self.has("amve", "out.mp4", folder) && said.contains("dolby-vision: 0 removed"), "\(said)")
  }

  /// By the RPU, and by the container's record alone.
  @Test func needsForceIfThePictureNeedsDolbyVision() async throws {
    let folder = try Folder()
    try await Self.write("in.h265", try Self.stream(profile: 5), in: folder)
    let clip = try Data(contentsOf: Program.media.appending(path: "clip-h265.mp4"))
    let box = AddedBoxes.dolbyVision("dvwC", profile: 20, compatibility: 0)
    try folder.write("layers.mp4", AddedBoxes.add(box, to: AddedBoxes.entry, of: clip))
    _ = try await Self.run("for s in mp4 mkv ts; do h26x repack in.h265 -o in.$s; done", in: folder)
    let names = folder.names
    for name in ["in.h265", "in.mp4", "in.mkv", "in.ts", "layers.mp4"] {
      for target in ["-o out.mp4", "-o out.h265", "--dry-run"] {
        let run = try await Program.shell("h26x edit \(name) \(target) --remove dolby-vision", in: folder.url)
        #expect(run.status == 1 && run.said.contains("; --force removes it even so"), "\(name) \(target): \(run.said)")
        #expect(folder.names == names, "\(name) \(target)")
      }
    }
    _ = try await Self.run("h26x edit layers.mp4 -o out.mp4 --remove dolby-vision --force", in: folder)
    #expect(!Self.has("dvwC", "out.mp4", folder))
  }

  /// H.264 has other types of NAL units.
  @Test func removesFromH264() async throws {
    let folder = try Folder()
    let clip = [UInt8](try Data(contentsOf: Program.media.appending(path: "clip.h264")))
    let rpu = [0x7C] + (try AddedMetadata.rpu(profile: 8)).dropFirst(2)
    let front = seiNALUnit(try Self.messages(.captions) + Self.messages(.hdr10Plus))
    var (whole, rest, hasSlice) = ([[UInt8]](), [[UInt8]](), false)
    for range in NALPackaging.annexB.nalUnits(of: clip.span) {
      let type = H264.NALUnitType(headerByte: clip[range.lowerBound])
      let beginsPicture = type.isVCL && clip[range.lowerBound + 1] & 0x80 != 0
      if hasSlice, !type.isVCL || beginsPicture {
        whole += [[0x7E, 0x21, 0x9A], rpu]
        hasSlice = false
      }
      if beginsPicture {
        whole.append(front)
        rest.append(seiNALUnit(try Self.messages(.hdr10Plus)))
      }
      hasSlice = hasSlice || type.isVCL
      whole.append(Array(clip[range]))
      rest.append(Array(clip[range]))
    }
    whole += [[0x7E, 0x21, 0x9A], rpu]
    func stream(_ nalUnits: [[UInt8]]) -> Data { Data(nalUnits.flatMap { [0, 0, 0, 1] + $0 }) }
    try folder.write("in.h264", stream(whole))
    _ = try await Self.run("h26x edit in.h264 -o out.h264 --remove captions,dolby-vision", in: folder)
    #expect(folder.bytes("out.h264") == stream(rest))
    let said = try await Self.run(
      "h26x repack in.h264 -o in.mp4 && h26x edit in.mp4 -o out.mp4 --remove captions,dolby-vision", in: folder)
    #expect(said.contains("captions: 62 removed\n") && said.contains("dolby-vision: 62 removed, with 62 NAL units"))
    #expect(
      Self.has("dvvC", "in.mp4", folder) && !Self.has("dvvC", "out.mp4", folder) && Self.has("avc1", "out.mp4", folder))
    _ = try await Self.run(
      "h26x repack out.mp4 -o out-mp4.h264 && h26x repack out.h264 -o rest.mp4 && h26x repack rest.mp4 -o rest-mp4.h264",
      in: folder)
    #expect(folder.bytes("out-mp4.h264") == folder.bytes("rest-mp4.h264"))
  }

  @Test func listsWhatItWouldRemove() async throws {
    let folder = try Folder()
    try await Self.write("in.h265", try Self.stream(), in: folder)
    _ = try await Self.run("h26x repack in.h265 -o in.mp4", in: folder)
    let names = folder.names
    for name in ["in.h265", "in.mp4"] {
      let run = try await Program.run(
        ["edit", name, "--dry-run", "--remove", "captions", "--remove", "dolby-vision"], in: folder.url)
      let box = name == "in.mp4" ? "container: configuration of Dolby Vision: removed\n" : ""
      #expect(run.text == "\(box)captions: 62 removed\ndolby-vision: 62 removed\n", "\(name): \(run.text)\(run.said)")
    }
    let none = try await Program.run(["edit", "in.mp4", "-o", "out.mp4", "--remove", "hdr10"], in: folder.url)
    let again = try await Program.run(["edit", "out.mp4", "-o", "b.mp4", "--remove", "hdr10"], in: folder.url)
    #expect(none.said.contains("hdr10: 124 removed\n") && again.said.contains("hdr10: 0 removed\n"), "\(again.said)")
    #expect(folder.names == (names + ["b.mp4", "out.mp4"]).sorted())
  }

  // MARK: Conversion

  /// The RPU of the pictures is converted, the enhancement layer goes, and the record keeps its level.
  @Test func convertsProfile7InEachContainer() async throws {
    let folder = try Folder()
    try await Self.write("in.h265", try Self.stream(profile: 7), in: folder)
    let original = try AddedMetadata.rpu(profile: 7)
    var rpu = try DolbyVision.RPU(nalUnit: original.span)
    try rpu.convertToProfile8()
    let converted = try rpu.nalUnit()
    let whole = [UInt8](try #require(folder.bytes("in.h265")))
    var expected = Data()
    for range in NALPackaging.annexB.nalUnits(of: whole.span) {
      switch H265.NALUnitType(headerByte: whole[range.lowerBound]) {
      case .dolbyVisionEnhancementLayer: break
      case .dolbyVisionRPU: expected += [0, 0, 0, 1] + converted
      default: expected += [0, 0, 0, 1] + whole[range]
      }
    }
    let said = try await Self.run("h26x edit in.h265 -o out.h265 --dolby-vision 8.1", in: folder)
    #expect(folder.bytes("out.h265") == expected)
    let line = "dolby-vision: 62 converted to profile 8.1, and 62 NAL units of the enhancement layer removed\n"
    #expect(said.hasSuffix("out.h265: \(line)"), "\(said)")
    let old = DolbyVision.Configuration(profile: 7, level: 1, hasEnhancementLayer: true, compatibilityID: 6)
    let raised = DolbyVision.Configuration(profile: 7, level: 6, hasEnhancementLayer: true, compatibilityID: 6)
    let new = DolbyVision.Configuration(profile: 8, level: 6, compatibilityID: 1)
    let low = DolbyVision.Configuration(profile: 8, level: 1, compatibilityID: 1)
    for suffix in Self.containers {
      _ = try await Self.run("h26x repack in.h265 -o in.\(suffix)", in: folder)
      if suffix != "ts" {
        var file = try #require(folder.bytes("in.\(suffix)"))
        file.replaceSubrange(try #require(file.range(of: Data(old.bytes))), with: raised.bytes)
        try folder.write("in.\(suffix)", file)
      }
      let said = try await Self.run("h26x edit in.\(suffix) -o out.\(suffix) --dolby-vision 8.1", in: folder)
      #expect(said.contains("out.\(suffix): \(line)") && !said.contains("left behind"), "\(said)")
      _ = try await Self.run(
        """
        h26x repack out.\(suffix) -o out-\(suffix).h265 && h26x repack out.h265 -o rest.\(suffix) \
        && h26x repack rest.\(suffix) -o rest-\(suffix).h265
        """, in: folder)
      #expect(folder.bytes("out-\(suffix).h265") == folder.bytes("rest-\(suffix).h265"), "\(suffix)")
      let findings = try await Self.findings("out.\(suffix)", in: folder)
      #expect(findings.isDisjoint(with: ["dolby-vision-record", "rpu-crc", "rpu-missing"]), "\(findings)")
      let level = suffix == "ts" ? 1 : 6
      #expect(said.contains("the configuration of Dolby Vision is converted: profile 8.1, level \(level)\n"), "\(said)")
      let out = try #require(folder.bytes("out.\(suffix)"))
      guard suffix != "ts" else {
        #expect(out.range(of: Data([5, 4] + Array("DOVI".utf8) + [0xB0, 5] + low.bytes.prefix(5))) != nil)
        continue
      }
      #expect(out.range(of: Data(new.bytes)) != nil && out.range(of: Data(raised.bytes)) == nil, "\(suffix)")
      #expect(Self.has("dvvC", "out.\(suffix)", folder) && !Self.has("dvcC", "out.\(suffix)", folder), "\(suffix)")
    }
    let dry = try await Program.run(["edit", "in.mkv", "--dry-run", "--dolby-vision", "8.1"], in: folder.url)
    #expect(
      dry.text == "container: configuration of Dolby Vision: now profile 8.1, level 6\n\(line)",
      "\(dry.text)\(dry.said)")
  }

  @Test func refusesOtherConversions() async throws {
    let folder = try Folder()
    try folder.write("eight.h265", try Self.stream())
    try folder.write("five.h265", try Self.stream(profile: 5))
    var damaged = try AddedMetadata.rpu(profile: 7)
    damaged[damaged.count - 2] ^= 0x40
    let whole = try AddedMetadata.rpu(profile: 7)
    try folder.write("damaged.h265", try AddedMetadata.clip(behind: { $0 == 20 ? [damaged] : [whole] }))
    let clips = ["clip.h264", "clip.h265"].map { Program.media.appending(path: $0).path }
    let names = folder.names
    for (arguments, status, said) in [
      (["eight.h265", "--dolby-vision", "8.1"], 1, "access unit 0: dv_profile 8: profile 7 is expected; dovi_tool"),
      (["five.h265", "--dolby-vision", "8.1"], 1, "dv_profile 5"),
      (["damaged.h265", "--dolby-vision", "8.1"], 1, "access unit 20: rpu_data_crc32"),
      ([clips[0], "--dolby-vision", "8.1"], 1, "H.264 has Dolby Vision of profile 9 only"),
      ([clips[1], "--dolby-vision", "8.1"], 1, "no RPU of Dolby Vision; dovi_tool"),
      (["eight.h265", "--dolby-vision", "8.4"], 64, "--dolby-vision 8.4: expected 8.1; dovi_tool"),
      (["eight.h265", "--dolby-vision", "8.1", "--remove", "dolby-vision"], 64, "exclude each other"),
      (["eight.h265", "--remove", "subtitles"], 64, "--remove subtitles: expected captions, hdr10plus,"),
    ] as [([String], Int32, String)] {
      for target in [["-o", "out.h265"], ["-o", "out.mkv"]] {
        let run = try await Program.run(["edit"] + arguments + target, in: folder.url)
        #expect(run.status == status && run.said.contains(said), "\(arguments) \(target): \(run.said)")
        #expect(folder.names == names, "\(arguments) \(target)")
      }
    }
  }

  // MARK: The record

  /// Only the container changes.
  @Test func writesTheRecordThatTheStreamCallsFor() async throws {
    let folder = try Folder()
    try await Self.write("in.h265", try Self.stream(), in: folder)
    let right = DolbyVision.Configuration(profile: 8, level: 1, compatibilityID: 1)
    let wrong = DolbyVision.Configuration(profile: 8, level: 9, hasEnhancementLayer: true, compatibilityID: 4)
    for suffix in ["mp4", "mov", "mkv"] {
      _ = try await Self.run("h26x repack in.h265 -o in.\(suffix)", in: folder)
      let file = try #require(folder.bytes("in.\(suffix)"))
      var changed = file
      changed.replaceSubrange(try #require(file.range(of: Data(right.bytes))), with: wrong.bytes)
      try folder.write("wrong.\(suffix)", changed)
      let said = try await Self.run("h26x edit wrong.\(suffix) -o out.\(suffix) --dolby-vision record", in: folder)
      let words = "the configuration of Dolby Vision is made from the stream: profile 8.1, level 1\n"
      #expect(said.contains(words) && !said.contains("left behind"), "\(said)")
      // As a copy of the right file.
      _ = try await Self.run("h26x repack in.\(suffix) -o again.\(suffix)", in: folder)
      if suffix == "mkv" {
        // Its segment has a number at random.
        let out = try #require(folder.bytes("out.mkv"))
        #expect(out.range(of: Data(right.bytes)) != nil && out.range(of: Data(wrong.bytes)) == nil)
      } else {
        #expect(folder.bytes("out.\(suffix)") == folder.bytes("again.\(suffix)"), "\(suffix)")
      }
    }
    _ = try await Self.run("h26x repack in.h265 -o in.ts", in: folder)
    for name in ["wrong.mkv", "in.h265", "in.ts"] {
      let dry = try await Program.run(["edit", name, "--dry-run", "--dolby-vision", "record"], in: folder.url)
      #expect(
        dry.text == "container: configuration of Dolby Vision: now profile 8.1, level 1\n",
        "\(name): \(dry.text)\(dry.said)")
    }
    // From a container without a description of its own.
    try folder.write("x.bin", try NumberedStream.clip.rpuFile(count: 62))
    let clip = Program.media.appending(path: "clip.h264").path
    let said = try await Self.run(
      "h26x edit '\(clip)' -o in.flv --insert-dolby-vision x.bin && h26x edit in.flv -o flv.mp4 --dolby-vision record",
      in: folder)
    let flv = try await Program.run(["edit", "in.flv", "--dry-run", "--dolby-vision", "record"], in: folder.url)
    #expect(
      flv.text == "container: configuration of Dolby Vision: now profile 9.2, level 1\n"
        && said.contains("made from the stream: profile 9.2, level 1\n"), "\(said)\(flv.text)\(flv.said)")
    // The level follows from size and rate, which an edit may change.
    let fast = ["in.h265", "--dolby-vision", "record", "--frame-rate", "400", "--level", "4"]
    let dry = try await Program.run(["edit", "--dry-run"] + fast, in: folder.url)
    #expect(dry.text.contains(": now profile 8.1, level 2\n"), "\(dry.text)\(dry.said)")
    let real = try await Program.run(["edit", "-o", "fast.mp4"] + fast, in: folder.url)
    #expect(real.said.contains("made from the stream: profile 8.1, level 2\n"), "\(real.said)")
    let names = folder.names
    let none = Program.media.appending(path: "clip-h265.mp4").path
    let plain = Program.media.appending(path: "clip.h265").path
    for (arguments, status, said) in [
      (["in.mp4", "-o", "out.flv"], 64, "FLV has no record"), (["in.mp4", "-o", "out.h265"], 64, "has no record"),
      ([none, "-o", "new.mp4"], 1, "the first picture has no RPU"),
      ([none, "--dry-run"], 1, "the first picture has no RPU"),
      ([plain, "--dry-run"], 1, "the first picture has no RPU"),
    ] as [([String], Int32, String)] {
      let run = try await Program.run(["edit", "--dolby-vision", "record"] + arguments, in: folder.url)
      #expect(run.status == status && run.said.contains(said), "\(arguments): \(run.said)")
      #expect(folder.names == names, "\(arguments)")
    }
  }
}
