// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import Testing

/// SEI messages, as `h26x inspect` and `info` print them for people.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct SEITextTests {
  /// `clip.h264` with mastering display, content light level, user data that is no text, LCEVC and HDR10+.
  static let highDynamicRange: Data = {
    let messages: [[UInt8]] = [
      [
        0x06, 0x89, 0x18, 0x33, 0x90, 0x86, 0xC4, 0x1D, 0x4C, 0x0B, 0xB8, 0x84, 0xD0, 0x3E, 0x80, 0x3D, 0x13, 0x40,
        0x42, 0x00, 0x98, 0x96, 0x80, 0x00, 0x00, 0x03, 0x00, 0x01, 0x80,
      ], [0x06, 0x90, 0x04, 0x03, 0xE8, 0x01, 0x90, 0x80],
      [0x06, 0x05, 0x13] + [UInt8](1...16) + [0xC0, 0x01, 0xFE, 0x80],
      [0x06, 0x04, 0x06, 0xB4, 0x00, 0x50, 0x00, 0x01, 0x02, 0x80],
      [0x06, 0x04, 0x07, 0xB5, 0x00, 0x3C, 0x00, 0x01, 0x04, 0x01, 0x80],
    ]
    guard var stream = try? Data(contentsOf: Program.media.appending(path: "clip.h264")),
      let place = stream.firstRange(of: Data([0, 0, 0, 1, 6])) ?? stream.firstRange(of: Data([0, 0, 1, 6]))
    else { return Data() }
    stream.insert(contentsOf: messages.flatMap { [0, 0, 0, 1] + $0 }, at: place.lowerBound)
    return stream
  }()

  @Test func namesSEIMessagesAndShowsTheirContents() async throws {
    let folder = try Folder()
    try folder.write("in.h264", Self.highDynamicRange)
    let run = try await Program.run(
      ["inspect", "--fields", "--type", "SEI", "--range", "0", "in.h264"], in: folder.url)
    for line in [
      "mastering_display_colour_volume (137)", "content_light_level_info (144)", "user_data_unregistered (5)",
      "display_primaries = 34000 16000 (x 0.68000, y 0.32000)", "white_point = 15635 16450 (x 0.31270, y 0.32900)",
      "max_display_mastering_luminance = 10000000 (1000.0000 cd/m²)",
      "min_display_mastering_luminance = 1 (0.0001 cd/m²)", "max_content_light_level = 1000 (cd/m²)",
      "max_pic_average_light_level = 400 (cd/m²)", "uuid_iso_iec_11578 = dc45e9bd-e6d9-48b7-962c-d820d923eeef",
      "uuid_iso_iec_11578 = 01020304-0506-0708-090a-0b0c0d0e0f10", "user_data_payload_byte = 3 bytes: c001fe",
      "itu_t_t35_payload_byte = LCEVC, 5 bytes: 0050000102", "itu_t_t35_payload_byte = HDR10+, 6 bytes: 003c00010401",
    ] { #expect(run.text.contains(line + "\n"), "\(line): \(run.text)") }
    #expect(run.text.contains(" bytes: \"x264 - core "), "\(run.text)")
    #expect(run.text.split(separator: "\n").count < 70, "\(run.text)")
  }

  @Test func showsTheContentsOfCaptionsAndDynamicMetadata() async throws {
    let folder = try Folder()
    let captions = try AddedMetadata.captions([
      CaptionTriplet(.field1, 0x94, 0x20), CaptionTriplet(.packetStart, 0x82, 0x22),
      CaptionTriplet(.packetData, 0x41, 0x42), CaptionTriplet(.packetData, isValid: false, 0, 0),
    ])
    let made = try AddedMetadata.rpu(profile: 8)
    var metadata = try DolbyVision.RPU(nalUnit: made.span)
    metadata.displayManagement = .init(source: .init(minimumPQ: 62, maximumPQ: 3696))
    metadata.displayManagement?.blocks = [
      .init(.level1(minimum: 62, maximum: 3000, average: 1500)),
      .init(.level6(maximumLuminance: 1000, minimumLuminance: 50, maximumContentLight: 900, maximumAverageLight: 400)),
    ]
    let (rpu, hdr10Plus) = (try metadata.nalUnit(), try AddedMetadata.hdr10Plus())
    try folder.write("in.h265", try AddedMetadata.clip(front: { _ in [hdr10Plus, captions] }, behind: { _ in [rpu] }))
    let run = try await Program.run(["inspect", "--fields", "--range", "0", "in.h265"], in: folder.url)
    for line in [
      "itu_t_t35_terminal_provider_code = 60 (HDR10+)", "num_windows = 1", "average_maxrgb = 1234",
      "knee_point_y = 200", "itu_t_t35_provider_code = 49 (captions)", "cc_count = 4",
      "cc_data = field 1: 9420",
      "cc_data = DTVCC packet start: 8222 (sequence_number 2, packet_size_code 2, service_number 1, block_size 2)",
      "cc_data = DTVCC: 4142", "cc_data = DTVCC, not valid: 0000", "rpu_nal_prefix = 25",
      "vdr_rpu_profile = 1", "use_prev_vdr_rpu_flag = 1", "ext_block_level = 1", "avg_PQ = 1500",
      "max_display_mastering_luminance = 1000 (cd/m²)", "min_display_mastering_luminance = 50 (0.0050 cd/m²)",
      "max_frame_average_light_level = 400 (cd/m²)",
    ] { #expect(run.text.contains(line + "\n"), "\(line): \(run.text)") }
    #expect(run.text.contains("  Dolby Vision RPU (62), \(rpu.count) bytes\n"), "\(run.text)")
    #expect(run.text.contains(" rpu_data_crc32 = ") && !run.text.contains("cannot be read"), "\(run.text)")
    let selected = try await Program.run(
      ["inspect", "--type", "Dolby Vision RPU", "--range", "0-1", "in.h265"], in: folder.url)
    #expect(selected.text.components(separatedBy: "Dolby Vision RPU (62), ").count == 3, "\(selected.text)")
  }

  @Test func printsUnitsOfHighDynamicRange() async throws {
    let folder = try Folder()
    try folder.write("in.h264", Self.highDynamicRange)
    let run = try await Program.run(["info", "in.h264"], in: folder.url)
    #expect(
      run.text.contains(
        "red x 0.68000, y 0.32000; green x 0.26400, y 0.69000; blue x 0.15000, y 0.06000; "
          + "white x 0.31270, y 0.32900; 0.0001 to 1000.0000 cd/m² "
          + "(34000:16000:13200:34500:7500:3000:15635:16450:10000000:1)\n"), "\(run.text)")
    #expect(run.text.contains("MaxCLL 1000 cd/m², MaxFALL 400 cd/m² (1000:400)\n"), "\(run.text)")
  }
}
