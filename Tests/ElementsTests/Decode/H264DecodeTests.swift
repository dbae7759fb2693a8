// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Pictures, caps and metas of the decoder's output.
@Suite(.serialized) struct H264DecodeTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  @Test(arguments: [false, true])
  func decodesByteStreamsExactly(takesVideoMeta: Bool) throws {
    let harness = try Harness.decoder(takesVideoMeta: takesVideoMeta)
    let pictures = try harness.decode(units)
    #expect(pictures.count == Clip.frameCount)
    #expect(try checksum(pictures) == Clip.checksum())
    #expect(pictures.allSatisfy { !$0.flags.contains(.corrupted) })
    #expect(pictures.count { !$0.flags.contains(.deltaUnit) } > 0)
  }

  @Test func describesTheStreamInCaps() throws {
    let harness = try Harness.decoder()
    _ = try harness.decode(units)
    let caps = try harness.outputCaps()
    #expect(
      caps.description
        == "video/x-raw, format=(string)I420, width=(int)320, height=(int)180, interlace-mode=(string)progressive, "
        + "pixel-aspect-ratio=(fraction)1/1, chroma-site=(string)mpeg2, colorimetry=(string)bt709, "
        + "framerate=(fraction)25/1")
    #expect(harness.takeCapsEvents().count == 1)
  }

  @Test func fieldsOfSinkCapsTakePrecedence() throws {
    let harness = try Harness.decoder(
      input: Harness.byteStream + ", framerate=50/1, pixel-aspect-ratio=4/3, colorimetry=bt601, chroma-site=jpeg, "
        + "interlace-mode=mixed, multiview-mode=side-by-side, content-light-level=(string)\"1000:400\"")
    _ = try harness.decode(units)
    let caps = try harness.outputCaps()
    #expect(caps.first.fraction("framerate") == Fraction(50, 1))
    #expect(caps.first.fraction("pixel-aspect-ratio") == Fraction(4, 3))
    #expect(caps.first.string("colorimetry") == "bt601")
    #expect(caps.first.string("chroma-site") == "jpeg")
    #expect(caps.first.string("interlace-mode") == "mixed")
    #expect(caps.first.string("multiview-mode") == "side-by-side")
    #expect(caps.first.string("content-light-level") == "1000:400")
  }

  @Test(arguments: [NALLengthSize.two, .four], ["avc", "avc3"])
  func decodesLengthPrefixedStreamsExactly(size: NALLengthSize, format: String) throws {
    let sets = Clip.nalUnits(units[0]).filter { 7...8 ~= $0[0] & 31 }
    let description = try FormatDescription(h264ParameterSets: sets, nalLengthSize: size)
    var record = try description.h264DecoderConfigurationRecord()
    if format == "avc3" { record = record.withoutParameterSets }
    let samples = units.map { unit -> [UInt8] in
      var kept = Clip.nalUnits(unit)
      if format == "avc" { kept.removeAll { 7...8 ~= $0[0] & 31 } }
      return kept.flatMap { RepackStream.lengthPrefixed([$0], size.byteCount) }
    }
    let harness = try Harness.decoder(input: RepackStream.caps(format, codecData: try record.bytes()))
    let pictures = try harness.decode(samples)
    #expect(try checksum(pictures) == Clip.checksum())
  }

  @Test(arguments: [true, false])
  func collectsNALUnitsIntoAccessUnits(withMarker: Bool) throws {
    let harness = try Harness.decoder(input: "video/x-h264, stream-format=byte-stream, alignment=nal")
    let positions = Clip.presentationOrder(units)
    for (index, unit) in units.enumerated() {
      let nalUnits = Clip.nalUnits(unit)
      for (position, nalUnit) in nalUnits.enumerated() {
        let bytes: [UInt8] = [0, 0, 0, 1] + nalUnit
        guard var buffer = Buffer(copying: bytes.span) else { continue }
        buffer.pts = Clip.time(positions[index])
        if withMarker && position == nalUnits.count - 1 { buffer.flags.insert(.marker) }
        #expect(harness.push(buffer) == 0)
      }
    }
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(try checksum(pictures) == Clip.checksum())
  }

  @Test func nv12EqualsI420WithInterleavedChroma() throws {
    let planar = try Harness.decoder().decode(units)
    let harness = try Harness.decoder(output: "video/x-raw, format=NV12")
    let semiPlanar = try harness.decode(units)
    let caps = try harness.outputCaps()
    #expect(caps.first.string("format") == "NV12")
    #expect(semiPlanar.count == planar.count)
    let (luma, chroma) = (320 * 180, 160 * 90)
    for (one, other) in zip(planar, semiPlanar) {
      var expected = Array(one.bytes[..<luma])
      for index in 0..<chroma { expected += [one.bytes[luma + index], one.bytes[luma + chroma + index]] }
      #expect(expected == other.bytes)
    }
    #expect(harness.statistic("copied") == 0)
  }

  @Test(arguments: ["P010_10LE", "Y444", "BGRx", "I420_10LE"])
  func otherFormatsEqualThoseOfVideoconvert(format: String) throws {
    let caps = "video/x-raw, format=\(format)"
    let ours = try Harness.decoder(output: caps).decode(units)
    // The same pictures, decoded to I420 first and converted by stock.
    let decoder = try Harness.decoder()
    decoder.push(units: units)
    decoder.endOfStream()
    let decoded = try decoder.outputCaps()
    let converter = try Harness("videoconvert")
    converter.setOutputCaps(caps)
    converter.setInputCaps(decoded)
    while let buffer = decoder.tryPull() { converter.push(buffer) }
    let reference = try converter.takePictures()
    #expect(ours.count == Clip.frameCount)
    #expect(checksum(ours) == checksum(reference))
  }

  @Test func downstreamMayRequestAnotherFormatInMidStream() throws {
    let planar = try Harness.decoder().decode(units)
    let semiPlanar = try Harness.decoder(output: "video/x-raw, format=NV12").decode(units)
    let harness = try Harness.decoder("swifth264dec thread-type=none", output: "video/x-raw, format=I420")
    var pictures: [Picture] = []
    let positions = Clip.presentationOrder(units)
    for (index, unit) in units.enumerated() {
      // In the middle of a group, where decoding must continue with its reference pictures.
      if index == 10 || index == 50 {
        harness.setOutputCaps("video/x-raw, format=\(index == 10 ? "NV12" : "I420")")
        harness.pushUpstream(.reconfigure())
      }
      #expect(harness.push(unit, pts: Clip.time(positions[index])) == 0)
      pictures += try harness.takePictures()
    }
    harness.endOfStream()
    pictures += try harness.takePictures()
    #expect(pictures.count == Clip.frameCount)
    for (position, picture) in pictures.enumerated() {
      #expect(picture.bytes == planar[position].bytes || picture.bytes == semiPlanar[position].bytes)
    }
    #expect(pictures[20].bytes == semiPlanar[20].bytes)
    #expect(pictures[40].bytes == semiPlanar[40].bytes)
    #expect(pictures[60].bytes == planar[60].bytes)
  }

  @Test func anUnsupportedDownstreamFormatIsAnError() throws {
    let harness = try Harness.decoder(output: "video/x-raw, format=RGB8P")
    harness.collectMessages()
    #expect(harness.push(units: units).contains { $0 < 0 })
  }

  @Test func newSizeComesAfterAllPicturesOfTheOldOne() throws {
    let other = try Clip.accessUnits("open-gop.h264")
    let alone = try Harness.decoder().decode(other)
    let harness = try Harness.decoder()
    #expect(harness.push(units: units).allSatisfy { $0 == 0 })
    // Caps without a size, so that the base class sees no change.
    #expect(harness.push(units: other, from: units.count).allSatisfy { $0 == 0 })
    harness.endOfStream()
    let caps = harness.takeCapsEvents()
    #expect(caps.count == 2)
    var sizes: [Int] = []
    while let buffer = harness.tryPull() { sizes.append(buffer.videoMetaWidth) }
    #expect(sizes.count == Clip.frameCount + alone.count)
    #expect(sizes.prefix(Clip.frameCount).allSatisfy { $0 == 320 })
    #expect(!sizes.dropFirst(Clip.frameCount).contains(320))
  }

  @Test func repeatedParameterSetsChangeNothing() throws {
    let sets = Clip.nalUnits(units[0]).filter { 7...8 ~= $0[0] & 31 }
      .flatMap { [0, 0, 0, 1] + $0 as [UInt8] }
    let harness = try Harness.decoder()
    let pictures = try harness.decode(units.map { sets + $0 })
    #expect(try checksum(pictures) == Clip.checksum())
    #expect(harness.takeCapsEvents().count == 1)
  }

  @Test func aNewFrameRateInCapsDoesNotDrain() throws {
    let harness = try Harness.decoder(input: Harness.byteStream + ", framerate=25/1")
    harness.push(units: Array(units[..<10]))
    harness.setInputCaps(Harness.byteStream + ", framerate=30/1")
    harness.push(units: Array(units[10...]), from: 10)
    harness.endOfStream()
    #expect(try checksum(harness.takePictures()) == Clip.checksum())
    let caps = try harness.outputCaps()
    #expect(caps.first.fraction("framerate") == Fraction(30, 1))
    #expect(harness.statistic("replayed") == 0)
  }

  @Test func metasStayWithTheirPictures() throws {
    let harness = try Harness.decoder()
    let positions = Clip.presentationOrder(units)
    #expect(positions != Array(units.indices))
    for (unit, position) in zip(units, positions) {
      guard var buffer = Buffer(copying: unit.span) else { continue }
      buffer.pts = Clip.time(position)
      buffer.addTimeCode(
        Buffer.TimeCode(
          hours: 1, minutes: 0, seconds: UInt32(position / 25), frames: UInt32(position % 25),
          frameRate: Fraction(25, 1), dropsFrames: false, isInterlaced: false, fieldCount: 0))
      harness.push(buffer)
    }
    harness.endOfStream()
    var next = 0
    while let buffer = harness.tryPull() {
      let codes = buffer.timeCodes
      #expect(buffer.pts == Clip.time(next))
      #expect(codes.map { Int($0.seconds * 25 + $0.frames) } == [next])
      next += 1
    }
    #expect(next == Clip.frameCount)
  }
}

extension Buffer {
  /// The width in `GstVideoMeta`; 0 without one.
  fileprivate var videoMetaWidth: Int {
    guard let meta = unsafe gst_buffer_get_video_meta(raw) else { return 0 }
    return unsafe Int(meta.pointee.width)
  }
}
