// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import StreamReport
import Testing

@Suite("File formats by their first bytes") struct ContainerFormatTests {
  private func format(_ bytes: [UInt8]) -> ContainerFormat? { ContainerFormat(bytes.span) }

  private func bytes(_ name: String) throws -> [UInt8] { try BytesSource(file: media.appending(path: name)).bytes }

  @Test(
    "Files are recognized by their first bytes",
    arguments: [
      ("clip.mp4", ContainerFormat.mp4), ("clip.mkv", .matroska), ("clip.flv", .flv), ("clip.ts", .mpegTS),
      ("clip-h265.ts", .mpegTS), ("clip.h264", nil), ("clip.h265", nil), ("interlaced.h264", nil), ("wide.h265", nil),
    ])
  func recognizesFilesByTheirFirstBytes(_ name: String, _ expected: ContainerFormat?) throws {
    #expect(format(try bytes(name)) == expected)
  }

  @Test("Transport streams are recognized wherever they are cut, with packets of each size")
  func recognizesTransportStreamsCutAnywhere() throws {
    let whole = try bytes("clip.ts")
    for cut in [0, 1, 4, 77, 187, 188, 200] { #expect(format(Array(whole.dropFirst(cut))) == .mpegTS, "\(cut)") }
    #expect(format([0] + whole) == .mpegTS)
    let packets = stride(from: 0, to: 188 * 40, by: 188).map { Array(whole[$0..<$0 + 188]) }
    #expect(format(packets.flatMap { [0, 1, 2, 3] + $0 }) == .mpegTS)
    #expect(format(packets.flatMap { $0 + [UInt8](repeating: 9, count: 16) }) == .mpegTS)
    #expect(format(packets.flatMap { $0 + [9] }) == nil)
  }

  @Test(
    "Input of any length is read without a trap",
    arguments: [[0x47], [0, 0, 0, 8], [0x52, 0x49, 0x46, 0x46], [0, 0, 0, 1]] as [[UInt8]])
  func inputOfAnyLengthNeverTraps(_ start: [UInt8]) {
    var bytes = start
    while bytes.count < 420 {
      _ = format(bytes)
      bytes.append(0x47)
    }
    #expect(format([]) == nil)
  }

  @Test("Boxes that an MP4 may begin with", arguments: ["ftyp", "moov", "uuid", "sidx", "free"])
  func acceptsBoxesThatAnMP4MayBeginWith(_ type: String) {
    #expect(format([0, 0, 0, 16] + Array(type.utf8) + [0, 0, 0, 0]) == .mp4)
    #expect(format([0, 0, 0, 7] + Array(type.utf8) + [0, 0, 0, 0]) == nil)
  }
}
