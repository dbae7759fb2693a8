// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import Testing

/// Metadata that `h26x info` finds in the stream: Dolby Vision, HDR10+, captions, the encoder's own lines.
@Suite(.enabled(if: Program.isBuilt)) struct MetadataInfoTests {
  /// A packet with captions in both fields and in a service of CTA-708, whose language it states.
  private static func captions() throws -> [UInt8] {
    let channel = try CaptionPacket(sequenceNumber: 0, serviceBlocks: [.init(number: 1, data: [0x41, 0x42])]).bytes()
    try #require(channel.count == 4)
    let packet = CaptionDistributionPacket(
      frameRateCode: 3, flags: [.captions, .services, .reserved], sequenceCounter: 0,
      sections: [
        .captions(
          markerBits: 7,
          [
            CaptionTriplet(.field1, 0x94, 0x20), CaptionTriplet(.field2, 0x15, 0x20),
            CaptionTriplet(.packetStart, channel[0], channel[1]), CaptionTriplet(.packetData, channel[2], channel[3]),
          ]),
        .services(
          .init(
            flags: 15,
            services: [.init(number: 0xC1, languageCode: Array("spa".utf8), type: 0x81, properties: 0x3FFF)])),
      ])
    var message = CaptionMessage(CaptionData([]))
    message.content = .packet(packet, trailingBytes: [0xFF])
    return AddedMetadata.sei(try message.userData())
  }

  @Test func describesDolbyVisionHDRAndCaptionsInEachContainer() async throws {
    let folder = try Folder()
    let (captions, hdr10Plus) = (try Self.captions(), try AddedMetadata.hdr10Plus())
    let rpu = try AddedMetadata.rpu(profile: 8)
    try folder.write(
      "plain.h265", try AddedMetadata.clip(front: { _ in [hdr10Plus, captions] }, behind: { _ in [rpu] }))
    let made = try await Program.shell(
      "h26x edit plain.h265 -o in.h265 --colour bt2020-pq && "
        + "for s in mp4 mov mkv; do h26x repack in.h265 -o in.$s; done", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    for suffix in ["h265", "mp4", "mov", "mkv"] {
      let run = try await Program.run(["info", "in.\(suffix)"], in: folder.url)
      let remark = suffix == "h265" ? ", by the stream alone" : ""
      for line in [
        "HDR                 PQ, HDR10+ profile B\n", "Dolby Vision        profile 8.1, level 1, BL+RPU\(remark)\n",
        "Captions            CC1, CC3, service 1 (spa)\n",
      ] { #expect(run.text.contains(line), "\(suffix): \(line) \(run.text)\(run.said)") }
    }
    let services = try await Program.run(["info", "--get", "captions.service", "in.mp4"], in: folder.url)
    #expect(services.text == "CC1\nCC3\nservice 1\n", "\(services.text)\(services.said)")
    let profile = try await Program.run(["info", "--get", "video.dolby-vision", "in.h265", "in.mkv"], in: folder.url)
    #expect(profile.text == "8.1\n8.1\n", "\(profile.text)\(profile.said)")
    let json = try await Program.run(["info", "--json", "in.mp4"], in: folder.url)
    let files = try #require(try JSONSerialization.jsonObject(with: json.output) as? [[String: Any]])
    let video = try #require(files.first?["video"] as? [String: Any])
    #expect(video["hdr"] as? [String] == ["PQ", "HDR10+"] && video["hdr10plus-profile"] as? String == "B")
    #expect(video["dolby-vision-level"] as? Int == 1 && video["dolby-vision-layers"] as? String == "BL+RPU")
    #expect(video["dolby-vision-record"] as? Bool == true && video["dolby-vision-enhancement"] == nil)
    let captionList = try #require(video["captions"] as? [[String: Any]])
    #expect(captionList.map { $0["language"] as? String } == [nil, nil, "spa"])
  }

  @Test(arguments: [0, 1, 2] as [UInt8]) func namesOtherDynamicMetadata(message: UInt8) async throws {
    let folder = try Folder()
    let vivid = AddedMetadata.sei(RegisteredUserData(countryCode: 0x26, data: [0, 4, 0, 5, 1, 0]))
    let other = AddedMetadata.sei(RegisteredUserData(countryCode: 0xB5, data: [0, 0x3A, message, 0]))
    let layer = AddedMetadata.sei(RegisteredUserData(countryCode: 0xB4, data: [0, 0x50, 0, 1]))
    try folder.write("in.h265", try AddedMetadata.clip(front: { $0 == 3 ? [vivid, other, layer] : [] }))
    let run = try await Program.run(["info", "in.h265"], in: folder.url)
    #expect(run.text.contains("HDR                 HDR Vivid, SL-HDR\n"), "\(run.text)\(run.said)")
    #expect(run.text.contains("Enhancement         LCEVC\n"), "\(run.text)")
  }

  @Test func readsAllOfAStreamOnlyForCounting() async throws {
    let folder = try Folder()
    let late = try AddedMetadata.captions([CaptionTriplet(.field1, 0x94, 0x20)])
    // More than the two mebibytes that are read.
    let long = [UInt8](repeating: 0xAA, count: 3 << 20)
    let filler: [UInt8] = [38 << 1, 1] + long + [0x80]
    try folder.write(
      "in.h265",
      try AddedMetadata.clip(front: { $0 == 60 ? [late] : [] }, behind: { $0 == 2 ? [filler] : [] }))
    let bounded = try await Program.run(["info", "in.h265"], in: folder.url)
    #expect(bounded.status == 0 && !bounded.text.contains("Captions"), "\(bounded.text)")
    let whole = try await Program.run(["info", "--count", "in.h265"], in: folder.url)
    #expect(whole.text.contains("Captions            CC1\n"), "\(whole.text)")
  }

  @Test(arguments: Program.clipSuffixes) func namesTheEncoder(suffix: String) async throws {
    let folder = try Folder()
    let clip = Program.media.appending(path: "clip.\(suffix)").path
    let run = try await Program.run(["info", clip], in: folder.url)
    for line in [
      "Encoder             x264 - core 164 r3095 baee400\n", "Reference frames    4 at most\n",
      "Keyframe distance   20 to 22 pictures\n",
    ] { #expect(run.text.contains(line), "\(line): \(run.text)\(run.said)") }
    let count = try await Program.run(["info", "--get", "reference-frames", clip], in: folder.url)
    #expect(count.text == "4\n" && count.status == 0, "\(count.text)\(count.said)")
    // Hundreds of characters, which a table has no room for.
    let settings = try await Program.run(["info", "--get", "encoder-settings", clip], in: folder.url)
    #expect(settings.text.hasPrefix("cabac=1 ref=3 ") && !run.text.contains("cabac="), "\(settings.text)")
    let unknown = try await Program.run(["info", "--get", "weather", clip], in: folder.url)
    #expect(unknown.status == 1 && unknown.said.contains("no value of weather"), "\(unknown.said)")
  }

  /// By the packets that ffprobe lists.
  @Test(arguments: [
    ("clip.mp4", "247288"), ("clip.mkv", "247288"), ("clip.ts", "247288"), ("clip.h264", "246480"),
    ("clip.h265", "120328"),
  ])
  func measuresThePeakOfASecond(name: String, bits: String) async throws {
    let folder = try Folder()
    let clip = Program.media.appending(path: name).path
    let run = try await Program.run(["info", "--get", "peak-bitrate", clip], in: folder.url)
    #expect(run.text == bits + "\n", "\(run.text)\(run.said)")
  }

  @Test func fillsInATemplate() async throws {
    let folder = try Folder()
    let clips = ["clip.mp4", "clip.h265"].map { Program.media.appending(path: $0).path }
    let run = try await Program.run(
      ["info", "--template", "{{{codec}}} {width}x{height} {video.level} {captions.service|none}{title|}"] + clips,
      in: folder.url)
    #expect(run.text == "{H.264} 320x180 1.2 none\n{H.265} 320x180 2 none\n", "\(run.text)\(run.said)")
    let missing = try await Program.run(["info", "--template", "{weather}", clips[0]], in: folder.url)
    #expect(missing.status == 1 && missing.said.contains("no value of weather"), "\(missing.said)")
    for template in ["{width", "width}", "{}", "{|x}"] {
      let refused = try await Program.run(["info", "--template", template, clips[0]], in: folder.url)
      #expect(refused.status == 64 && refused.said.contains("expected "), "\(template): \(refused.said)")
    }
  }

  @Test func namesTheFirstField() async throws {
    let folder = try Folder()
    for (name, order) in [("interlaced.h264", "bottom"), ("interlaced.h265", "top"), ("clip.h265", nil)] {
      let path = Program.media.appending(path: name).path
      let run = try await Program.run(["info", "--get", "scan-order", path], in: folder.url)
      #expect(run.text == (order.map { "\($0)-field-first\n" } ?? "progressive\n"), "\(name): \(run.text)\(run.said)")
    }
  }

  @Test func listsTitlesAndMarksOfOtherStreams() async throws {
    let folder = try Folder()
    var file = try Data(contentsOf: Program.media.appending(path: "subtitles.mkv"))
    // A tag of the first track becomes its title; zero bytes end a string.
    let value = try #require(file.range(of: Data("Lavc srt".utf8)))
    let tag = try #require(file[..<value.lowerBound].range(of: Data("ENCODER".utf8), options: .backwards))
    file.replaceSubrange(tag, with: Data("TITLE\0\0".utf8))
    try folder.write("in.mkv", file)
    let run = try await Program.run(["info", "in.mkv"], in: folder.url)
    #expect(run.text.contains(", ger, \"Lavc srt\", default"), "\(run.text)\(run.said)")
    for (name, values) in [("title", "Lavc srt\n"), ("language", "ger\neng\nfre\n"), ("flags", "default\n")] {
      let found = try await Program.run(["info", "--get", "streams.\(name)", "in.mkv"], in: folder.url)
      #expect(found.text == values, "\(found.text)\(found.said)")
    }
  }
}
