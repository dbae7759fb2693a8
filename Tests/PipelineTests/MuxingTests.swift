// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// Byte streams of fields and of interlaced frames, into containers and out again.
@Suite(
  .enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)),
  .enabled(if: !Vector.interlaced.isEmpty, Comment(rawValue: Vector.missing)))
struct MuxingTests {
  @Test(
    arguments: TestScope.rows(Vector.interlaced.map(\.name), usually: 3), [("mp4mux", "mp4"), ("matroskamux", "mkv")])
  func keepsTimesOfFields(name: String, muxer: (element: String, container: String)) async throws {
    let vector = try #require(Vector.interlaced.first { $0.name == name })
    let scratch = try Scratch()
    let muxed = try await Command.launch(
      """
      filesrc location=\(vector.path) ! swifth264parse framerate=25/1 ! \(muxer.element) \
      ! filesink location=\(scratch.path("muxed"))
      """)
    #expect(muxed.status == 0 && muxed.busError == nil, "\(muxed)")
    let source = source(scratch.path("muxed"), container: muxer.container)
    let decoded = try await Command.launch("\(source) ! swifth264parse ! swifth264dec ! videocodectestsink")
    #expect(decoded.pictureChecksum == vector.checksum, "\(decoded)")

    let listed = try await Command.launch("-v \(source) ! identity silent=false ! fakesink")
    let times = listed.output.matches(of: /pts: 0:00:([0-9]+)\.([0-9]{3})/).compactMap { match in
      Int(match.1).flatMap { seconds in Int(match.2).map { seconds * 1000 + $0 } }
    }
    // A frame lasts 40 ms, a field 20; Matroska's clock ticks in milliseconds. No two at the same time.
    let steps = Set(zip(times.sorted(), times.sorted().dropFirst()).map { $1 - $0 })
    #expect(times.count > 5 && steps.isSubset(of: [19, 20, 21, 39, 40, 41]), "\(steps)")
  }
}

extension Vector {
  /// Field pictures, MBAFF frames, both alternating, and fields without B-frames.
  static let interlaced = [
    "HPCVFL_BRCM_A.264", "HPCAMAPALQ_BRCM_B.264", "FRExt4_Panasonic.avc", "HCAMFF1_HHI.264", "freh6.264",
    "cros_test-25fps-interlaced.h264",
  ].compactMap { name in all.first { $0.name == name } }
}
