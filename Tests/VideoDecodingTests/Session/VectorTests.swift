// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

@Suite(.enabled(if: Vectors.isAvailable)) struct VectorTests {
  @Test(arguments: TestScope.rows(Vector.annexB(samples: 8_000_000), usually: 16))
  func decodesBitExactly(_ vector: Vector) throws {
    let units = accessUnits(vector.bytes)
    let session = try makeSession(units)
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.frames.count == vector.frames)
    #expect(run.md5 == vector.md5)
    #expect(run.results.count == units.count)
    #expect(Set(run.results.map(\.tag)).count == units.count)
    let other = run.results.filter { if case .frame = $0 { false } else { true } }
    if run.md5 != vector.md5 { print(vector.file, run.frames.count, vector.frames, other.prefix(40)) }
  }

  @Test(arguments: ["FRExt3_Panasonic.avc", "MR1_BT_A.h264", "freh11.264"], [NALLengthSize.two, .four])
  func decodesLengthPrefixed(_ name: String, _ size: NALLengthSize) throws {
    let vector = try #require(Vector.named(name))
    let units = accessUnits(vector.bytes)
    let session = try DecompressionSession(
      format: try streamFormat(units, lengthSize: size), configuration: .with { _ in })
    var run = Run()
    try session.run(units.map { lengthPrefixed($0, size) }, into: &run)
    #expect(run.md5 == vector.md5)
    #expect(run.accounts(for: units.count))
  }
}
