// SPDX-License-Identifier: MPL-2.0
import Foundation
import GStreamer
import HarnessSupport
import Testing

/// Seeks in a byte stream that is played, so that each interrupts a push: every picture keeps its time.
@Suite(.serialized) struct ParserSeekTests {
  /// Groups of I P B B P B B P B B, 25 pictures a second, each picture of its own size.
  private static func stream(_ codec: StreamCodec, groups: UInt32) -> [UInt8] {
    var nalUnits: [[UInt8]] = []
    for group in 0..<groups {
      let size = { (index: UInt32) in 300 + Int(group) * 11 + Int(index) }
      nalUnits += codec.parameterSets(reorder: 1)
      nalUnits.append(codec.picture(.idr, number: 0, order: 0, group: group, size: size(0)))
      for third in UInt32(0)..<3 {
        let first = third * 3 + 1
        nalUnits += [
          codec.picture(.p, number: third + 1, order: first + 2, size: size(first)),
          codec.picture(.b, number: third + 2, order: first, size: size(first + 1)),
          codec.picture(.b, number: third + 2, order: first + 1, size: size(first + 2)),
        ]
      }
    }
    return RepackStream.annexB(nalUnits)
  }

  private static func isSlice(_ content: [UInt8]) -> Bool {
    let start = content.starts(with: [0, 0, 0, 1]) ? 4 : 3
    return content.count > 100 && start < content.count
  }

  @Test(arguments: StreamCodec.allCases, ["au", "nal"])
  func everyPictureKeepsItsTime(_ codec: StreamCodec, _ alignment: String) throws {
    _ = try Harness.parse()
    let path = FileManager.default.temporaryDirectory.appending(path: "parser-seek-\(UUID()).\(codec)").path
    try Data(Self.stream(codec, groups: 40)).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let elements = "\(codec.element)parse ! \(codec.mediaType),stream-format=byte-stream,alignment=\(alignment)"
    let whole = try FileRecording(of: path, elements)
    var times: [[UInt8]: Buffer.Attributes] = [:]
    for entry in whole.entries where !entry.isCaps && Self.isSlice(entry.content) {
      times[entry.content] = entry.attributes
    }
    #expect(times.count == 400)

    let pipeline = try GatedPipeline("filesrc location=\(path) ! \(elements)", admitting: 97)
    _ = try pipeline.wait()
    let seeks: [(time: Int, rate: Double)] = [
      (600, 1), (6000, 1), (6000, 1), (2000, 2), (100, 1), (0, 1), (1200, 0.5), (15_000, 1), (1500, -1), (2500, 1),
      (40, 1), (9000, 1), (3000, 1), (0, 1), (900, 1),
    ]
    for (index, seek) in seeks.enumerated() {
      try pipeline.seek(to: seek.time, rate: seek.rate, admitting: 23 + 17 * index)
      let arrivals = try pipeline.wait().arrivals
      guard seek.rate > 0 else { continue }
      let pictures = arrivals.filter { Self.isSlice($0.content) }
      #expect(pictures.count > 5)
      #expect(pictures.first?.attributes.flags.contains(.deltaUnit) == false)
      // The group of the target, or the last known group before it.
      #expect(pictures.first?.attributes.pts.map { $0.nanoseconds <= UInt64(seek.time + 40) * 1_000_000 } == true)
      var last: ClockTime?
      for picture in pictures {
        let known = times[picture.content]
        #expect(known != nil && picture.attributes.pts == known?.pts, "seek \(index) to \(seek.time)")
        #expect(picture.attributes.dts == known?.dts, "seek \(index) to \(seek.time)")
        if let last, let dts = picture.attributes.dts { #expect(dts >= last) }
        last = picture.attributes.dts
      }
    }
  }
}
