// SPDX-License-Identifier: MPL-2.0
import Glibc
import H26x
import HardwareSupport
import TestSupport
import Testing

@testable import VideoDecoding

/// The vectors on a device, or, with the reason in `Records/vectors.tsv`, in software. `HARDWARE_VECTORS=all` decodes the
/// long ones, too. Those in containers are decoded by the elements, see `HardwareContainerTests` in `ElementsTests`.
@Suite(.enabled(if: VADriver.folder != nil && Vectors.isAvailable), .serialized)
struct HardwareVectorTests {
  private static let records = RecordFile("vectors.tsv")

  private static let vectors: [Vector] = {
    let isWhole = unsafe getenv("HARDWARE_VECTORS").map { unsafe strcmp($0, "all") == 0 } ?? false
    return Vector.ofBothCodecs.filter { $0.container == "annexb" && (isWhole || $0.samples <= 3_000_000) }
  }()

  @Test(arguments: TestScope.rows(vectors, usually: 16))
  func decodesAsSoftwareDoes(_ vector: Vector) throws {
    guard let stream = try? CodedStream(String(vector.file.drop { $0 != "/" }.dropFirst())) else {
      return try Self.records.expect(vector.file, ["no parameter sets"])
    }
    let expected = try stream.softwareRun()
    let driver = try VADriver([stream])
    let session = try driver.session(stream)
    let run = try session.run(stream)
    #expect(run.checksums == expected.checksums)
    #expect(run.frames.map(\.isCorrupt) == expected.frames.map(\.isCorrupt))
    #expect(run.tags.sorted() == expected.tags.sorted())
    let reason = session.takeFallBackReason()?.replacing(driver.display, with: "DISPLAY")
    #expect((reason == nil) == (session.statistics.softwareFallbacks == 0))
    try Self.records.expect(
      vector.file,
      [
        "\(run.frames.count) pictures", "\(driver.share(of: session)) on the device", reason ?? "-",
      ])
  }
}
