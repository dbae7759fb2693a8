// SPDX-License-Identifier: MPL-2.0
import Foundation
import StreamReport
import TestSupport
import Testing

@testable import Containers

/// Bytes of something else in front of an MPEG transport stream, which is one nevertheless.
@Suite(.enabled(if: Program.isBuilt)) struct JunkInFrontTests {
  /// Bytes by a linear congruential generator.
  private static func noise(_ count: Int) -> [UInt8] {
    var state: UInt32 = 1
    return (0..<count).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(truncatingIfNeeded: state >> 24)
    }
  }

  static let junk: [(name: String, bytes: [UInt8])] = [
    ("ones", [UInt8](repeating: 0xFF, count: 188)), ("zeros", [UInt8](repeating: 0, count: 300)),
    ("spaces", [UInt8](repeating: 0x20, count: 1000)), ("some noise", noise(300)), ("much noise", noise(50_000)),
  ]

  private static func clip(_ suffix: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: Program.media.appending(path: "clip.\(suffix)")))
  }

  /// The stream in packets of another size: with a timestamp in front of each, or parity bytes behind it.
  private static func packets(_ stream: [UInt8], of size: Int) -> [UInt8] {
    let front = [UInt8](repeating: 0, count: size == 192 ? 4 : 0)
    let back = [UInt8](repeating: 0x55, count: size == 204 ? 16 : 0)
    return stride(from: 0, to: stream.count, by: 188).flatMap { front + stream[$0..<$0 + 188] + back }
  }

  @Test(arguments: TestScope.rows([188, 192, 204], usually: 1)) func skipsBytesInFrontOfTheFirstPacket(size: Int)
    async throws
  {
    let folder = try Folder()
    let stream = Self.packets(try Self.clip("ts"), of: size)
    let expected = try await Program.run(["hash", Program.media.appending(path: "clip.ts").path], in: folder.url)
    for junk in Self.junk {
      try folder.write("in.ts", Data(junk.bytes + stream))
      let info = try await Program.run(["info", "in.ts"], in: folder.url)
      #expect(info.text.contains("Container           MPEG-TS"), "\(junk.name): \(info.text)\(info.said)")
      for line in ["h26x hash in.ts", "cat in.ts | h26x hash -"] {
        // Of a pipe, only the first bytes are looked at.
        guard junk.bytes.count < 2000 || !line.hasPrefix("cat") else { continue }
        let run = try await Program.shell(line, in: folder.url)
        #expect(run.output == expected.output, "\(junk.name), \(line): \(run.said)")
      }
    }
  }

  /// A byte stream stays one, whatever is in it.
  @Test func recognizesByteStreamsThatContainPackets() throws {
    let stream = try Self.clip("h264")
    let packet: [UInt8] = [0x47, 0x1F, 0xFF, 0x10] + [UInt8](repeating: 0x33, count: 184)
    let packets = (0..<20).flatMap { _ in packet }
    let ones = [UInt8](repeating: 0xFF, count: 300)
    for bytes in [
      stream,
      // In a NAL unit of filler data.
      [0, 0, 0, 1, 0x0C] + ones + packets + stream,
      // No header of a packet.
      ones + [UInt8](repeating: 0x47, count: 5000) + stream,
    ] {
      let kind = InputFile.Kind(bytes)
      if case .byteStream = kind { continue }
      Issue.record("\(kind)")
    }
    #expect(InputFile.Kind([UInt8](repeating: 0x20, count: 300) + packets) == .container(.mpegTS))
    #expect(TransportStream.Packets(in: Self.noise(3000) + packets) == TransportStream.Packets(first: 3000, size: 188))
  }

  /// Which of several programs there are is known too.
  @Test func findsProgrammesBehindOtherBytes() throws {
    let stream = try Self.clip("ts")
    let expected = TransportStream.programs(in: stream)
    #expect(!expected.isEmpty && TransportStream.programs(in: Self.noise(1000) + stream) == expected)
  }
}
