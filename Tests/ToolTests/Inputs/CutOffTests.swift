// SPDX-License-Identifier: MPL-2.0
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Containers

/// Files whose end is missing.
@Suite(.enabled(if: Program.isBuilt)) struct CutOffTests {
  private static func clip(_ name: String) throws -> Data {
    try Data(contentsOf: Program.media.appending(path: name))
  }

  @Test(arguments: TestScope.rows(["clip.mkv", "clip-h265.mkv", "clip.flv", "clip.ts", "clip-h265.ts"], usually: 3))
  func reportsFilesThatAreCutOff(name: String) async throws {
    let folder = try Folder()
    let whole = try Self.clip(name)
    for count in [30_001, whole.count - 100] {
      try folder.write("cut", whole.prefix(count))
      let hash = try await Program.run(["hash", "cut"], in: folder.url)
      #expect(hash.status == 0 && hash.said.contains("the file is cut off"), "\(count): \(hash.said)")
      let strict = try await Program.run(["hash", "--strict", "cut"], in: folder.url)
      #expect(strict.status == 2, "\(count): \(strict.said)")
      let decode = try await Program.run(["decode", "cut", "-o", "out.yuv", "--force"], in: folder.url)
      #expect(decode.status == 0 && decode.said.contains("the file is cut off"), "\(count): \(decode.said)")
      let check = try await Program.run(["check", "cut"], in: folder.url)
      #expect(check.status == 2 && check.text.contains("a file that is cut off"), "\(check.text)")
      let json = try await Program.run(["check", "--json", "cut"], in: folder.url)
      // The error that the summary counts has a line of its own, as every other.
      #expect(json.status == 2 && json.text.contains(#""rule":"truncated""#), "\(json.text)")
    }
    try folder.write("whole", whole)
    for command in ["hash", "check"] {
      let run = try await Program.run([command, "whole"], in: folder.url)
      #expect(run.status == 0 && !(run.text + run.said).contains("cut off"), "\(command): \(run.text)\(run.said)")
    }
  }

  /// libavformat calls that an input/output error.
  @Test(arguments: ["info", "check", "hash"]) func reportsMatroskaThatEndsInItsHeader(command: String) async throws {
    let folder = try Folder()
    try folder.write("in.mkv", Self.clip("clip.mkv").prefix(200))
    let run = try await Program.run([command, "in.mkv"], in: folder.url)
    #expect(run.status == 1 && run.said.contains("Matroska that is cut off or damaged"), "\(run.said)")
  }

  private func isCutOff(_ bytes: Data) throws -> Bool {
    let folder = try Folder()
    try folder.write("in", bytes)
    return try InputFile(FilePath(folder.url.appending(path: "in").path)).isCutOff
  }

  /// A segment of unknown size ends anywhere, and one may be followed by other elements.
  @Test func acceptsSegmentsOfUnknownSize() throws {
    let whole = try Self.clip("clip.mkv")
    let segment = try #require(whole.range(of: Data([0x18, 0x53, 0x80, 0x67]))).upperBound
    let length = whole[segment].leadingZeroBitCount + 1
    var live = whole
    live[segment] = UInt8(0xFF >> (length - 1))
    for place in segment + 1..<segment + length { live[place] = 0xFF }
    #expect(try !isCutOff(live.dropLast(1000)))
    #expect(try isCutOff(whole.dropLast(1)))
    #expect(try !isCutOff(whole + [0xEC, 0x81, 0]))
  }

  /// The number behind the last tag is wrong in files of some writers, and then the tags count.
  @Test func acceptsWrongSizesBehindFlashTags() throws {
    let whole = try Self.clip("clip.flv")
    #expect(try !isCutOff(whole.dropLast(4) + [0, 0, 0, 0]))
    #expect(try !isCutOff(whole.dropLast(4)))
    #expect(try isCutOff(whole.dropLast(5)))
    #expect(try !isCutOff(whole + [1, 2, 3]))
  }

  /// Bytes that belong to no packet are somewhere in the file, or behind the last packet.
  @Test func acceptsGarbageAroundTransportPackets() throws {
    let whole = try Self.clip("clip.ts")
    let middle = 188 * 200
    #expect(try !isCutOff(whole.prefix(middle) + Data(repeating: 0x33, count: 37) + whole.dropFirst(middle)))
    #expect(try isCutOff(whole.prefix(middle) + Data(repeating: 0x33, count: 37) + whole.dropFirst(middle).dropLast(1)))
    #expect(try !isCutOff(Data(repeating: 0xFF, count: 300) + whole))
    #expect(try !isCutOff(whole + Data(repeating: 0, count: 50)))
    #expect(try !isCutOff(whole.dropLast(188)))
    #expect(try isCutOff(whole.dropLast(187)))
  }
}
