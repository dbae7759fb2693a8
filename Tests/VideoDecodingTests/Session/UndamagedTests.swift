// SPDX-License-Identifier: MPL-2.0
import Glibc
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// Pictures of undamaged streams are never flagged, and are the same in every run: libavcodec with frame threads
/// sometimes reports slices of fields as missing that are not.
///
/// `VECTOR_REPEATS` sets the number of runs of every vector of both codecs; without it a few streams have two runs.
@Suite(.enabled(if: Vectors.isAvailable), .serialized) struct UndamagedTests {
  static let repeats = unsafe getenv("VECTOR_REPEATS").flatMap { unsafe Int(String(cString: $0)) }

  static let few: Set = [
    "h264/FRExt4_Panasonic.avc", "h264/HPCAMAPALQ_BRCM_B.264", "h264/HPCVFL_BRCM_A.264", "h264/HPCAFL_BRCM_C.264",
    "h264/freh11.264", "h264/cros_test-25fps-interlaced.h264", "h264/ydt_demo_10_frames_cavlc_and_interlace.h264",
    "h264/Freh12_B.264", "h264/Freh2_B.264", "h264/HCAFR1_HHI.264", "h264/MR1_BT_A.h264", "h264/HCAMFF1_HHI.264",
    "h264/CI1_FT_B.264", "h264/NRF_MW_E.264", "h265/g2b_tiles.h265",
  ]

  static let vectors = repeats == nil ? Vector.undamaged.filter { few.contains($0.file) } : Vector.undamaged

  @Test(arguments: TestScope.rows(vectors, usually: 5)) func undamagedPicturesAreNotFlagged(_ vector: Vector)
    async throws
  {
    var accessUnits: [AccessUnit] = []
    for await accessUnit in AccessUnits(of: vector.bytes, codec: vector.codec) { accessUnits.append(accessUnit) }
    let alone = try await Outcome(of: accessUnits, .with { $0.threadType = .none })
    #expect(alone.md5 == vector.md5)
    for round in 0..<(Self.repeats ?? 2) {
      let outcome = try await Outcome(of: accessUnits, SessionConfiguration())
      #expect(outcome.pictures == alone.pictures, "round \(round)")
      #expect(outcome.flagged == [], "round \(round)")
      #expect(outcome.statistics.corrupted == 0 && outcome.statistics.concealed == 0, "round \(round)")
    }
    if let repeats = Self.repeats { print("\(vector.file): \(alone.pictures.count) pictures, \(repeats) times") }
  }

  /// The pictures of a stream.
  struct Outcome {
    /// Each picture's tag and fingerprint, in order of output.
    var pictures: [String] = []
    var flagged: [UInt64] = []
    var md5 = ""
    var statistics = SessionStatistics()

    init(of accessUnits: [AccessUnit], _ configuration: SessionConfiguration) async throws {
      var pictures = DecodedPictures(of: Stream(accessUnits), configuration: configuration).makeAsyncIterator()
      var checksum = MD5()
      while let picture = try await pictures.next() {
        self.pictures.append("\(picture.tag) \(picture.fingerprint)")
        if picture.isCorrupt { flagged.append(picture.tag) }
        if configuration.threadType == .none { picture.hash(into: &checksum) }
      }
      md5 = checksum.finish()
      statistics = pictures.statistics
    }
  }

  /// An asynchronous sequence of access units in memory.
  struct Stream: AsyncSequence, AsyncIteratorProtocol {
    var rest: ArraySlice<AccessUnit>

    init(_ accessUnits: [AccessUnit]) { rest = accessUnits[...] }
    func makeAsyncIterator() -> Stream { self }
    mutating func next() async -> AccessUnit? { rest.popFirst() }
  }
}
