// SPDX-License-Identifier: MPL-2.0
import Foundation
import GStreamer
import HarnessSupport
import Testing

/// Seeks in a raw file that is being played, so that each interrupts a push: every picture keeps its time.
@Suite(.serialized) struct ParserSeekTests {
  typealias Stream = ParseStream

  /// Groups of I P B B P B B P B B, 25 pictures a second, each picture of its own size.
  private static func stream(groups: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    for group in 0..<groups {
      let size = { (index: UInt32) in 300 + Int(group) * 11 + Int(index) }
      bytes += Stream.byteStream(
        Stream.spsToOrder(reorder: 1), Stream.ppsToOrder(),
        Stream.slice(2, number: 0, order: 0, idr: true, idrID: group, size: size(0)))
      for third in UInt32(0)..<3 {
        let first = third * 3 + 1
        bytes += Stream.byteStream(
          Stream.slice(0, number: third + 1, order: 2 * (first + 2), size: size(first)),
          Stream.slice(1, number: third + 2, order: 2 * first, reference: 0, size: size(first + 1)),
          Stream.slice(1, number: third + 2, order: 2 * (first + 1), reference: 0, size: size(first + 2)))
      }
    }
    return bytes
  }

  private static func isSlice(_ content: [UInt8]) -> Bool {
    let start = content.starts(with: [0, 0, 0, 1]) ? 4 : 3
    return content.count > 100 && start < content.count
  }

  @Test(arguments: ["au", "nal"]) func everyPictureKeepsItsTime(_ alignment: String) throws {
    _ = try Harness.parse()
    let path = FileManager.default.temporaryDirectory.appending(path: "parser-seek-\(UUID()).h264").path
    try Data(Self.stream(groups: 40)).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let elements = "filesrc location=\(path) ! swifth264parse ! video/x-h264,stream-format=byte-stream,alignment="
    let whole = try FileRecording(
      of: path, "swifth264parse ! video/x-h264,stream-format=byte-stream,alignment=\(alignment)")
    var times: [[UInt8]: Buffer.Attributes] = [:]
    for entry in whole.entries where !entry.isCaps && Self.isSlice(entry.content) {
      times[entry.content] = entry.attributes
    }
    #expect(times.count == 400)

    let pipeline = try GatedPipeline(elements + alignment, admitting: 97)
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
      // The group that it falls into, or the last one that is known before.
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
