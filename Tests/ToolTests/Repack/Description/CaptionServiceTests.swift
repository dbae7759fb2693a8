// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import StreamReport
import TestSupport
import Testing

@testable import Containers

/// The caption services in the program map of a transport stream.
@Suite(.enabled(if: Program.isBuilt)) struct CaptionServiceTests {
  /// Field 1 in English, service 1 in Spanish, and one without a language.
  private static let services: [UInt8] =
    [0xE3] + Array("eng".utf8) + [0x7E, 0x3F, 0xFF] + Array("spa".utf8) + [0xC1, 0x3F, 0xFF, 0, 0, 0, 0xC2, 0x3F, 0xFF]
  private static let descriptor = Data([0x86, 19] + services)
  private static let loss =
    "left behind: caption services in the program map (field 1 in eng, service 1 in spa, service 2)\n"

  /// A transport stream of pictures with captions, whose program map has the services.
  ///
  /// - Parameter size: of a packet.
  private static func make(_ name: String, size: Int = 188, in folder: Folder) async throws {
    let block = CaptionPacket.ServiceBlock(number: 1, data: [0x41, 0x42])
    let bytes = try CaptionPacket(sequenceNumber: 0, serviceBlocks: [block]).bytes()
    var triplets = [CaptionTriplet(.field1, 0x94, 0x20)]
    for start in stride(from: 0, to: bytes.count, by: 2) {
      triplets.append(CaptionTriplet(start == 0 ? .packetStart : .packetData, bytes[start], bytes[start + 1]))
    }
    let captions = try AddedMetadata.captions(triplets)
    try folder.write("plain.h265", try AddedMetadata.clip(front: { _ in [captions] }))
    let run = try await Program.run(["repack", "plain.h265", "-o", "plain.ts"], in: folder.url)
    try #require(run.status == 0, "\(run.said)")
    var maps = try #require(ProgramMapRewriter(nil, captions: services))
    let plain = [UInt8](try #require(folder.bytes("plain.ts")))
    let stream = maps.rewrite(plain.span) + maps.finish()
    try #require(maps.hasCaptionServices && stream.count.isMultiple(of: 188))
    let packets = stride(from: 0, to: stream.count, by: 188).map { Data(stream[$0..<$0 + 188]) }
    // A time is in front of the packet in 192 bytes, and parity behind it in 204.
    let (front, behind) = (Data(count: size == 192 ? 4 : 0), Data(count: size == 204 ? 16 : 0))
    try folder.write(name, Data(packets.map { front + $0 + behind }.joined()))
  }

  @Test(arguments: TestScope.rows([192, 188, 204], usually: 1)) func infoNamesTheirLanguages(size: Int) async throws {
    let folder = try Folder()
    try await Self.make("in.ts", size: size, in: folder)
    let json = try await Program.run(["info", "--json", "in.ts"], in: folder.url)
    #expect(json.text.contains("\"eng\"") && json.text.contains("\"spa\""), "\(json.text)\(json.said)")
    let plain = try await Program.run(["info", "--json", "plain.ts"], in: folder.url)
    #expect(plain.text.contains("CC1") && !plain.text.contains("\"eng\""), "\(plain.text)")
    let piped = try await Program.shell("cat in.ts | h26x info --json -", in: folder.url)
    #expect(piped.text.contains("\"eng\"") && piped.text.contains("\"spa\""), "\(piped.text)\(piped.said)")
  }

  @Test func transportStreamsKeepThem() async throws {
    let folder = try Folder()
    try await Self.make("in.ts", in: folder)
    for line in [
      "repack in.ts -o out.ts", "cut in.ts -o out.ts --start 1", "edit in.ts -o out.ts --remove hdr10",
      "join in.ts in.ts -o out.ts", "edit in.ts -o out.ts --remove captions",
    ] {
      let run = try await Program.shell("h26x \(line)", in: folder.url)
      #expect(run.status == 0 && !run.said.contains("caption services"), "\(line): \(run.said)")
      let isKept = folder.bytes("out.ts")?.range(of: Self.descriptor) != nil
      #expect(isKept == !line.contains("--remove captions"), "\(line)")
      try FileManager.default.removeItem(at: folder.url.appending(path: "out.ts"))
    }
    let piped = try await Program.shell("cat in.ts | h26x repack - -o - --format ts > piped.ts", in: folder.url)
    #expect(piped.status == 0 && folder.bytes("piped.ts")?.range(of: Self.descriptor) != nil, "\(piped.said)")
  }

  @Test func othersListThem() async throws {
    let folder = try Folder()
    try await Self.make("in.ts", in: folder)
    for target in ["out.mp4", "out.mkv", "out.h265"] {
      let run = try await Program.run(["repack", "in.ts", "-o", target], in: folder.url)
      #expect(run.status == 0 && run.said.contains(Self.loss), "\(run.said)")
    }
    let removed = try await Program.run(["edit", "in.ts", "-o", "none.mp4", "--remove", "captions"], in: folder.url)
    #expect(removed.status == 0 && !removed.said.contains("caption services"), "\(removed.said)")
    // Of a file behind another one.
    let joined = try await Program.run(["join", "plain.ts", "in.ts", "-o", "joined.ts"], in: folder.url)
    #expect(joined.status == 0 && joined.said.contains("in.ts: caption services in the program map"), "\(joined.said)")
    // A playlist has the languages.
    let playlist = try await Program.run(["repack", "in.ts", "-o", "list.m3u8"], in: folder.url)
    let text = String(decoding: folder.bytes("list.m3u8") ?? Data(), as: UTF8.self)
    #expect(playlist.status == 0 && !playlist.said.contains("caption services"), "\(playlist.said)")
    let lines = text.split(separator: "\n").filter { $0.contains("CLOSED-CAPTIONS,") }
    #expect(lines.contains { $0.contains("\"CC1\"") && $0.contains("LANGUAGE=\"en\"") }, "\(text)")
    #expect(lines.contains { $0.contains("\"SERVICE1\"") && $0.contains("LANGUAGE=\"es\"") }, "\(text)")
  }

  /// Entries that are missing, and a number of services that is too large.
  @Test(arguments: [[], [0xE0], [0xFF], [0xE1, 0x65], [0xE1, 0x65, 0x6E, 0x67, 0x7E, 0x3F]] as [[UInt8]])
  func readsDescriptorsThatEndEarly(content: [UInt8]) {
    let descriptor = CaptionServiceDescriptor(content: content)
    #expect(descriptor.services.services.isEmpty && descriptor.summary == "caption services in the program map")
  }
}
