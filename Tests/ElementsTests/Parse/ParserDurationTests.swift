// SPDX-License-Identifier: MPL-2.0
import Foundation
import GStreamer
import HarnessSupport
import Testing

/// How long a raw file lasts: known with the first picture, as players ask for it then.
@Suite(.serialized) struct ParserDurationTests {
  /// A file for the time of a function.
  static func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "parser-duration-\(UUID())").path
    try Data(bytes).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  /// Groups of an IDR picture, ten times as large as the P pictures after it, 25 a second.
  ///
  /// - Parameter size: of the P pictures of the group with this number.
  private static func stream(_ codec: StreamCodec, groups: UInt32, of count: UInt32, size: (UInt32) -> Int) -> [UInt8] {
    var nalUnits: [[UInt8]] = []
    for group in 0..<groups {
      nalUnits += codec.parameterSets(reorder: 0)
      nalUnits.append(codec.picture(.idr, number: 0, order: 0, group: group, size: 10 * size(group)))
      for index in 1..<count {
        nalUnits.append(codec.picture(.p, number: index % 16, order: index, group: group, size: size(group)))
      }
    }
    return RepackStream.annexB(nalUnits)
  }

  static func isNear(_ found: Double?, _ expected: Double, within share: Double) -> Bool {
    guard let found else { return false }
    return abs(found - expected) <= share * expected
  }

  /// The clip lasts two seconds; the file ten times as long. It is exactly known at the end.
  @Test(arguments: StreamCodec.allCases, ["au", "nal"])
  func aFileHasADurationWithItsFirstPicture(_ codec: StreamCodec, _ alignment: String) throws {
    let clip = [UInt8](try Data(contentsOf: URL(filePath: Clip.path("clip.\(codec)"))))
    let pictures = codec.accessUnits(in: clip).count
    let seconds = Double(10 * pictures) / 25
    let average = Double(10 * clip.count * 8) / seconds
    try Self.withFile((0..<10).flatMap { _ in clip }) { path in
      let pipeline = try QueriedPipeline(
        "filesrc location=\(path) ! \(codec.element)parse ! \(codec.mediaType),stream-format=byte-stream,alignment=\(alignment)"
      )
      #expect(Self.isNear(pipeline.duration, seconds, within: 0.02), "\(pipeline.duration ?? -1)")
      #expect(Self.isNear(pipeline.seekableEnd, seconds, within: 0.02))
      #expect(pipeline.position.map { $0 < 1 } == true)
      // NAL units overtake the tags, which the base class sends.
      let bitrate = try alignment == "au" ? pipeline.tag("bitrate").map(Double.init) : average
      #expect(Self.isNear(bitrate, average, within: 0.02))
      #expect(try pipeline.finish() == 1)
      #expect(Self.isNear(pipeline.duration, seconds, within: 1e-9), "\(pipeline.duration ?? -1)")
      #expect(Self.isNear(pipeline.position, seconds, within: 0.01))
      #expect(Self.isNear(try pipeline.tag("bitrate").map(Double.init), average, within: 0.02))
    }
  }

  /// The first group shows nothing of what follows: the second half has pictures eight times as large.
  @Test(arguments: StreamCodec.allCases) func estimatesTheDurationFromTheWholeFile(_ codec: StreamCodec) throws {
    let bytes = Self.stream(codec, groups: 12, of: 125) { $0 < 6 ? 2000 : 16_000 }
    try Self.withFile(bytes) { path in
      let pipeline = try QueriedPipeline("filesrc location=\(path) ! \(codec.element)parse")
      // It is larger than the samples.
      #expect(bytes.count > 12 << 20)
      #expect(Self.isNear(pipeline.duration, 60, within: 0.05), "\(pipeline.duration ?? -1)")
      // Half of the time is in the first ninth of the bytes.
      let middle = pipeline.bytes(at: 30)
      #expect(middle.map { $0 < bytes.count / 4 } == true, "\(middle ?? -1)")
      _ = try pipeline.finish()
      #expect(Self.isNear(pipeline.duration, 60, within: 1e-9))
    }
  }

  /// In push mode the rest of the file is not seen: the estimate comes after 50 pictures.
  @Test(arguments: StreamCodec.allCases) func pushModeEstimatesTheDurationAfterFiftyPictures(_ codec: StreamCodec)
    throws
  {
    try Self.withFile(Self.stream(codec, groups: 20, of: 25) { _ in 500 }) { path in
      let pipeline = try QueriedPipeline("filesrc location=\(path) ! queue ! \(codec.element)parse")
      _ = try pipeline.finish()
      #expect(Self.isNear(pipeline.duration, 20, within: 1e-9), "\(pipeline.duration ?? -1)")
      #expect(Self.isNear(pipeline.position, 20, within: 1e-9))
    }
  }

  /// Behind a demuxer its duration holds, and no bytes are converted.
  @Test(arguments: StreamCodec.allCases) func keepsTheDurationOfTheDemuxer(_ codec: StreamCodec) throws {
    let file = Clip.path(codec == .h264 ? "clip.mp4" : "clip-h265.mp4")
    let direct = try QueriedPipeline("filesrc location=\(file) ! qtdemux ! \(codec.mediaType)")
    let parsed = try QueriedPipeline(
      "filesrc location=\(file) ! qtdemux ! \(codec.element)parse ! \(codec.mediaType),stream-format=byte-stream")
    #expect(direct.duration != nil && parsed.duration == direct.duration)
    _ = try parsed.finish()
    #expect(parsed.duration == direct.duration)
    #expect(parsed.bytes(at: 1) == nil)
  }

  /// The pictures are so large that most samples hold none; the file ends in garbage.
  @Test func estimatesTheDurationOfAFileThatEndsInGarbage() throws {
    var bytes = Self.stream(.h264, groups: 4, of: 3) { _ in 1_500_000 }
    bytes += [UInt8](repeating: 0xFF, count: 1000)
    try Self.withFile(bytes) { path in
      let pipeline = try QueriedPipeline("filesrc location=\(path) ! swifth264parse")
      _ = try pipeline.finish()
      #expect(Self.isNear(pipeline.duration, 12.0 / 25, within: 0.01), "\(pipeline.duration ?? -1)")
    }
  }

  /// Whatever the places where samples meet: pictures of one second, with SEI in front, and of any size.
  @Test(arguments: StreamCodec.allCases, [60, 700, 3000, 5000])
  func aShortFileIsKnownExactlyAtOnce(_ codec: StreamCodec, _ size: Int) throws {
    let sei = (codec == .h264 ? [6] : [78, 1]) + [5, 255, 245] + [UInt8](repeating: 0x33, count: 500) + [0x80]
    var nalUnits = codec.parameterSets(reorder: 0)
    for index in 0..<UInt32(25) {
      nalUnits.append(sei)
      nalUnits.append(
        codec.picture(
          index == 0 ? .idr : .p, number: index % 16, order: index, size: index == 0 ? 4 * size : size + Int(index)))
    }
    try Self.withFile(RepackStream.annexB(nalUnits)) { path in
      let pipeline = try QueriedPipeline("filesrc location=\(path) ! \(codec.element)parse")
      #expect(Self.isNear(pipeline.duration, 1, within: 1e-9), "\(pipeline.duration ?? -1)")
      _ = try pipeline.finish()
      #expect(Self.isNear(pipeline.duration, 1, within: 1e-9))
    }
  }

  /// Ten seconds of large pictures: few begin in the samples, unless these are enlarged.
  @Test(arguments: StreamCodec.allCases) func largePicturesAreSampledMore(_ codec: StreamCodec) throws {
    let bytes = Self.stream(codec, groups: 5, of: 50) { _ in 80_000 }
    try Self.withFile(bytes) { path in
      let pipeline = try QueriedPipeline("filesrc location=\(path) ! \(codec.element)parse")
      #expect(Self.isNear(pipeline.duration, 10, within: 0.05), "\(pipeline.duration ?? -1)")
    }
  }
}
