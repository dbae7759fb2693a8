// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import Testing

/// Captions and dynamic metadata, as `h26x check` judges them.
@Suite(.enabled(if: Program.isBuilt)) struct MetadataCheckTests {
  private static let rules: Set = [
    "rpu-crc", "rpu-missing", "rpu-repeated", "rpu-after-end", "hdr10plus-without-st2086", "cc-count", "captions-order",
    "dolby-vision-record",
  ]

  /// The findings of these rules.
  private static func findings(_ file: String, in folder: Folder) async throws -> (names: [String], said: Program) {
    let run = try await Program.run(["check", "--json", file], in: folder.url)
    let names = try run.text.split(separator: "\n").compactMap { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return object?["kind"] as? String == "finding" ? object?["rule"] as? String : nil
    }
    return (names.filter(rules.contains), run)
  }

  @Test func findsDamagedMissingAndRepeatedMetadata() async throws {
    let folder = try Folder()
    let rpu = try AddedMetadata.rpu(profile: 8)
    var damaged = rpu
    damaged[damaged.count - 2] ^= 0x40
    try folder.write("sound.h265", try AddedMetadata.clip(behind: { _ in [rpu] }))
    let faults = ["crc": [damaged], "missing": [], "repeated": [rpu, rpu]]
    for (name, nalUnits) in faults {
      try folder.write("\(name).h265", try AddedMetadata.clip(behind: { $0 == 20 ? nalUnits : [rpu] }))
    }
    #expect(try await Self.findings("sound.h265", in: folder).names.isEmpty)
    for name in faults.keys {
      let (names, run) = try await Self.findings("\(name).h265", in: folder)
      #expect(names == ["rpu-\(name)"] && run.text.contains(#""accessUnit":20,"#), "\(run.text)")
      #expect(run.status == (name == "crc" ? 2 : 0))
    }
    let end: [UInt8] = [36 << 1, 1]
    try folder.write("end.h265", try AddedMetadata.clip(behind: { $0 == 61 ? [end, rpu] : [rpu] }))
    #expect(try await Self.findings("end.h265", in: folder).names == ["rpu-after-end"])
  }

  @Test func comparesTheRecordOfEachContainer() async throws {
    let folder = try Folder()
    let rpu = try AddedMetadata.rpu(profile: 8)
    try folder.write("in.h265", try AddedMetadata.clip(behind: { _ in [rpu] }))
    let made = try await Program.shell("for s in mp4 mkv; do h26x repack in.h265 -o in.$s; done", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    for name in ["in.mp4", "in.mkv"] {
      let (names, run) = try await Self.findings(name, in: folder)
      #expect(names.isEmpty, "\(run.text)\(run.said)")
      // The profile in the upper seven bits, behind the version.
      let record = DolbyVision.Configuration(profile: 8, level: 1, compatibilityID: 2).bytes
      var file = try #require(folder.bytes(name))
      let place = try #require(file.range(of: Data(record)))
      file[place.lowerBound + 2] = 5 << 1
      try folder.write("wrong-\(name)", file)
      let wrong = try await Self.findings("wrong-\(name)", in: folder)
      #expect(wrong.names == ["dolby-vision-record"], "\(wrong.said.text)\(wrong.said.said)")
      #expect(wrong.said.text.contains("8 as in the RPU"), "\(wrong.said.text)")
    }
  }

  @Test(arguments: [false, true]) func findsCaptionsInDecodingOrder(isDecodingOrder: Bool) async throws {
    let folder = try Folder()
    let places = try await AddedMetadata.presentationPlaces(
      Program.media.appending(path: "clip.h265").path, in: folder)
    // Each code is sent with two pictures.
    let captions = try (0..<places.count).map { number in
      let pair = UInt8((isDecodingOrder ? number : places[number]) / 2)
      return try AddedMetadata.captions([CaptionTriplet(.field1, 0x14, 0x40 + pair)])
    }
    try folder.write("in.h265", try AddedMetadata.clip(front: { [captions[$0]] }))
    let (names, run) = try await Self.findings("in.h265", in: folder)
    #expect(names == (isDecodingOrder ? ["captions-order"] : []), "\(run.text)\(run.said)")
  }

  @Test func findsHDR10PlusWithoutMasteringDisplay() async throws {
    let folder = try Folder()
    let hdr10Plus = try AddedMetadata.hdr10Plus()
    let mastering = seiNALUnit(
      [(type: .masteringDisplayColourVolume, payload: [UInt8](repeating: 1, count: 24))], header: [0x4E, 0x01])
    try folder.write("in.h265", try AddedMetadata.clip(front: { _ in [hdr10Plus] }))
    #expect(try await Self.findings("in.h265", in: folder).names == ["hdr10plus-without-st2086"])
    try folder.write("out.h265", try AddedMetadata.clip(front: { $0 == 0 ? [mastering, hdr10Plus] : [hdr10Plus] }))
    #expect(try await Self.findings("out.h265", in: folder).names.isEmpty)
  }

  @Test(arguments: ["clip.h264", "clip.h265", "clip.mp4", "clip-h265.mkv", "open-gop.h265", "ten-bit.h265"])
  func findsNothingInStreamsWithout(name: String) async throws {
    let (names, run) = try await Self.findings(Program.media.appending(path: name).path, in: try Folder())
    #expect(names.isEmpty && run.status == 0, "\(run.text)\(run.said)")
  }
}
