// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import H26x
import StreamReport
import SystemPackage
import TestSupport
import Testing

@testable import Containers

/// Containers list the pictures as sync samples that decoding can begin with, and no others (ISO/IEC 14496-12, 8.6.2).
@Suite(.enabled(if: Program.isBuilt && FormatLibrary.isAvailable)) struct SyncSampleTests {
  /// A clip, what is left out of it, and the access units with which decoding can begin.
  struct Source: Sendable, CustomTestStringConvertible {
    let clip: String
    var dropped: Set<UInt8> = []
    /// How many NAL units in front are left out.
    var skipped = 0
    let sync: [Int]

    var testDescription: String { "\(clip) without \(dropped.sorted()) from \(skipped)" }

    func bytes() throws -> Data {
      let bytes = [UInt8](try Data(contentsOf: Program.media.appending(path: clip)))
      var (result, count) = (Data(), 0)
      var nalUnits = AnnexB.NALUnits(bytes.span)
      while let unit = nalUnits.next() {
        let nalUnit = Array(bytes[unit.range])
        let type = clip.contains("265") ? nalUnit[0] >> 1 & 0x3F : nalUnit[0] & 0x1F
        count += 1
        let isSet = clip.contains("265") ? (32...34).contains(type) : type == 7 || type == 8
        if !dropped.contains(type), count > skipped || isSet { result += [0, 0, 0, 1] + nalUnit }
      }
      return result
    }
  }

  static let sources = [
    Source(clip: "clip.h264", sync: [0, 20, 42]),
    // Recovery points that are reached at once.
    Source(clip: "open-gop.h264", sync: [0, 11, 22, 35, 48, 59, 72, 83, 93]),
    // I pictures, of which the stream does not say that decoding can begin there.
    Source(clip: "open-gop.h264", dropped: [6], sync: [0]),
    // The first picture is one of them.
    Source(clip: "open-gop.h264", dropped: [6], skipped: 16, sync: [0]),
    // Recovery points that are reached ten pictures later.
    Source(clip: "intra-refresh.h264", sync: [0]),
    // The same without an IDR picture.
    Source(clip: "intra-refresh.h264", dropped: [5], sync: []),
    Source(clip: "clip.h265", sync: [0, 25, 50]),
    Source(clip: "open-gop.h265", sync: [0, 9, 21, 33, 45]),
  ]

  @Test(arguments: TestScope.rows(sources, usually: 3)) func marksOnlyPicturesThatDecodingCanBeginWith(source: Source)
    async throws
  {
    let folder = try Folder()
    let name = source.clip.contains("265") ? "in.h265" : "in.h264"
    try folder.write(name, try source.bytes())
    // From a byte stream, and from a container whose samples are copied as they are.
    for (input, targets) in [
      (name, ["mp4", "mov", "mkv", "ts", "flv"]), ("out.mp4", ["again.mov", "again.mkv", "again.ts"]),
    ] {
      for target in targets where target != "flv" || name == "in.h264" {
        let out = target.contains(".") ? target : "out.\(target)"
        let run = try await Program.run(["repack", input, "-o", out], in: folder.url)
        #expect(run.status == 0, "\(run.said)")
        let path = folder.url.appending(path: out).path
        #expect(try Self.sync(path) == source.sync, "\(source.testDescription), \(input) to \(out)")
      }
    }
    // Fragments have a flag with each sample.
    let piped = try await Program.shell("h26x repack \(name) -o - --format mp4 | cat > piped.mp4", in: folder.url)
    #expect(piped.status == 0, "\(piped.said)")
    #expect(try Self.sync(folder.url.appending(path: "piped.mp4").path) == source.sync, "\(source.testDescription)")
    // What the flags are about decodes as before.
    var sums: Set<String> = []
    for file in [name, "out.mp4", "piped.mp4"] {
      sums.insert(try await Program.run(["hash", file], in: folder.url).text)
    }
    #expect(sums.count == 1, "\(sums)")
  }

  /// The access units that a container marks.
  private static func sync(_ path: String) throws -> [Int] {
    if path.hasSuffix(".mp4") || path.hasSuffix(".mov") {
      var samples = try MP4.VideoSamples(try InputBytes(try InputFile(FilePath(path))))
      var (sync, count) = ([Int](), 0)
      while let sample = try samples.next() {
        if sample.isSync { sync.append(count) }
        count += 1
      }
      return sync
    }
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    return path.hasSuffix(".ts")
      ? transportSync(bytes) : path.hasSuffix(".flv") ? flashSync(bytes) : matroskaSync(bytes)
  }

  /// `random_access_indicator` of the packets in which PES packets of video begin.
  private static func transportSync(_ bytes: [UInt8]) -> [Int] {
    var (sync, count) = ([Int](), 0)
    for packet in stride(from: 0, to: bytes.count - 187, by: 188) {
      let hasField = bytes[packet + 3] & 0x20 != 0
      let payload = packet + 4 + (hasField ? 1 + Int(bytes[packet + 4]) : 0)
      guard bytes[packet + 1] & 0x40 != 0, payload + 4 <= packet + 188,
        bytes[payload..<payload + 3].elementsEqual([0, 0, 1]), bytes[payload + 3] & 0xF0 == 0xE0
      else { continue }
      if hasField, bytes[packet + 4] > 0, bytes[packet + 5] & 0x40 != 0 { sync.append(count) }
      count += 1
    }
    return sync
  }

  /// The frame type of video tags with NAL units.
  private static func flashSync(_ bytes: [UInt8]) -> [Int] {
    var (sync, count, tag) = ([Int](), 0, 13)
    while tag + 13 <= bytes.count {
      let size = bytes[tag + 1..<tag + 4].reduce(0) { $0 << 8 | Int($1) }
      if bytes[tag] == 9, bytes[tag + 12] == 1 {
        if bytes[tag + 11] >> 4 == 1 { sync.append(count) }
        count += 1
      }
      tag += size + 15
    }
    return sync
  }

  /// The flag of simple blocks; a block in a group is a keyframe without a reference (RFC 9559, 10.2).
  private static func matroskaSync(_ bytes: [UInt8]) -> [Int] {
    var (sync, count) = ([Int](), 0)
    func number(_ place: inout Int, keepsMark: Bool) -> Int {
      guard place < bytes.count else { return 0 }
      let length = bytes[place].leadingZeroBitCount + 1
      var value = keepsMark ? Int(bytes[place]) : Int(bytes[place]) & (0xFF >> length)
      let isUnknown = !keepsMark && bytes[place..<min(place + length, bytes.count)].allSatisfy { $0 == 0xFF }
      for next in 1..<max(length, 1) where place + next < bytes.count { value = value << 8 | Int(bytes[place + next]) }
      place += length
      return isUnknown ? .max : value
    }
    var place = 0
    while place < bytes.count {
      let id = number(&place, keepsMark: true)
      let size = number(&place, keepsMark: false)
      switch id {
      // Segment and Cluster; a group of a block.
      case 0x1853_8067, 0x1F43_B675: continue
      case 0xA3:
        if bytes[place + 3] & 0x80 != 0 { sync.append(count) }
        count += 1
      case 0xA0:
        var (child, hasReference) = (place, false)
        while child < place + size {
          let kind = number(&child, keepsMark: true)
          let length = number(&child, keepsMark: false)
          hasReference = hasReference || kind == 0xFB
          child += length
        }
        if !hasReference { sync.append(count) }
        count += 1
      default: break
      }
      place += size
    }
    return sync
  }
}
