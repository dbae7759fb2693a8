// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Input that is not H.264 or H.265, or truncated: one clear error on the bus and an end, never a hang or a crash.
@Suite(.enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct BadInputTests {
  enum Codec: String, CaseIterable {
    case h264, h265

    var chains: [String] {
      let outOfBand = self == .h264 ? "avc" : "hvc1"
      return [
        "swift\(self)parse ! fakesink", "swift\(self)parse ! swift\(self)dec ! fakesink",
        "swift\(self)parse ! swift\(self)repack ! video/x-\(self),stream-format=\(outOfBand) ! swift\(self)dec ! fakesink",
      ]
    }

    var clip: Data {
      (try? Data(contentsOf: PluginUnderTest.media.appending(path: "clip.\(self)"))) ?? Data()
    }

    /// `nal_unit_type`, by the first byte of the header.
    func type(_ header: UInt8) -> UInt8 { self == .h264 ? header & 0x1F : header >> 1 & 0x3F }
    var sequenceParameterSet: UInt8 { self == .h264 ? 7 : 33 }
    var slices: Set<UInt8> { Set(self == .h264 ? 1...5 : 0...31) }

    /// The clip's NAL units, start codes included, without those of the given types.
    func clip(without types: Set<UInt8>) -> Data {
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
      for (start, end) in zip(starts, starts.dropFirst() + [bytes.count]) where !types.contains(type(bytes[start + 3]))
      {
        kept += bytes[start..<end]
      }
      return kept
    }
  }

  /// A chain of elements of a codec.
  struct Chain: CustomTestStringConvertible {
    let codec: Codec
    let elements: String
    var testDescription: String { elements }

    static let all = Codec.allCases.flatMap { codec in codec.chains.map { Chain(codec: codec, elements: $0) } }
  }

  static let unusable: [(name: String, bytes: @Sendable (Codec) -> Data)] = {
    var random = SystemRandomNumberGenerator()
    let noise = Data((0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) })
    return [
      ("empty", { _ in Data() }),
      ("one byte", { _ in Data([0]) }),
      ("a start code alone", { _ in Data([0, 0, 0, 1]) }),
      ("zeros", { _ in Data(count: 100_000) }),
      ("text", { _ in Data(String(repeating: "This is not a video. ", count: 5000).utf8) }),
      ("random bytes", { _ in noise }),
      (
        "PNG",
        { _ in
          Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]) + Data(repeating: 90, count: 9000)
        }
      ),
      ("no SPS", { $0.clip(without: [$0.sequenceParameterSet]) }),
      ("parameter sets only", { $0.clip(without: $0.slices) }),
    ]
  }()

  /// An empty file does not reach the element: the error is the base class's.
  @Test(arguments: Codec.allCases) func reportsAnEmptyFile(codec: Codec) async throws {
    let scratch = try Scratch()
    let file = try scratch.file("input", Data())
    let run = try await Command.launch("filesrc location=\(file) ! swift\(codec)parse ! fakesink")
    #expect(run.busError?.contains("no picture found in 0 bytes") == true, "\(run)")
  }

  @Test(arguments: unusable.map(\.name), Chain.all)
  func endsWithAClearError(name: String, chain: Chain) async throws {
    let scratch = try Scratch()
    let bytes = try #require(Self.unusable.first { $0.name == name }).bytes(chain.codec)
    let file = try scratch.file("input", bytes)
    let run = try await Command.launch("filesrc location=\(file) ! \(chain.elements)")
    #expect(run.endedByItself, "\(run)")
    #expect(run.status != 0, "\(run)")
    #expect(run.busError != nil, "\(run)")
    #expect(!run.output.contains("CRITICAL"), "\(run)")
  }

  /// A truncated file is decoded up to its end.
  @Test(arguments: [100, 1000, 5000, 20_000, 60_000], Chain.all)
  func endsWithATruncatedFile(length: Int, chain: Chain) async throws {
    let scratch = try Scratch()
    let file = try scratch.file("input", chain.codec.clip.prefix(length))
    let run = try await Command.launch("filesrc location=\(file) ! \(chain.elements)")
    #expect(run.endedByItself, "\(run)")
    #expect(!run.output.contains("CRITICAL"), "\(run)")
  }

  /// Two thirds of the file hold more than thirty pictures.
  @Test(arguments: Codec.allCases) func decodesATruncatedFileUpToItsEnd(codec: Codec) async throws {
    let scratch = try Scratch()
    let clip = codec.clip
    let file = try scratch.file("input", clip.prefix(clip.count * 2 / 3))
    let run = try await Command.launch(
      """
      filesrc location=\(file) ! swift\(codec)parse ! swift\(codec)dec \
      ! videocodectestsink location=\(scratch.path("pictures"))
      """)
    let size = try FileManager.default.attributesOfItem(atPath: scratch.path("pictures"))[.size] as? Int ?? 0
    #expect(size / (320 * 180 * 3 / 2) > 30, "\(run)")
  }
}
