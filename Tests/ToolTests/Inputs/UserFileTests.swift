// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import TestSupport
import Testing

/// A table of files that applications and users met, and the results of the program. Each is a small equivalent that is
/// made here.
@Suite(.enabled(if: Program.isBuilt)) struct UserFileTests {
  /// What a command prints about a file, `{}`.
  struct Line: Sendable {
    var command: String
    var status: Int32
    /// Parts of what is printed on either output.
    var says: [String]

    init(_ command: String, _ status: Int32 = 0, _ says: String...) {
      (self.command, self.status, self.says) = (command, status, says)
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    /// The file's name.
    var name: String
    /// Shell lines that make it in an empty folder; `$M` is the folder of the clips.
    var shell = "true"
    /// Changes what the shell made, or makes it.
    var make: @Sendable (Data) throws -> Data = { $0 }
    /// The times of its pictures in milliseconds; `nil` where none can be decoded.
    var times: [Int]?
    var lines: [Line]

    var testDescription: String { name }
  }

  /// Times at a distance, rounded down.
  private static func times(_ count: Int, every period: Double = 40, from first: Double = 0) -> [Int] {
    (0..<count).map { Int((first + Double($0) * period + 0.001).rounded(.down)) }
  }

  private static func clip(_ name: String) throws -> Data {
    try Data(contentsOf: Program.media.appending(path: name))
  }

  /// MP4 whose samples have start codes in place of lengths of four bytes, and that has no configuration record.
  @Sendable private static func withStartCodes(_ file: Data) throws -> Data {
    var file = file
    for box in ["avcC", "hvcC"] {
      if let place = file.range(of: Data(box.utf8)) { file.replaceSubrange(place, with: Data("free".utf8)) }
    }
    let media = try #require(file.range(of: Data("mdat".utf8))).upperBound
    let end = media - 8 + file[media - 8..<media - 4].reduce(0) { $0 << 8 | Int($1) }
    var place = media
    while place + 4 <= end {
      let length = file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      file.replaceSubrange(place..<place + 4, with: [0, 0, 0, 1])
      place += 4 + length
    }
    return file
  }

  /// MP4 whose parameter sets have start codes in the configuration record.
  @Sendable private static func withStartCodesInRecord(_ file: Data) throws -> Data {
    var file = file
    let box = try #require(file.range(of: Data("avcC".utf8)))
    let size = file[box.lowerBound - 4..<box.lowerBound].reduce(0) { $0 << 8 | Int($1) }
    let content = [UInt8](file[box.upperBound..<box.lowerBound - 4 + size])
    var record = try H264.DecoderConfigurationRecord(content.span)
    record.sequenceParameterSets = record.sequenceParameterSets.map { [0, 0, 0, 1] + $0 }
    record.pictureParameterSets = record.pictureParameterSets.map { [0, 0, 0, 1] + $0 }
    file.replaceSubrange(box, with: Data("free".utf8))
    let entry = ["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"]
    return AddedBoxes.add(AddedBoxes.box("avcC", try record.bytes()), to: entry, of: file)
  }

  /// A byte stream whose NAL units are others.
  private static func changed(
    _ name: String, _ change: (_ nalUnit: [UInt8], _ index: Int) throws -> [[UInt8]]
  ) throws -> Data {
    let bytes = [UInt8](try clip(name))
    var units = AnnexB.NALUnits(bytes.span)
    var (stream, index) = (Data(), 0)
    while let unit = units.next() {
      for nalUnit in try change(Array(bytes[unit.range]), index) { stream += [0, 0, 0, 1] + nalUnit }
      index += 1
    }
    return stream
  }

  /// A byte stream of H.264 whose SPS are others.
  private static func changed264(
    _ name: String, _ change: (inout H264.SequenceParameterSet) -> Void, cutting bytes: Int = 0
  ) throws -> Data {
    try changed(name) { nalUnit, _ in
      guard nalUnit[0] & 31 == 7 else { return [nalUnit] }
      var set = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
      change(&set)
      return [set.nalUnit().dropLast(bytes)]
    }
  }

  /// A byte stream of P pictures that are shown for three fields and for two in turn, or all for two frames.
  private static func repeating(_ payloads: [UInt8]) throws -> Data {
    var picture = 0
    return try changed("intra-refresh.h264") { nalUnit, _ in
      switch nalUnit[0] & 31 {
      case 7:
        var set = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
        set.vui?.isPictureStructurePresent = true
        return [set.nalUnit()]
      case 1, 5:
        picture += 1
        return [[6, 1, 1, payloads[(picture - 1) % payloads.count], 0x80], nalUnit]
      default: return [nalUnit]
      }
    }
  }

  /// A transport stream of H.264 with SEI behind each picture's slices, in place of the delimiters in front of them.
  @Sendable private static func withSEIBehindSlices(_ file: Data) throws -> Data {
    var bytes = [UInt8](file)
    /// The places of the bytes in the current PES packet.
    var places: [Int] = []
    func move() {
      let data = places.map { bytes[$0] }
      guard data.starts(with: [0, 0, 0, 1, 9]) else { return }
      for (place, byte) in zip(places, data.dropFirst(6) + [0, 0, 0, 1, 6, 0x80]) { bytes[place] = byte }
    }
    for packet in stride(from: 0, to: bytes.count - 187, by: 188) where bytes[packet + 3] & 0x10 != 0 {
      guard UInt16(bytes[packet + 1] & 0x1F) << 8 | UInt16(bytes[packet + 2]) == 0x41 else { continue }
      var payload = packet + 4 + (bytes[packet + 3] & 0x20 != 0 ? 1 + Int(bytes[packet + 4]) : 0)
      if bytes[packet + 1] & 0x40 != 0 {
        move()
        places = []
        payload += 9 + Int(bytes[payload + 8])
      }
      places += payload..<packet + 188
    }
    move()
    return Data(bytes)
  }

  /// MP4 with the samples 20 and 21, counted from 1, in one: a P picture and the IDR picture after it.
  @Sendable private static func merged(_ file: Data) throws -> Data {
    var bytes = [UInt8](file)
    func place(_ type: String) throws -> Int { try #require(file.range(of: Data(type.utf8))).upperBound + 4 }
    func number(_ place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    func set(_ place: Int, _ value: Int) {
      bytes.replaceSubrange(place..<place + 4, with: AddedBoxes.bytes(UInt32(value)))
    }
    // The tables lose an entry, and the boxes keep their sizes.
    let sizes = try place("stsz") + 4
    let count = number(sizes)
    set(sizes, count - 1)
    set(sizes + 4 * 20, number(sizes + 4 * 20) + number(sizes + 4 * 21))
    for index in 21..<count { set(sizes + 4 * index, number(sizes + 4 * (index + 1))) }
    set(try place("stts") + 4, count - 1)
    set(try place("stsc") + 8, number(try place("stsc") + 8) - 1)
    let sync = try place("stss")
    set(sync, number(sync) - 1)
    for index in 2...number(sync) { set(sync + 4 * index, number(sync + 4 * (index + 1)) - 1) }
    var (run, passed) = (try place("ctts") + 4, 0)
    while passed + number(run) < 21 { (run, passed) = (run + 8, passed + number(run)) }
    set(run, number(run) - 1)
    return Data(bytes)
  }

  /// What all readers print of a file without video for them.
  private static func refusals(_ reason: String) -> [Line] {
    ["info {}", "hash {}", "check {}", "repack {} -o out.mp4", "repack {} -o out.h264", "report {} -o out.html"].map {
      Line($0, 1, reason)
    }
  }

  static let rows: [Row] = [
    // Manifests and other files.
    Row(
      name: "manifest.mpd",
      make: { _ in Data("<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"/>\n".utf8) },
      lines: refusals("a DASH manifest")),
    Row(
      name: "camera.mp4",
      shell:
        "gst-launch-1.0 -q filesrc location=$M/clip.mp4 ! qtdemux ! h264parse ! mpegpsmux ! filesink location=camera.mp4",
      make: { Data("IMKH\u{1}\u{1}".utf8) + Data(count: 34) + $0 }, times: times(62),
      lines: [
        Line("info {}", 0, "MPEG program stream", "320x180"), Line("check {}", 0, "62 access units"),
        Line("repack {} -o out.mp4", 0, "MP4, H.264"),
      ]),
    Row(
      name: "essence.mxf", make: { _ in Data([6, 0x0E, 0x2B, 0x34, 2, 5, 1, 1]) + (try clip("clip.h264")) },
      lines: refusals("MXF")),
    Row(
      name: "motion.avi",
      shell: "gst-launch-1.0 -q videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48 ! jpegenc ! avimux "
        + "! filesink location=motion.avi",
      lines: refusals("AVI without H.264 or H.265 video (it has: mjpeg)")),
    // Frame rates.
    Row(
      name: "clock.mkv", shell: "h26x edit $M/clip.mkv --frame-rate 600 --level 5.2 -o clock.mkv", times: times(62),
      lines: [Line("info {}", 0, "Frame rate          25\n"), Line("check {}", 0, "0 errors")]),
    Row(
      name: "clock.ts", shell: "h26x edit $M/clip.ts --frame-rate 600 --level 5.2 -o clock.ts", times: times(62),
      lines: [Line("info {}", 0, "Frame rate          25\n")]),
    Row(
      name: "rounded.mp4",
      shell: """
        h26x edit $M/clip.h264 --frame-rate 30 --level 3 -o a.h264 && h26x repack a.h264 -o a.flv \
        && h26x repack a.flv -o rounded.mp4
        """,
      times: times(62, every: 1000.0 / 30, from: 2000.0 / 30),
      lines: [Line("info {}", 0, "Frame rate          30\n"), Line("repack {} -o out.mkv", 0, "Matroska, H.264")]),
    // The size of the first picture.
    Row(
      name: "sizes.h264",
      make: { _ in
        let first = try clip("clip.h264")
        let second = try #require(first.range(of: Data([0, 0, 0, 1, 9]), in: 5..<first.count)).lowerBound
        return first[..<second] + (try clip("wide.h264"))
      },
      lines: [Line("info {}", 0, "320x180"), Line("info --count {}", 0, "320x180")]),
    // Fields.
    Row(
      name: "fields.h265", shell: "cp $M/interlaced.h265 fields.h265", times: times(25),
      lines: [
        Line("info {}", 0, "interleaved"),
        // DefaultDuration of a block, which is a field: 40 ms.
        Line(
          "repack {} -o out.mkv && grep -qaP '\\x23\\xE3\\x83\\x84\\x02\\x62\\x5A\\x00' out.mkv", 0, "Matroska, H.265"),
      ]),
    // A configuration record in another order than that of sending.
    Row(
      name: "order.mp4", shell: "cp $M/clip-h265.mp4 order.mp4",
      make: { file in
        var file = file
        let record = try #require(file.range(of: Data("hvcC".utf8))).upperBound
        var arrays: [Data] = []
        var place = record + 23
        for _ in 0..<file[record + 22] {
          let start = place
          place += 3
          for _ in 0..<Int(file[start + 1]) << 8 | Int(file[start + 2]) {
            place += 2 + Int(file[place]) << 8 + Int(file[place + 1])
          }
          arrays.append(file[start..<place])
        }
        let sorted = arrays.sorted { order($0) < order($1) }
        file.replaceSubrange(record + 23..<place, with: sorted.reduce(Data(), +))
        return file
        // PPS, SPS, VPS.
        func order(_ array: Data) -> Int { [34, 33, 32].firstIndex(of: Int(array[array.startIndex] & 0x3F)) ?? 3 }
      },
      times: times(62),
      lines: [
        // The types of the arrays in front of their first NAL units' headers.
        Line(
          "repack {} -o out.mp4 && grep -obaP '[\\x20\\xA0]\\x00\\x01..\\x40\\x01|[\\x21\\xA1]\\x00\\x01..\\x42\\x01|"
            + "[\\x22\\xA2]\\x00\\x01..\\x44\\x01' out.mp4 | grep -aoP '[@BD](?=\\x01)' | tr -d '\\n'", 0, "@BD"),
        Line(
          "repack {} -o out.mkv && gst-launch-1.0 -q filesrc location=out.mkv ! matroskademux ! h265parse ! avdec_h265 "
            + "! fakesink", 0),
      ]),
    // Segments without what describes them.
    Row(
      name: "lone.m4s", shell: "h26x repack $M/clip.mp4 -o - --format mp4 > lone.m4s",
      make: { $0[(try #require($0.range(of: Data("moof".utf8))).lowerBound - 4)...] },
      lines: refusals("without the initialization segment")),
    // Samples that are pieces of a byte stream.
    Row(
      name: "start-codes.mp4", shell: "cp $M/clip.mp4 start-codes.mp4", make: withStartCodes, times: times(62),
      lines: [
        Line("info --count {}", 0, "320x180", "Pictures            62\n"),
        Line("check {}", 2, "62 samples with start codes", "62 access units, 2 errors"),
        Line("repack {} -o out.mp4", 0, "MP4, H.264"),
        Line("repack {} -o out.h264", 0, "byte stream"),
      ]),
    Row(
      name: "start-codes-in-record.mp4", shell: "cp $M/clip.mp4 start-codes-in-record.mp4",
      make: withStartCodesInRecord, times: times(62),
      lines: [
        Line("info --count {}", 0, "320x180", "Pictures            62\n"),
        Line("check {}", 2, "start codes in the record's parameter sets", "62 access units, 1 error"),
        Line("repack {} -o out.mp4 && h26x check out.mp4", 0, "MP4, H.264", "62 access units, 0 errors"),
      ]),
    Row(
      name: "merged.mp4", shell: "cp $M/clip.mp4 merged.mp4", make: merged,
      lines: [
        Line("info {}", 0, "320x180"), Line("check {}", 2, "2 pictures in a sample"),
        // The IDR picture is lost, as with ffmpeg, and what refers to it.
        Line("repack {} -o out.mp4", 0, "MP4, H.264"),
      ]),
    Row(
      name: "start-codes-h265.mp4",
      shell: "gst-launch-1.0 -q filesrc location=$M/clip-h265.mp4 ! qtdemux ! h265parse config-interval=-1 "
        + "! video/x-h265,stream-format=hev1 ! mp4mux ! filesink location=start-codes-h265.mp4", make: withStartCodes,
      times: times(62),
      lines: [Line("info {}", 0, "320x180"), Line("repack {} -o out.mkv", 0, "Matroska, H.265")]),
    // Sequence parameter sets.
    Row(
      name: "vui.h264", make: { _ in try changed264("clip.h264", { _ in }, cutting: 2) }, times: times(62),
      lines: [
        Line("info --count {}", 0, "Frame rate          25\n", "Pictures            62\n"),
        Line("check {}", 2, "SPS: cut off", "62 access units, 1 error"),
        Line("repack {} -o out.mp4", 0, "MP4, H.264"), Line("repack {} -o out.mkv", 0, "Matroska, H.264"),
      ]),
    Row(
      name: "vui.h265",
      make: { _ in
        try changed("clip.h265") { nalUnit, _ in
          guard nalUnit[0] >> 1 == 33 else { return [nalUnit] }
          var set = try H265.SequenceParameterSet(nalUnit: nalUnit.span)
          set.vui?.bitstreamRestriction = .init()
          return [set.nalUnit().dropLast(3)]
        }
      },
      lines: [
        Line("info --count {}", 0, "Frame rate          25\n", "Pictures            62\n"),
        Line("check {}", 2, "SPS: cut off", "62 access units, 1 error"),
        Line("repack {} -o out.mp4", 0, "MP4, H.265"), Line("repack {} -o out.mkv", 0, "Matroska, H.265"),
      ]),
    Row(
      name: "reorder.h264", shell: "cp $M/clip.h264 sound.h264",
      make: { _ in try changed264("clip.h264", { $0.vui?.bitstreamRestriction?.maximumReorderFrames = 0 }) },
      times: times(62),
      lines: [
        Line("info --count {}", 0, "Frame rate          25\n", "Pictures            62\n"),
        Line("check {}", 2, "reorder-depth", "62 access units"),
        Line("hash --strict {} > out.md5 && h26x hash sound.h264 | diff out.md5 -", 0),
        Line("decode --strict {} -o out.y4m", 0, "62 pictures"),
        Line("repack {} -o out.mp4 && test $(h26x check out.mp4 | grep -c container-timestamps) = 0", 0),
        Line("repack {} -o out.ts && h26x hash --each out.ts | grep -vc '^#'", 0, "62\n"),
      ]),
    Row(
      name: "reorder.h265",
      make: { _ in
        try changed("clip.h265") { nalUnit, _ in
          guard nalUnit[0] >> 1 == 33 else { return [nalUnit] }
          var set = try H265.SequenceParameterSet(nalUnit: nalUnit.span)
          for index in set.buffering.indices { set.buffering[index].maximumReorderPictures = 0 }
          return [set.nalUnit()]
        }
      },
      lines: [
        Line("info --count {}", 0, "Frame rate          25\n", "Pictures            62\n"),
        Line("check {}", 2, "reorder-depth", "62 access units"),
        // libavcodec orders pictures by the announced depth.
        Line("hash --strict {}", 2, "62 pictures; damage: ", "pictures out of order"),
        Line("repack {} -o out.mp4 && test $(h26x check out.mp4 | grep -c container-timestamps) = 0", 0),
      ]),
    // Repeated fields and frames.
    Row(
      name: "pulldown.h264", make: { _ in try repeating([0x51, 0x42]) },
      lines: [
        Line("info --count {}", 0, "Pictures            100\n"), Line("check {}", 0, "100 access units, 0 errors"),
        Line("repack {} -o out.mp4 && h26x info out.mp4", 0, "Duration            0:00:05.000\n"),
      ]),
    Row(
      name: "doubled.h264", make: { _ in try repeating([0x72]) }, times: times(100, every: 80),
      lines: [
        Line("check {}", 0, "100 access units, 0 errors"),
        Line("repack {} -o out.mkv && h26x info --count out.mkv", 0, "Pictures            100\n"),
      ]),
    // An end of sequence in front of a CRA picture, whose RASL pictures cannot be decoded.
    Row(
      name: "ended.h265",
      make: { _ in
        var pictures = 0
        return try changed("open-gop.h265") { nalUnit, _ in
          if nalUnit[0] >> 1 < 32 { pictures += 1 }
          return nalUnit[0] >> 1 == 32 && pictures > 0 ? [[0x48, 1], nalUnit] : [nalUnit]
        }
      },
      lines: [
        Line("info --count {}", 0, "Pictures            50\n"), Line("check {}", 0, "50 access units, 0 errors"),
        // Such a CRA picture also discards the pictures that wait for their output (C.5.2.2). No two are shown at a time.
        Line(
          "hash --each {} > out.md5 && test -z \"$(grep -v '^#' out.md5 | cut -d, -f3 | sort | uniq -d)\"", 0,
          "30 pictures; damage: 12 access units dropped"),
        Line("repack {} -o out.mp4 && h26x info --count out.mp4", 0, "MP4, H.265", "Pictures            50\n"),
      ]),
    // Times of containers.
    Row(
      name: "negative.flv", shell: "cp $M/clip.flv negative.flv",
      make: { Data(FlashTimes.decodedLater([UInt8]($0), by: 80)) }, times: times(62),
      lines: [
        Line("info --count {}", 0, "Pictures            62\n"), Line("check {}", 0, "62 access units, 0 errors"),
        Line("repack {} -o out.mp4 && h26x hash --each out.mp4 | grep -vc '^#'", 0, "62\n"),
      ]),
    Row(
      name: "edit.mp4", shell: "cp $M/clip.mp4 edit.mp4",
      make: { try EditListTests.edited($0, [(31, 20.5)]) },
      lines: [
        Line("info {}", 0, "Frame rate          25\n"), Line("check {}", 0, "62 access units, 0 errors"),
        Line("repack {} -o out.mp4 && h26x hash --each out.mp4 | grep -vc '^#'", 0, "32\n"),
      ]),
    // Prefix SEI behind the slice.
    Row(
      name: "sei.ts", shell: "h26x repack $M/clip.h265 -o sei.ts",
      make: { file in
        var file = file
        var place = file.startIndex
        while let unit = file.range(of: Data([0, 0, 1, 0x50, 1]), in: place..<file.endIndex) {
          file[unit.lowerBound + 3] = 0x4E
          place = unit.upperBound
        }
        return file
      },
      times: times(62),
      lines: [
        Line("info --count {}", 0, "Pictures            62\n"), Line("check {}", 2, "nal-order"),
        Line("check {} | grep -c container-timestamps", 1, "0\n"),
        Line(
          "repack {} -o out.mp4 && h26x hash --each out.mp4 | grep -v '^#' | cut -d, -f3 | tr -d ' \\n'", 0,
          (0..<62).map(String.init).joined()),
      ]),
    Row(
      name: "sei264.ts", shell: "cp $M/clip.ts sei264.ts", make: withSEIBehindSlices, times: times(62),
      lines: [
        Line("info --count {}", 0, "Pictures            62\n"),
        Line("check {} | grep -c container-timestamps", 1, "0\n"),
        Line("repack {} -o out.mkv && test $(h26x check out.mkv | grep -c container-timestamps) = 0", 0),
      ]),
    // A byte stream that ends with a delimiter.
    Row(
      name: "delimiter.h264", make: { _ in try clip("clip.h264") + Data([0, 0, 0, 1, 9, 0xF0]) }, times: times(62),
      lines: [Line("info --count {}", 0, "Pictures            62\n")]),
  ]

  @Test(arguments: TestScope.rows(rows, usually: 14)) func readsFilesThatUsersMet(row: Row) async throws {
    let folder = try Folder()
    let made = try await Program.shell("M=\(Program.media.path); \(row.shell)", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    // A slice of it begins at 0 again.
    try folder.write(row.name, Data([UInt8](try row.make(folder.bytes(row.name) ?? Data()))))
    if let times = row.times {
      let run = try await Program.run(["hash", "--each", row.name], in: folder.url)
      #expect(run.status == 0 && !run.said.contains("damage"), "\(run.status) \(run.said)")
      #expect(try Self.times(in: run.text) == times)
    }
    for line in row.lines {
      let command = line.command.replacingOccurrences(of: "{}", with: row.name)
      let run = try await Program.shell("rm -f out.*; h26x \(command)", in: folder.url)
      let printed = run.text + run.said
      #expect(run.status == line.status, "\(command): \(run.status) \(printed)")
      for part in line.says { #expect(printed.contains(part), "\(command): \(printed)") }
      if line.status == 1 { #expect(!folder.names.contains { $0.hasPrefix("out.") }, "\(command)") }
    }
  }

  /// The presentation times of a list of hashes, in milliseconds, rounded down.
  private static func times(in list: String) throws -> [Int] {
    let lines = list.split(separator: "\n")
    let base = try #require(lines.first { $0.hasPrefix("#tb 0: ") }).dropFirst(7).split(separator: "/").map {
      Double($0)
    }
    let tick = 1000 * (base[0] ?? 0) / (base[1] ?? 1)
    return lines.filter { !$0.hasPrefix("#") }.map { line in
      let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      return Int(((Double(fields[2]) ?? -1) * tick + 0.01).rounded(.down))
    }
  }
}
