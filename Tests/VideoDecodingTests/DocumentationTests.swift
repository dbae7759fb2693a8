// SPDX-License-Identifier: MPL-2.0
import TestSupport
import Testing
import VideoDecoding

@Suite struct DocumentationTests {
  @Test func exampleIsTheOneThatIsTested() throws {
    let components: [Substring] = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let folder = components.joined(separator: "/")
    let tested = try lines("\(folder)/DocumentationExample.swift")
    let documented = try lines("\(folder)/../../Sources/VideoDecoding/Session/DecompressionSession.swift")
      .filter { $0.hasPrefix("///") }.map { $0.dropFirst(4) }
    let begin = try #require(tested.firstIndex { $0 == "// BEGIN" })
    let end = try #require(tested.firstIndex { $0 == "// END" })
    let first = try #require(documented.firstIndex { $0 == "```swift" })
    let last = try #require(documented[(first + 1)...].firstIndex { $0 == "```" })
    #expect(tested[(begin + 1)..<end] == documented[(first + 1)..<last])
  }

  @Test(.enabled(if: Vectors.isAvailable), arguments: ["FRExt3_Panasonic.avc", "SVA_Base_B.264", "MR1_BT_A.h264"])
  func exampleDecodes(_ name: String) throws {
    let vector = try #require(Vector.named(name))
    let bytes = vector.bytes
    var (count, isNV12) = (0, true)
    try decode(annexB: bytes.span) { picture in
      count += 1
      isNV12 = isNV12 && picture.pixelFormat == .nv12 && picture.width == vector.width
    }
    #expect(count == vector.frames && isNV12)
  }

  private func lines(_ path: String) throws -> [Substring] {
    let bytes = try #require(readFile(path))
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
  }
}
