// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import VideoDecoding

@Suite struct VectorTests {
  @Test(
    arguments: Vector.annexB(samples: 12_000_000).filter {
      !$0.file.contains("error") && !$0.file.contains("idr-sps-pps-non-idr")
    })
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
}
