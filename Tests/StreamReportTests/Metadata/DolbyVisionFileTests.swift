// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import StreamReport

@Suite struct DolbyVisionFileTests {
  private static let entry = [0, 0, 0, 1] + MetadataNALUnits.rpu.dropFirst(2)
  private static let nothing: [UInt8] = [0, 0, 0, 1]

  /// Zeros may be between RPUs.
  @Test func findsEachRPU() throws {
    for bytes in [
      Self.entry + Self.entry, [0] + Self.entry + [0, 0] + Self.entry + [0, 0, 0],
      [UInt8](repeating: 0, count: 3 << 20) + Self.entry + Self.entry,
    ] {
      let file = try DolbyVisionFile(BytesSource(bytes))
      #expect(file.count == 2)
      for picture in 0..<2 {
        let range = try #require(file[picture])
        #expect(bytes[Int(range.lowerBound)..<Int(range.upperBound)] == Self.entry[4...])
      }
    }
  }

  /// Without it, all later RPUs would be of the picture in front of theirs.
  @Test func refusesAnEntryWithoutBytes() throws {
    let size = Self.entry.count
    let front = (0..<300_000 / size).flatMap { _ in Self.entry }
    let cases: [(bytes: [UInt8], picture: Int, offset: Int)] = [
      (Self.nothing + Self.entry, 0, 4), ([0, 0, 1] + Self.entry, 0, 3),
      (Self.entry + Self.nothing + Self.entry, 1, size + 4), (Self.entry + Self.entry + Self.nothing, 2, 2 * size + 4),
      (Self.entry + [0, 0] + Self.nothing + [0, 0] + Self.entry, 1, size + 6),
      // Behind more bytes than are read at a time.
      (front + Self.nothing + Self.entry, front.count / size, front.count + 4),
    ]
    for (bytes, picture, offset) in cases {
      do throws(MetadataFileError) {
        _ = try DolbyVisionFile(BytesSource(bytes))
        Issue.record("no error for \(picture)")
      } catch {
        #expect(error.place == .offset(UInt64(offset)) && error.picture == picture)
        #expect(String(decoding: error.found.bytes, as: UTF8.self) == "nothing behind the start code")
      }
    }
  }
}
