// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Glibc
import Testing

@testable import VideoDecoding

/// Undamaged streams come out undamaged, whatever the threads do, every time. `VECTOR_REPEATS` says how often to look.
@Suite(.enabled(if: Vector.folder != nil)) struct UndamagedTests {
  static let repeats = unsafe getenv("VECTOR_REPEATS").flatMap { unsafe Int(String(cString: $0)) } ?? 2

  /// Streams of fields first of all: with frame threads libavcodec now and then reports slices as missing that are not.
  @Test(arguments: Vector.annexB(samples: repeats > 2 ? 60_000_000 : 10_000_000))
  func nothingIsFlagged(_ vector: Vector) throws {
    let units = accessUnits(vector.bytes)
    for round in 0..<Self.repeats {
      let session = try makeSession(units, .with { $0.threadCount = round % 3 == 2 ? 6 : 0 })
      var run = Run()
      try session.run(units, into: &run)
      #expect(run.md5 == vector.md5 && run.frames.count == vector.frames)
      #expect(run.frames.filter(\.isCorrupt).map(\.tag) == [], "round \(round)")
      #expect(session.statistics.corrupted == 0 && session.statistics.concealed == 0, "round \(round)")
    }
  }
}
