// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// `swifth265dec` in a harness: what differs from H.264.
@Suite(.serialized) struct H265DecodeTests {
  static let byteStream = "video/x-h265, stream-format=byte-stream, alignment=au"
  static let clipChecksum = "3c6ac939fd0f08ea5b77e95cc73a5ef7"

  let units: [[UInt8]]
  let openGroups: [[UInt8]]

  init() throws {
    units = try Clip.accessUnits("clip.h265", of: H265.self)
    openGroups = try Clip.accessUnits("open-gop.h265", of: H265.self)
  }

  private func decoder(
    _ properties: String = "", input: String = byteStream, output: String? = nil
  ) throws -> Harness {
    try Harness.decoder("swifth265dec \(properties)", input: input, output: output)
  }

  private func decode(_ harness: Harness, _ units: [[UInt8]]) throws -> [Picture] {
    for (index, unit) in units.enumerated() {
      #expect(harness.push(unit, pts: Clip.time(index), duration: Clip.frameDuration) == 0)
    }
    harness.endOfStream()
    return try harness.takePictures()
  }

  private func type(_ unit: [UInt8]) -> H265.NALUnitType? {
    Clip.nalUnits(unit).lazy.map { H265.NALUnitType(headerByte: $0[0]) }.first { $0.isVCL }
  }

  @Test(arguments: ["thread-type=none", "thread-type=slice", "max-threads=3"])
  func picturesMatchWithAnyThreading(_ properties: String) throws {
    let harness = try decoder(properties + " verify-picture-hash=true")
    #expect(try checksum(decode(harness, units)) == Self.clipChecksum)
    #expect(harness.statistic("hash-mismatches") == 0 && harness.statistic("corrupted") == 0)
    #expect(harness.statistic("frames-out") == units.count)
  }

  /// HLG that calls itself BT.2020 for receivers that do not know it (D.3.39).
  @Test func capsHaveThePreferredTransfer() throws {
    let message = seiNALUnit([(.alternativeTransferCharacteristics, [18])], header: [0x4E, 1])
    var units = units
    let first = try #require(Clip.nalUnits(units[0]).firstIndex { H265.NALUnitType(headerByte: $0[0]).isVCL })
    var nalUnits = Clip.nalUnits(units[0])
    nalUnits.insert(message, at: first)
    units[0] = RepackStream.annexB(nalUnits)
    let plain = try decoder()
    #expect(try checksum(decode(plain, self.units)) == Self.clipChecksum)
    let without = try plain.outputCaps()
    let harness = try decoder()
    #expect(try checksum(decode(harness, units)) == Self.clipChecksum)
    let with = try harness.outputCaps()
    // arib-std-b67 is 15 among GStreamer's transfer functions.
    #expect(without.first.string("colorimetry") == "bt709" && with.first.string("colorimetry") == "2:3:15:1")
    // Upstream's word counts more.
    let described = try decoder(input: Self.byteStream + ", colorimetry=bt2100-pq")
    _ = try decode(described, units)
    let describedCaps = try described.outputCaps()
    #expect(describedCaps.first.string("colorimetry") == "bt2100-pq")
  }

  @Test func decodesNALUnitsOneByOne() throws {
    let harness = try decoder(input: "video/x-h265, stream-format=byte-stream, alignment=nal")
    for (index, unit) in units.enumerated() {
      for nalUnit in Clip.nalUnits(unit) { #expect(harness.push([0, 0, 0, 1] + nalUnit, pts: Clip.time(index)) == 0) }
    }
    harness.endOfStream()
    #expect(try checksum(harness.takePictures()) == Self.clipChecksum)
  }

  @Test(arguments: ["hvc1", "hev1"], [1, 2, 4]) func decodesLengthPrefixedStreams(_ format: String, _ size: Int) throws
  {
    var sets = H265.ParameterSets()
    for nalUnit in Clip.nalUnits(openGroups[0]) { _ = try? sets.insert(nalUnit.span) }
    let record = try H265.DecoderConfigurationRecord(
      sets, nalLengthSize: #require(NALLengthSize(rawValue: UInt8(size))))
    let text = try record.bytes().map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
    // Lengths of one byte need small NAL units.
    let small = size == 1 ? Array(openGroups.prefix { Clip.nalUnits($0).allSatisfy { $0.count < 256 } }) : openGroups
    guard !small.isEmpty else { return }
    let harness = try decoder(
      input: "video/x-h265, stream-format=\(format), alignment=au, codec_data=(buffer)\(text)")
    let packed = small.map { unit in
      RepackStream.lengthPrefixed(
        Clip.nalUnits(unit).filter { format == "hev1" || !H265.NALUnitType(headerByte: $0[0]).isParameterSet }, size)
    }
    #expect(try checksum(decode(harness, packed)) == checksum(decode(decoder(), small)))
  }

  /// Decoding begins at a CRA picture: its RASL pictures are dropped and counted, and count as no failure.
  @Test func leadingPicturesOfAStartAreDropped() throws {
    let first = try #require(openGroups.indices.dropFirst().first { type(openGroups[$0]) == .cra })
    let cut = Array(openGroups[first...])
    let next = cut.indices.dropFirst().first { type(cut[$0])?.isIRAP == true } ?? cut.count
    let skipped = cut[..<next].count { type($0)?.isRASL == true }
    #expect(skipped > 0)
    let harness = try decoder("max-errors=0")
    harness.collectMessages()
    let pictures = try decode(harness, cut)
    #expect(pictures.count == cut.count - skipped)
    #expect(pictures.allSatisfy { !$0.flags.contains(.corrupted) })
    #expect(harness.statistic("dropped") == skipped && harness.statistic("failed") == 0)
    #expect(harness.takeFault() == nil)
  }

  /// Pictures that are dropped in mid-stream, in decoding order, leave the times of others as they are: leading pictures
  /// behind an end of sequence, and damaged pictures.
  @Test(arguments: [
    "thread-type=none", "thread-type=slice", "max-threads=3", "isolation=process max-threads=2",
    "isolation=process thread-type=none",
  ])
  func picturesBesideDroppedOnesKeepTheirTimes(_ properties: String) throws {
    let positions = try presentationOrder(openGroups)
    let whole = try decode(decoder(), openGroups)
    let starts = openGroups.indices.dropFirst().filter { type(openGroups[$0]) == .cra }
    #expect(starts.count > 1)
    for start in starts {
      var ended = openGroups
      ended[start - 1] += [0, 0, 0, 1, 36 << 1, 1]
      var lost = openGroups
      lost[start - 1] = []
      let settings = ["", "output-corrupt=false"]
      for (setting, units) in settings.flatMap({ setting in [ended, lost].map { (setting, $0) } }) {
        let harness = try decoder("\(properties) \(setting)")
        for (index, unit) in units.enumerated() where !unit.isEmpty {
          #expect(harness.push(unit, pts: Clip.time(positions[index]), duration: Clip.frameDuration) == 0)
        }
        harness.endOfStream()
        let pictures = try harness.takePictures()
        let times = pictures.compactMap(\.pts)
        #expect(times.count == pictures.count && zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        for picture in pictures where !picture.flags.contains(.corrupted) {
          let position = try #require(openGroups.indices.first { Clip.time($0) == picture.pts })
          #expect(picture.bytes == whole[position].bytes, "\(setting), \(start), \(position)")
        }
      }
    }
  }

  /// The position of each access unit in presentation order, by POC.
  private func presentationOrder(_ units: [[UInt8]]) throws -> [Int] {
    var sets = H265.ParameterSets()
    var counter = H265.PictureOrderCounter()
    var epoch = 0
    var keys: [(epoch: Int, count: Int32, index: Int)] = []
    for (index, unit) in units.enumerated() {
      for nalUnit in Clip.nalUnits(unit) { _ = try? sets.insert(nalUnit.span) }
      let first = try #require(Clip.nalUnits(unit).first { H265.NALUnitType(headerByte: $0[0]).isVCL })
      let slice = try H265.SliceSegmentHeader(nalUnit: first.span, parameterSets: sets)
      let sps = try #require(sets.sequenceParameterSet(slice.sequenceParameterSetID))
      let count = counter.next(slice, sps: sps)
      if count.resetsPOC { epoch += 1 }
      keys.append((epoch, count.picture, index))
    }
    var positions = Array(units.indices)
    for (position, key) in keys.sorted(by: { ($0.epoch, $0.count) < ($1.epoch, $1.count) }).enumerated() {
      positions[key.index] = position
    }
    return positions
  }

  /// A lost access unit is noticed although libavcodec reports nothing.
  @Test func picturesAfterALostReferenceAreFlagged() throws {
    let lost = try #require(units.indices.dropFirst().first { type(units[$0]) == .trailingR })
    var rest = units
    rest.remove(at: lost)
    let whole = Set(try decode(decoder(), units).map(\.fingerprint))
    let harness = try decoder("thread-type=none")
    let pictures = try decode(harness, rest)
    let flagged = pictures.filter { $0.flags.contains(.corrupted) }
    #expect(!flagged.isEmpty && flagged.count < pictures.count)
    #expect(harness.statistic("corrupted") == flagged.count)
    #expect(pictures.allSatisfy { $0.flags.contains(.corrupted) || whole.contains($0.fingerprint) })
    let strict = try decoder("thread-type=none output-corrupt=false")
    #expect(try decode(strict, rest).count == pictures.count - flagged.count)
  }

  /// Compressed caps may leave out a frame rate that raw caps downstream want in a range.
  @Test(arguments: ["swifth264dec", "swifth265dec"]) func acceptsCapsWithoutAFrameRate(_ element: String) throws {
    let codec = element == "swifth264dec" ? "h264" : "h265"
    let harness = try Harness.decoder(
      element, input: "video/x-\(codec), stream-format=byte-stream, alignment=au",
      output: "video/x-raw, framerate=(fraction)[ 0/1, 2147483647/1 ]")
    let units = try codec == "h264" ? Clip.accessUnits("clip.h264") : self.units
    #expect(try decode(harness, units).count == units.count)
  }

  @Test func nv12HasTheSamplesOfI420() throws {
    let planar = try decode(decoder(), openGroups)
    let harness = try decoder(output: "video/x-raw, format=NV12")
    let pictures = try decode(harness, openGroups)
    #expect(pictures.count == planar.count && harness.statistic("copied") == 0)
    #expect(
      zip(pictures, planar).allSatisfy { $0.bytes.count == $1.bytes.count && $0.bytes.sorted() == $1.bytes.sorted() })
  }
}
