// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import TestSupport
import Testing

/// Byte streams whose frame rate only --framerate gives, into containers: pictures are shown in the order of their
/// POCs, each at a time of its own.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct RawStreamTests {
  /// Byte streams of undamaged pictures. Those of half a megabyte and more are like others.
  static let files = Vectors.rows.filter { row in
    let values = try? URL(filePath: row.path).resourceValues(forKeys: [.fileSizeKey])
    return row.container.hasPrefix("annexb") && !["error", "svc"].contains(where: row.category.contains)
      && values?.fileSize ?? .max < 500_000
  }.map(\.file)

  private static let hasProbe = FileManager.default.isExecutableFile(atPath: "/usr/bin/ffprobe")

  /// The stream without VUI, so that neither frame rate nor reorder depth are in it.
  static func withoutVUI(_ stream: Data) -> Data {
    let bytes = [UInt8](stream)
    var result = Data()
    var nalUnits = AnnexB.NALUnits(bytes.span)
    while let unit = nalUnits.next() {
      let nalUnit = Array(bytes[unit.range])
      result += [0, 0, 0, 1] + (withoutVUI(nalUnit) ?? nalUnit)
    }
    return result
  }

  /// An SPS of either codec without its VUI; nil for another NAL unit.
  private static func withoutVUI(_ nalUnit: [UInt8]) -> [UInt8]? {
    if nalUnit.first.map({ $0 & 0x9F }) == 7 {
      guard var sps = try? H264.SequenceParameterSet(nalUnit: nalUnit.span) else { return nil }
      sps.vui = nil
      return sps.nalUnit()
    }
    guard nalUnit.first.map({ H265.NALUnitType(headerByte: $0) }) == .sequenceParameterSet,
      var sps = try? H265.SequenceParameterSet(nalUnit: nalUnit.span)
    else { return nil }
    sps.vui = nil
    return sps.nalUnit()
  }

  /// The presentation times of a container's pictures, in half frames of 25 a second from the first.
  private static func halfFrames(_ document: String) throws -> [Double] {
    var times: [Double] = []
    var scale = 0.0
    for line in document.split(separator: "\n") {
      let fields = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      scale = fields["timescale"] as? Double ?? scale
      guard fields["kind"] as? String == "accessUnit" else { continue }
      times.append(try #require(fields["pts"] as? Double) / scale * 50)
    }
    let first = times.min() ?? 0
    return times.map { $0 - first }
  }

  @Test(.enabled(if: !files.isEmpty)) func showsEveryPictureAtItsOwnTime() async throws {
    try await Crowd.each(TestScope.rows(Self.files, usually: 5)) { file in
      let folder = try Folder()
      try folder.write("in", Self.withoutVUI(Data(try Vectors.bytes(file))))
      for suffix in ["mp4", "mkv"] {
        let repacked = try await Program.run(
          ["repack", "in", "-o", "out.\(suffix)", "--framerate", "25"], in: folder.url)
        guard repacked.status == 0 else {
          Issue.record("\(file) → \(suffix): \(repacked.said)")
          continue
        }
        let listed = try await Program.run(["inspect", "--json", "out.\(suffix)"], in: folder.url)
        #expect(!listed.text.contains("\"container-timestamps\""), "\(file) → \(suffix)")
        let times = try Self.halfFrames(listed.text)
        #expect(Set(times.map { $0.rounded() }).count == times.count, "\(file) → \(suffix): \(times)")
        #expect(times.allSatisfy { abs($0 - $0.rounded()) < 0.1 }, "\(file) → \(suffix): \(times)")
        let sorted = times.sorted()
        // Its frame_num jumps by 16 after MMCO 5, and so do its POCs (type 1): a gap in time.
        let hasGap = file.contains("jcodec_seq_mmco_test")
        #expect(
          hasGap || zip(sorted, sorted.dropFirst()).allSatisfy { $1 - $0 < 2.1 }, "\(file) → \(suffix): \(sorted)")
        guard Self.hasProbe else { continue }
        let count = "ffprobe -v quiet -count_frames -select_streams v -show_entries stream=nb_read_frames -of csv=p=0"
        let shown = try await Program.shell("\(count) in && \(count) out.\(suffix)", in: folder.url)
        let counts = shown.text.split(separator: "\n")
        #expect(counts.count == 2 && counts[0] == counts[1], "\(file) → \(suffix): \(shown.text)")
      }
    }
  }
}
