// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Glibc
import Testing

@testable import VideoDecoding

/// Undamaged streams come out undamaged, whatever the threads do, the same every time. `VECTOR_REPEATS` says how often
/// to look; many times is for streams of fields, of which libavcodec with frame threads now and then reports slices as
/// missing that are not.
@Suite(.enabled(if: Vector.folder != nil)) struct UndamagedTests {
  static let repeats = unsafe getenv("VECTOR_REPEATS").flatMap { unsafe Int(String(cString: $0)) } ?? 2

  static let fields = [
    "FRExt4_Panasonic.avc", "HPCAMAPALQ_BRCM_B.264", "HPCVFL_BRCM_A.264", "HPCAFL_BRCM_C.264", "freh11.264",
    "cros_test-25fps-interlaced.h264", "ydt_demo_10_frames_cavlc_and_interlace.h264", "Freh12_B.264", "Freh2_B.264",
  ].filter { Vector.named($0) != nil }

  static let frames = ["HCAFR1_HHI.264", "MR1_BT_A.h264", "HCAMFF1_HHI.264", "CI1_FT_B.264", "NRF_MW_E.264"]
    .filter { Vector.named($0) != nil }

  @Test(arguments: fields + frames) func nothingIsFlagged(_ name: String) throws {
    let units = accessUnits(Vector.named(name)?.bytes ?? [])
    let first = try decodeAll(units, .with { $0.threadType = .none })
    #expect(first.md5 == Vector.named(name)?.md5)
    let expected = first.checksums
    for round in 0..<(Self.fields.contains(name) ? Self.repeats : 2) {
      let session = try makeSession(units)
      var run = Run()
      try session.run(units, into: &run)
      #expect(run.checksums == expected, "round \(round)")
      #expect(run.frames.filter(\.isCorrupt).map(\.tag) == [], "round \(round)")
      #expect(session.statistics.corrupted == 0 && session.statistics.concealed == 0, "round \(round)")
    }
  }
}
