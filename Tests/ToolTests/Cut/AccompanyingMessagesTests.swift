// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import TestSupport
import Testing

@testable import Containers

/// The SEI messages and metadata of pictures that `h26x cut` encodes.
@Suite(
  .enabled(if: Program.isBuilt), .enabled { try await CutEncoder.isInstalled() },
  .enabled { try await CutEncoder.isInstalled(for: "clip-h265.mp4") })
struct AccompanyingMessagesTests {
  /// An access unit of a list.
  private struct Listed {
    /// Its place in the order of presentation.
    let rank: Int
    let unitTypes: [Int]
    /// Its messages: types, and payloads as digits.
    var messages: [(type: Int, payload: String)] = []

    func payloads(_ type: Int) -> [String] { messages.filter { $0.type == type }.map(\.payload) }
  }

  /// The access units of a file in decoding order.
  private static func list(_ name: String, in folder: Folder) async throws -> [Listed] {
    func objects(_ options: [String]) async throws -> [[String: Any]] {
      let run = try await Program.run(["inspect", name] + options, in: folder.url)
      #expect(run.status == 0, "\(name): \(run.said)")
      return try run.text.split(separator: "\n").map {
        try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
      }
    }
    let units = try await objects(["--json"]).filter { $0["kind"] as? String == "accessUnit" }
    let orders = units.map { [$0["sequence"] as? Int ?? 0, $0["poc"] as? Int ?? 0] }
    let sorted = orders.indices.sorted { orders[$0].lexicographicallyPrecedes(orders[$1]) }
    var list = units.enumerated().map { place, unit in
      Listed(
        rank: sorted.firstIndex(of: place) ?? -1,
        unitTypes: (unit["nalUnits"] as? [[String: Any]] ?? []).compactMap { $0["type"] as? Int })
    }
    for message in try await objects(["--sei", "all"]) {
      guard let place = message["access-unit"] as? Int, list.indices.contains(place) else { continue }
      list[place].messages.append((message["type"] as? Int ?? -1, message["payload"] as? String ?? ""))
    }
    return list
  }

  private static func digits(_ number: Int) -> String { String(format: "%02x", number) }

  private static func encodedCount(_ said: String) throws -> Int {
    try #require(said.firstMatch(of: /([0-9]+) pictures? encoded/).flatMap { Int($0.1) }, "\(said)")
  }

  /// Contents by the number of a picture: captions, HDR10+, user data and time codes.
  private static func contents(_ number: Int, isH265: Bool) -> [(type: Int, payload: String)] {
    let text = digits(number)
    var contents = [
      (4, "b500314741393403c1fffc\(text)\(text)ff"), (4, "b5003c00010401\(text)"),
      (5, String(repeating: "ab", count: 16) + text),
    ]
    if isH265 {
      let code = H265.TimeCode(clockTimestamps: [timestamp(number)])
      contents.append((136, code.payload().map { digits(Int($0)) }.joined()))
    }
    return contents
  }

  private static func timestamp(_ number: Int) -> ClockTimestamp {
    var timestamp = ClockTimestamp()
    timestamp.frames = UInt16(number)
    return timestamp
  }

  static let pairs = [
    ("clip.h264", "h264"), ("clip.h265", "h265"), ("clip.mp4", "mp4"), ("clip-h265.mp4", "mp4"), ("clip.ts", "mkv"),
    ("clip-h265.mkv", "ts"),
  ]

  /// Every picture of a copy has its own messages. The first encoded one also has those of its sequence.
  @Test(arguments: TestScope.rows(pairs, usually: 4)) func encodedPicturesHaveTheirMessages(
    source: String, target: String
  ) async throws {
    let (folder, isH265) = (try Folder(), source.contains("265"))
    let clip = CutTests.media(source)
    var lines: [String] = []
    func add(_ place: Int, _ type: Int, _ payload: String) {
      lines.append("{\"access-unit\": \(place), \"type\": \(type), \"payload\": \"\(payload)\"}")
    }
    for (place, unit) in try await Self.list(clip, in: folder).enumerated() {
      for (type, payload) in Self.contents(unit.rank, isH265: isH265) { add(place, type, payload) }
      if unit.unitTypes.contains(where: { isH265 ? 16...21 ~= $0 : $0 == 5 }) { add(place, 144, "03e80190") }
    }
    try folder.write("sei.jsonl", Data(lines.joined(separator: "\n").utf8))
    let suffix = try #require(source.split(separator: ".").last)
    let edit = try await Program.run(
      ["edit", clip, "-o", "in.\(suffix)", "--remove-sei", "4,5,136,144", "--insert-sei-from", "sei.jsonl"],
      in: folder.url)
    try #require(edit.status == 0, "\(edit.said)")
    let range = 10..<48
    let cut = try await Program.run(
      ["cut", "in.\(suffix)", "-o", "out.\(target)", "--mode", "exact", "--range", "#10-#48"], in: folder.url)
    try #require(cut.status == 0, "\(cut.said)")
    let encoded = try Self.encodedCount(cut.said)
    let pictures = try await Self.list("out.\(target)", in: folder)
    #expect(pictures.count == range.count)
    for picture in pictures {
      for (type, payload) in Self.contents(picture.rank + range.lowerBound, isH265: isH265) {
        #expect(picture.payloads(type).count { $0 == payload } == 1, "\(type) of \(picture.rank): \(picture.messages)")
      }
      #expect(picture.payloads(4).count == 2 && picture.payloads(5).count == 1 && picture.payloads(6).isEmpty)
    }
    #expect(pictures.first?.payloads(144) == ["03e80190"])
    // x265 wrote a hash of each picture of the source.
    if isH265 { #expect(pictures.count { $0.payloads(132).isEmpty } == encoded) }
  }

  /// The metadata of Dolby Vision stays behind each picture.
  @Test func encodedPicturesHaveTheirDynamicMetadata() async throws {
    let folder = try Folder()
    let clip = [UInt8](try Data(contentsOf: URL(filePath: CutTests.media("clip.h265"))))
    let ranks = try await Self.list(CutTests.media("clip.h265"), in: folder).map(\.rank)
    var (bytes, place): ([UInt8], Int) = ([], 0)
    let ranges = NALPackaging.annexB.nalUnits(of: clip.span)
    for range in ranges {
      bytes += [0, 0, 0, 1] + clip[range]
      // Hashes are behind the slices.
      guard clip[range.lowerBound] >> 1 == 40, place < ranks.count else { continue }
      bytes += [0, 0, 0, 1, 62 << 1, 1, 0x19, 0x80 | UInt8(ranks[place])]
      place += 1
    }
    try #require(place == 62)
    try folder.write("in.h265", Data(bytes))
    for target in ["out.h265", "out.mp4"] {
      let cut = try await Program.run(
        ["cut", "in.h265", "-o", target, "--mode", "exact", "--range", "#10-#40"], in: folder.url)
      try #require(cut.status == 0, "\(cut.said)")
      #expect(try Self.encodedCount(cut.said) >= 15)
      let pictures = try await Self.list(target, in: folder)
      #expect(pictures.allSatisfy { $0.unitTypes.last == 62 && $0.unitTypes.count { $0 == 62 } == 1 })
      guard target == "out.h265" else { continue }
      let copy = [UInt8](try #require(folder.bytes(target)))
      let messages = NALPackaging.annexB.nalUnits(of: copy.span).filter { copy[$0.lowerBound] == 62 << 1 }
      let numbers = messages.map { Int(copy[$0.upperBound - 1] & 0x7F) }
      #expect(numbers == pictures.map { $0.rank + 10 })
    }
  }

  // MARK: Fields

  /// A stream of fields, each with captions of its own, a buffering period for each IDR picture, and picture timing.
  ///
  /// - Parameter isConstant: whether filler data make the bit rate constant.
  private static func fields(
    frames: Int, isConstant: Bool = false
  ) throws -> (bytes: [UInt8], sps: H264.SequenceParameterSet) {
    let stream = [UInt8](FieldStream.make(frames: frames, isPredicted: true))
    let other = try H264.SequenceParameterSet(nalUnit: MinimalStream.sps(nalBuffers: 1, vclBuffers: 1).span)
    var hrd = try #require(other.vui?.nalHRD)
    // Two megabits a second into one megabit.
    (hrd.bitRateScale, hrd.sizeScale) = (4, 4)
    (hrd.buffers[0].bitRateValue, hrd.buffers[0].sizeValue) = (2000, 4000)
    hrd.buffers[0].isConstantBitRate = isConstant
    var (bytes, field): ([UInt8], Int) = ([], 0)
    var sps: H264.SequenceParameterSet?
    for range in NALPackaging.annexB.nalUnits(of: stream.span) {
      var nalUnits = [Array(stream[range])]
      switch stream[range.lowerBound] & 0x1F {
      case 7:
        var own = try H264.SequenceParameterSet(nalUnit: stream.span.extracting(range))
        own.vui?.nalHRD = hrd
        own.vui?.isPictureStructurePresent = true
        sps = own
        nalUnits = [own.nalUnit()]
      case 1, 5:
        let (sps, place) = (try #require(sps), field % (2 * FieldStream.groupSize))
        var messages: [(type: SEIPayloadType, payload: [UInt8])] = []
        if place == 0, let period = H264.BufferingPeriod(beginning: sps, fullness: 0.9, like: nil) {
          messages.append((.bufferingPeriod, period.payload(sps: sps)))
        }
        let removal = place == 0 && field > 0 ? 2 * FieldStream.groupSize : place
        let timing = H264.PictureTiming(
          delays: .init(cpbRemoval: UInt32(removal), dpbOutput: 0),
          structure: field % 2 == 0 ? .topField : .bottomField, clockTimestamps: [timestamp(field)])
        messages.append((.pictureTiming, timing.payload(sps: sps)))
        messages.append((.userDataRegistered, [0xB5, 0, 0x31, UInt8(field)]))
        // Both fields have it.
        messages.append((.contentLightLevel, [3, 232, 1, 144]))
        nalUnits.insert(seiNALUnit(messages), at: 0)
        if isConstant {
          let rest = hrd.bitRate(of: hrd.buffers[0]) / 400 - UInt64(MinimalStream.annexB(nalUnits).count)
          nalUnits.append(H264.fillerData(byteCount: Int(rest) - 4))
        }
        field += 1
      default: break
      }
      bytes += MinimalStream.annexB(nalUnits)
    }
    return (bytes, try #require(sps))
  }

  /// The messages of a picture.
  private struct Messages {
    var types: [SEIPayloadType] = []
    var timings: [H264.PictureTiming] = []
    var captions: [UInt8] = []
    var isField = false
  }

  private static func messages(
    of bytes: [UInt8], _ sps: H264.SequenceParameterSet
  ) throws -> [Messages] {
    var (pictures, next): ([Messages], Messages) = ([], Messages())
    for range in NALPackaging.annexB.nalUnits(of: bytes.span) {
      let nalUnit = bytes.span.extracting(range)
      switch H264.role(of: nalUnit) {
      case .sei:
        var messages = SEIMessages(nalUnit)
        while let message = try messages.next() {
          next.types.append(message.type)
          if message.type == .pictureTiming { next.timings.append(try H264.PictureTiming(message, sps: sps)) }
          if message.type == .userDataRegistered { next.captions.append(try message.payload().last ?? 0) }
        }
      case .slice:
        pictures.append(next)
        next = Messages()
      default: break
      }
    }
    return pictures
  }

  /// Two fields become a frame, which has the captions of both and their time codes. If the SPS has HRD parameters, IDR
  /// pictures have buffering periods, and all pictures have picture timing.
  @Test(arguments: ["h264", "mp4"]) func encodedFramesHaveTheMessagesOfBothFields(source: String) async throws {
    let folder = try Folder()
    let (bytes, sps) = try Self.fields(frames: 24)
    try folder.write("in.h264", Data(bytes))
    if source != "h264" {
      let made = try await Program.run(["repack", "in.h264", "-o", "in.\(source)"], in: folder.url)
      try #require(made.status == 0, "\(made.said)")
    }
    // An in-point, and a range without an IDR picture.
    let cut = try await Program.run(
      ["cut", "in.\(source)", "-o", "out.h264", "--mode", "exact", "--range", "#3-#10", "--range", "#17-#20"],
      in: folder.url)
    try #require(cut.status == 0, "\(cut.said)")
    #expect(try Self.encodedCount(cut.said) == 8)
    let pictures = try Self.messages(of: [UInt8](try #require(folder.bytes("out.h264"))), sps)
    // Five frames and two, which are copied as fields, and three.
    try #require(pictures.count == 12)
    let encoded = Array(pictures.prefix(5) + pictures.suffix(3))
    for (picture, number) in zip(encoded, [3, 4, 5, 6, 7, 17, 18, 19]) {
      #expect(picture.captions == [UInt8(number * 2), UInt8(number * 2 + 1)])
      #expect(picture.types.count { $0 == .contentLightLevel } == 1)
      #expect(picture.timings.map(\.structure) == [.topBottom])
      let codes = picture.timings.first?.clockTimestamps.compactMap { $0?.frames }
      #expect(codes == [UInt16(number * 2), UInt16(number * 2 + 1)])
    }
    // In fields: since the last buffering period, also across the ranges.
    let removals = encoded.compactMap { $0.timings.first?.delays?.cpbRemoval }
    #expect(removals == [0, 2, 4, 6, 8, 4, 2, 4])
    let beginnings = pictures.indices.filter { pictures[$0].types.contains(.bufferingPeriod) }
    #expect(beginnings == [0, 5, 9])
    #expect(beginnings.allSatisfy { pictures[$0].types.first == .bufferingPeriod })
    let findings = try await Program.run(["check", "--json", "out.h264"], in: folder.url)
    #expect(!findings.text.contains("-sei") && !findings.text.contains("buffer"), "\(findings.text)")
  }

  /// The first copied picture behind another buffering period counts from that, and those behind it from the first.
  @Test func copiedEntriesCountFromTheBufferingPeriodInFront() async throws {
    let folder = try Folder()
    let (bytes, sps) = try Self.fields(frames: 24)
    try folder.write("in.h264", Data(bytes))
    // Behind five encoded frames, and behind two copied ones.
    let cut = try await Program.run(
      ["cut", "in.h264", "-o", "out.h264", "--mode", "exact", "--range", "#3-#10", "--range", "#8-#12"],
      in: folder.url)
    #expect(try Self.encodedCount(cut.said) == 5, "\(cut.said)")
    let pictures = try Self.messages(of: [UInt8](try #require(folder.bytes("out.h264"))), sps)
    let removals = pictures.compactMap { $0.timings.first?.delays?.cpbRemoval }
    #expect(removals == [0, 2, 4, 6, 8, 10, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7])
  }

  /// Filler data behind encoded pictures keep a buffer from an overflow into which bits come at a constant rate.
  @Test(arguments: ["h264", "mp4"]) func encodedPicturesKeepAConstantBitRate(target: String) async throws {
    let folder = try Folder()
    try folder.write("in.h264", Data(try Self.fields(frames: 24, isConstant: true).bytes))
    func findings(_ name: String) async throws -> String {
      try await Program.run(["check", "--json", name], in: folder.url).text
    }
    #expect(!(try await findings("in.h264")).contains("cpb-"))
    let cut = try await Program.run(
      ["cut", "in.h264", "-o", "out.\(target)", "--mode", "exact", "--range", "#3-#10", "--range", "#9-#20"],
      in: folder.url)
    #expect(try Self.encodedCount(cut.said) == 12, "\(cut.said)")
    #expect(!(try await findings("out.\(target)")).contains("cpb-"))
    // About as many bits as in the source.
    let size = try #require(folder.bytes("out.\(target)")?.count)
    #expect(176_000...192_000 ~= size, "\(size)")
  }

  // MARK: Recovery points

  /// A recovery point that becomes an IDR picture gets messages of earlier pictures, which applied to it.
  @Test(arguments: ["h264", "mp4"]) func aRecoveryPointHasTheMessagesOfItsSequence(target: String) async throws {
    let folder = try Folder()
    try folder.write("sei.jsonl", Data(#"{"access-unit": 0, "type": 144, "payload": "03e80190"}"#.utf8))
    let edit = try await Program.run(
      ["edit", CutTests.media("open-gop.h264"), "-o", "in.h264", "--insert-sei-from", "sei.jsonl"], in: folder.url)
    try #require(edit.status == 0, "\(edit.said)")
    let pictures = try await Self.list("in.h264", in: folder)
    let point = try #require(pictures.last { !$0.payloads(6).isEmpty && !$0.unitTypes.contains(5) })
    #expect(point.payloads(144).isEmpty && point.rank > 20)
    let cut = try await Program.run(
      ["cut", "in.h264", "-o", "out.\(target)", "--mode", "exact", "--range", "#\(point.rank)-"], in: folder.url)
    #expect(cut.status == 0 && !cut.said.contains("encoded"), "\(cut.said)")
    let first = try #require(try await Self.list("out.\(target)", in: folder).first)
    #expect(first.unitTypes.contains(5) && first.payloads(144) == ["03e80190"], "\(first)")
  }

  // MARK: Quality

  /// The summary has the lowest PSNR that `compare` finds.
  @Test(arguments: [("clip.mp4", "18"), ("clip.mp4", "30"), ("clip-h265.mp4", "18")])
  func printsTheLowestPSNR(clip: String, quality: String) async throws {
    let folder = try Folder()
    let options = ["--range", "#7-#30", "--quality", quality]
    let cut = try await Program.run(["cut", CutTests.media(clip), "-o", "out.mp4"] + options, in: folder.url)
    let printed = try #require(
      cut.said.firstMatch(of: /lowest PSNR ([0-9.]+) dB/).flatMap { Double($0.1) }, "\(cut.said)")
    let hidden = try await Program.run(
      ["cut", CutTests.media(clip), "-o", "hidden.mp4", "--mode", "hidden"] + options, in: folder.url)
    #expect(hidden.status == 0, "\(hidden.said)")
    let compared = try await Program.run(["compare", "hidden.mp4", "out.mp4", "--all"], in: folder.url)
    let numbers = compared.text.matches(of: /\tY ([0-9.]+) dB/).compactMap { Double($0.1) }
    let lowest = try #require(numbers.min())
    #expect(abs(printed - lowest) < 0.06 && printed >= (quality == "18" ? 40 : 25), "\(printed), \(lowest)")
  }
}
