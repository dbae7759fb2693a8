// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// What is not H.264, or only part of it: one clear error on the bus and an end, never a hang or a crash.
@Suite(.enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct BadInputTests {
  static let chains = [
    "swifth264parse ! fakesink", "swifth264parse ! swifth264dec ! fakesink",
    "swifth264parse ! swifth264repack ! video/x-h264,stream-format=avc ! swifth264dec ! fakesink",
  ]
  private static let clip = (try? Data(contentsOf: PluginUnderTest.media.appending(path: "clip.h264"))) ?? Data()

  /// The clip's NAL units, start codes included, without those of the given types.
  private static func clip(without types: Set<UInt8>) -> Data {
    let bytes = [UInt8](clip)
    var starts: [Int] = []
    var index = 0
    while index + 3 < bytes.count {
      if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
        starts.append(index)
        index += 3
      } else {
        index += 1
      }
    }
    var kept = Data()
    for (start, end) in zip(starts, starts.dropFirst() + [bytes.count])
    where !types.contains(bytes[start + 3] & 0x1f) {
      kept += bytes[start..<end]
    }
    return kept
  }

  static let unusable: [(name: String, bytes: Data)] = {
    var random = SystemRandomNumberGenerator()
    return [
      ("empty", Data()),
      ("one byte", Data([0])),
      ("a start code alone", Data([0, 0, 0, 1])),
      ("zeros", Data(count: 100_000)),
      ("text", Data(String(repeating: "This is not a video. ", count: 5000).utf8)),
      ("random bytes", Data((0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) })),
      ("PNG", Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]) + Data(repeating: 90, count: 9000)),
      ("no SPS", clip(without: [7])),
      ("parameter sets only", clip(without: [1, 5])),
    ]
  }()

  /// The base class shows us nothing of an empty file: its own words are that there were no valid frames.
  @Test func anEmptyFileIsCalledEmpty() async throws {
    let scratch = try Scratch()
    let file = try scratch.file("input.h264", Data())
    let run = try await Command.launch("filesrc location=\(file) ! swifth264parse ! fakesink", seconds: 20)
    #expect(run.busError?.contains("no picture found in 0 bytes") == true, "\(run)")
  }

  @Test(arguments: unusable.map(\.name), chains)
  func endsWithAClearError(name: String, chain: String) async throws {
    let scratch = try Scratch()
    let bytes = try #require(Self.unusable.first { $0.name == name }).bytes
    let file = try scratch.file("input.h264", bytes)
    let run = try await Command.launch("filesrc location=\(file) ! \(chain)", seconds: 20)
    #expect(run.endedByItself, "\(run)")
    #expect(run.status != 0, "\(run)")
    #expect(run.busError != nil, "\(run)")
    #expect(!run.output.contains("CRITICAL"), "\(run)")
  }

  /// What is cut off decodes as far as it goes.
  @Test(arguments: [100, 1000, 5000, 20_000, 60_000], chains)
  func endsWhereTheFileEnds(length: Int, chain: String) async throws {
    let scratch = try Scratch()
    let file = try scratch.file("input.h264", Self.clip.prefix(length))
    let run = try await Command.launch("filesrc location=\(file) ! \(chain)", seconds: 20)
    #expect(run.endedByItself, "\(run)")
    #expect(!run.output.contains("CRITICAL"), "\(run)")
  }

  @Test func decodesWhatPrecedesTheCut() async throws {
    let scratch = try Scratch()
    let file = try scratch.file("input.h264", Self.clip.prefix(40_000))
    let run = try await Command.launch(
      """
      filesrc location=\(file) ! swifth264parse ! swifth264dec \
      ! videocodectestsink location=\(scratch.path("pictures"))
      """)
    let size = try FileManager.default.attributesOfItem(atPath: scratch.path("pictures"))[.size] as? Int ?? 0
    #expect(size / (320 * 180 * 3 / 2) > 30, "\(run)")
  }
}
