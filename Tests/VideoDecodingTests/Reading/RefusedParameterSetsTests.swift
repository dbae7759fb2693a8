// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// Parameter sets that libavcodec must not see.
@Suite struct RefusedParameterSetsTests {
  @Test(arguments: [
    (16, 16, false), (16384, 16128, false), (16384, 16129, true), (16330, 16129, true), (16320, 16129, false),
    (1 << 27, 16, true),
  ])
  func refusesSizesBeyondAddressing(_ width: Int, _ height: Int, _ exceeds: Bool) {
    #expect(RefusedParameterSets.exceedsAddressing(VideoSize(width: width, height: height)) == exceeds)
  }

  /// A PPS of the High profiles with one element of a scaling list.
  private func pps(header: UInt32 = 0x68, id: UInt32, sps: UInt32 = 0, deltaScale: Int32) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, header)
    writer.ue(id)
    writer.ue(sps)
    writer.u(2, 0)
    for _ in 0..<3 { writer.ue(0) }
    writer.u(3, 0)
    for _ in 0..<3 { writer.se(0) }
    writer.u(3, 0)
    // transform_8x8_mode_flag, pic_scaling_matrix_present_flag, pic_scaling_list_present_flag.
    writer.u(3, 0b011)
    writer.se(deltaScale)
    writer.trailingBits()
    return writer.bytes
  }

  /// The PPS, its SPS, the element, and whether libavcodec complains of it: it needs the SPS to read so far.
  @Test(
    arguments: [
      (0x68, 0, 0, 128, true), (0x28, 0, 0, 128, true), (0x08, 255, 0, 128, true), (0x68, 3, 31, -129, true),
      (0x68, 0, 1, 128, false), (0x68, 256, 0, 128, false), (0x67, 0, 0, 128, false),
    ] as [(UInt32, UInt32, UInt32, Int32, Bool)])
  func refusesPPSsWithIllegalScalingLists(
    _ header: UInt32, _ id: UInt32, _ sps: UInt32, _ delta: Int32, _ isRefused: Bool
  ) throws {
    var sets = H264.ParameterSets()
    for id: UInt32 in [0, 31] {
      let sps = MinimalStream.sps(id: id)
      _ = try sets.insert(sps.span)
    }
    let plain = MinimalStream.pps(id: id % 256, sps: sps)
    let nalUnit = pps(header: header, id: id, sps: sps, deltaScale: delta)
    let answers = (
      RefusedParameterSets.isRefused(plain.span, sets: sets), RefusedParameterSets.isRefused(nalUnit.span, sets: sets)
    )
    #expect(answers == (false, isRefused))
  }

  /// NAL units without a byte, and others than parameter sets.
  @Test(arguments: [[], [0x65], [0x09, 0x10], [0x46, 1, 0x50], [0x67], [0x02, 1]] as [[UInt8]])
  func acceptsNALUnitsThatAreNoParameterSets(_ nalUnit: [UInt8]) {
    let (h264, h265) = (H264.ParameterSets(), H265.ParameterSets())
    let isRefused = (
      RefusedParameterSets.isRefused(nalUnit.span, sets: h264), RefusedParameterSets.isRefused(nalUnit.span, sets: h265)
    )
    #expect(isRefused == (false, false))
  }

  /// Sizes of both codecs' SPSs in luma samples. The last two have few samples, but a side that no reader accepts.
  @Test(arguments: [(16_384, 16_128, false), (16_384, 16_144, true), (65_600, 64, true), (64, 65_600, true)])
  func refusesSizesBeyondTheLimit(_ width: Int, _ height: Int, _ isRefused: Bool) throws {
    let small = MinimalStream.sps()
    var h264 = try H264.SequenceParameterSet(nalUnit: small.span)
    (h264.widthInMacroblocks, h264.heightInMapUnits) = (width / 16, height / 16)
    let first = h264.nalUnit()
    #expect(RefusedParameterSets.isRefused(first.span, sets: H264.ParameterSets()) == isRefused)
    let second = H265.SequenceParameterSet(
      profileTierLevel: .init(profile: H265.Profile(idc: 1), levelIDC: 63),
      codedSize: VideoSize(width: width, height: height)
    ).nalUnit()
    #expect(RefusedParameterSets.isRefused(second.span, sets: H265.ParameterSets()) == isRefused)
  }

  /// Other unreadable parts of an SPS are no reason to refuse it: libavcodec's reports about them can be silenced.
  @Test func acceptsTruncatedSPSs() throws {
    let whole = (
      MinimalStream.sps(),
      H265.SequenceParameterSet(
        profileTierLevel: .init(profile: H265.Profile(idc: 1), levelIDC: 63),
        codedSize: VideoSize(width: 64, height: 64)
      ).nalUnit()
    )
    let (first, second) = (Array(whole.0.prefix(4)), Array(whole.1.prefix(8)))
    #expect(throws: BitstreamError.self) { _ = try H264.SequenceParameterSet(nalUnit: first.span) }
    #expect(throws: BitstreamError.self) { _ = try H265.SequenceParameterSet(nalUnit: second.span) }
    let (h264, h265) = (H264.ParameterSets(), H265.ParameterSets())
    let isRefused = (
      RefusedParameterSets.isRefused(first.span, sets: h264), RefusedParameterSets.isRefused(second.span, sets: h265)
    )
    #expect(isRefused == (false, false))
  }

  /// libavcodec has formats of 8, 9, 10, 12 and 14 bits, the same for luma and chroma.
  @Test(
    arguments: [
      (ChromaFormat.yuv420, 8, 8, false), (.yuv420, 9, 9, false), (.yuv422, 10, 10, false), (.yuv444, 12, 12, false),
      (.yuv420, 14, 14, false), (.yuv420, 11, 11, true), (.yuv444, 13, 13, true), (.yuv420, 15, 15, true),
      (.yuv420, 16, 16, true), (.yuv420, 8, 9, true), (.monochrome, 8, 9, false), (.monochrome, 11, 8, true),
    ] as [(ChromaFormat, UInt8, UInt8, Bool)])
  func findsUndecodableSampleFormats(_ format: ChromaFormat, _ luma: UInt8, _ chroma: UInt8, _ isUndecodable: Bool) {
    #expect(RefusedParameterSets.hasUndecodableSamples(format, luma: luma, chroma: chroma) == isUndecodable)
  }

  @Test func replacesRefusedSetsByFillerData() throws {
    let units = try mediaAccessUnits("clip.h264")
    var follower = H264StreamFollower(lengthSize: nil)
    let first = units[0]
    #expect(follower.inspect(first.span, index: 0).patches == [])
    var large = [UInt8]()
    var place = 0
    var nalUnits = AnnexB.NALUnits(first.span)
    while let nalUnit = nalUnits.next() {
      var bytes = Array(first[nalUnit.range])
      if bytes[0] & 31 == 7 {
        var sps = try H264.SequenceParameterSet(nalUnit: bytes.span)
        sps.widthInMacroblocks = 2000
        sps.heightInMapUnits = 2000
        bytes = sps.nalUnit()
        place = large.count + 4
      }
      large += [0, 0, 0, 1] + bytes
    }
    #expect(follower.inspect(large.span, index: 1).patches == [PacketPool.Patch(offset: place, byte: 12)])
    // Again: nothing has changed, and it is still not to be seen.
    #expect(follower.inspect(large.span, index: 1).patches == [PacketPool.Patch(offset: place, byte: 12)])
    let copied = try PacketPool().packet(
      copying: large.span, prefix: [9, 9], timestamp: 0, patches: [PacketPool.Patch(offset: place, byte: 12)])
    #expect(copied.byteCount == large.count + 2)
    for index in large.indices { #expect(copied.bytes[index + 2] == (index == place ? 12 : large[index])) }
  }

  /// libavcodec takes a quantiser that no picture can have for a good one: pictures go on with the set that was there.
  @Test func aDamagedSetDoesNotReplaceAGoodOne() throws {
    var units = try mediaAccessUnits("clip.h264")
    let whole = try decodeAll(units, .with { $0.threadType = .none })
    var writer = BitWriter()
    writer.u(8, 0x68)
    writer.ue(0)
    writer.ue(0)
    writer.u(2, 0b10)
    writer.ue(0)
    writer.ue(0)
    writer.ue(0)
    writer.u(3, 0)
    writer.se(70)
    writer.se(0)
    writer.se(0)
    writer.u(3, 0b100)
    writer.trailingBits()
    units[4] = [0, 0, 0, 1] + writer.bytes + units[4]
    let run = try decodeAll(units, .with { $0.threadType = .none })
    #expect(run.checksums == whole.checksums)
    #expect(run.frames.allSatisfy { !$0.isCorrupt })
  }

  /// libavcodec forgets the PPSs of an SPS that changes; one that is not sent again, or comes damaged, is still good.
  @Test(arguments: ["clip.h264", "clip.h265"], [true, false])
  func continuesWithThePPSOfAChangedSPS(_ clip: String, _ isDamaged: Bool) throws {
    let stream = try CodedStream(clip)
    let isH265 = clip.hasSuffix("5")
    let whole = try stream.decode(.with { $0.threadType = .none })
    // Decoding does not depend on the level.
    let changed: [[UInt8]] = try H265Stream.nalUnits(stream.units[0]).compactMap { nalUnit in
      switch (isH265, isH265 ? nalUnit[0] >> 1 : nalUnit[0] & 31) {
      case (false, 7):
        var sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
        sps.levelIDC = 51
        return sps.nalUnit()
      case (true, 33):
        var sps = try H265.SequenceParameterSet(nalUnit: nalUnit.span)
        sps.profileTierLevel.levelIDC = 153
        return sps.nalUnit()
      case (false, 8), (true, 34): return isDamaged ? Array(nalUnit.prefix(isH265 ? 3 : 2)) : nil
      default: return nil
      }
    }
    #expect(changed.count == (isDamaged ? 2 : 1))
    var units = stream.units
    // At a picture that begins anew: in the middle of a sequence no SPS may change.
    let start = try #require(
      units.indices.dropFirst().first { index in
        H265Stream.nalUnits(units[index]).contains { isH265 ? 16...21 ~= $0[0] >> 1 : $0[0] & 31 == 5 }
      })
    units[start] = H265Stream.joined(
      changed
        + H265Stream.nalUnits(units[start]).filter { nalUnit in
          isH265 ? !(32...34 ~= nalUnit[0] >> 1) : !(7...8 ~= nalUnit[0] & 31)
        })
    let session = try stream.session(.with { $0.threadType = .none })
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.checksums == whole.checksums)
    #expect(run.frames.allSatisfy { !$0.isCorrupt })
  }

  /// If a VPS changes, libavcodec gives up the SPS, and with it the pictures that the leading pictures of the next CRA
  /// picture refer to. A damaged VPS has nothing that they need.
  @Test func anotherVPSLosesNoLeadingPictures() throws {
    let stream = try CodedStream("open-gop.h265")
    let whole = try stream.decode(.with { $0.threadType = .none })
    let vps = try #require(H265Stream.nalUnits(stream.units[0]).first { $0[0] >> 1 == 32 })
    var units = stream.units
    var changed = 0
    for index in units.indices.dropFirst() {
      let nalUnits = H265Stream.nalUnits(units[index])
      guard nalUnits.contains(where: { $0[0] >> 1 == 21 }) else { continue }
      // Another compatibility flag, and one that is cut off.
      var other = vps
      other[7] ^= 1
      units[index] = H265Stream.joined(
        [changed % 2 == 0 ? other : Array(vps.prefix(9))] + nalUnits.filter { $0[0] >> 1 != 32 })
      changed += 1
    }
    #expect(changed > 2)
    let session = try stream.session(.with { $0.threadType = .none })
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.checksums == whole.checksums)
    #expect(run.frames.allSatisfy { !$0.isCorrupt })
  }

  /// An SPS whose samples libavcodec does not know does not take the good one's place: pictures go on, and are flagged.
  @Test(arguments: ["clip.h264", "clip.h265"]) func flagsPicturesOfUndecodableSamples(_ clip: String) throws {
    let stream = try CodedStream(clip)
    let isH265 = clip.hasSuffix("5")
    var units = stream.units
    let damaged = try H265Stream.nalUnits(units[0]).compactMap { nalUnit -> [UInt8]? in
      switch (isH265, isH265 ? nalUnit[0] >> 1 : nalUnit[0] & 31) {
      case (false, 7):
        var sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
        sps.profile = H264.Profile(idc: 110, constraintFlags: 0)
        sps.chromaBitDepth = 9
        return sps.nalUnit()
      case (true, 33):
        var sps = try H265.SequenceParameterSet(nalUnit: nalUnit.span)
        sps.chromaBitDepth = 9
        return sps.nalUnit()
      default: return nil
      }
    }
    units[4] = H265Stream.joined(damaged) + units[4]
    let session = try stream.session(.with { $0.threadType = .none })
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.frames.contains { $0.tag == 4 && $0.isCorrupt })
    #expect(run.accounts(for: units.count))
  }

  /// If there is no other set, libavcodec may try a set that cannot be read.
  @Test(arguments: [true, false]) func passesADamagedSetIfThereIsNoOther(_ hasNamesake: Bool) throws {
    let vps: [UInt8] = [0x40, 1, 0x0C]
    let sps = H265.SequenceParameterSet(
      profileTierLevel: .init(profile: H265.Profile(idc: 1), levelIDC: 63),
      codedSize: VideoSize(width: 64, height: 64)
    ).nalUnit()
    let broken = Array(sps.dropLast(2))
    var follower = H265StreamFollower(lengthSize: nil, verifiesPictureHash: false)
    if hasNamesake { follower.insert(parameterSets: [sps]) }
    let unit = H265Stream.joined([vps, broken])
    let place = 4 + vps.count + 4
    let patches = follower.inspect(unit.span, index: 0).patches.filter { $0.offset >= place }
    #expect(patches == (hasNamesake ? [PacketPool.Patch(offset: place, byte: 38 << 1)] : []))
  }

  /// Eight bytes a sample, with libavutil's margins, have to fit 31 bits; widths count in steps of 64.
  @Test func sizesBeyondAddressing() throws {
    let largest = VideoSize(width: 16_384, height: 16_128)
    #expect(!RefusedParameterSets.exceedsAddressing(largest))
    #expect(RefusedParameterSets.exceedsAddressing(VideoSize(width: 16_384, height: 16_129)))
    #expect(RefusedParameterSets.exceedsAddressing(VideoSize(width: 16_385, height: 16_128)))
    var format = try FormatDescription(h264ParameterSets: [MinimalStream.sps(), MinimalStream.pps()])
    format.codedSize = largest
    _ = try StreamSetup(format)
    format.codedSize.height += 1
    let error = #expect(throws: DecodeError.self) { _ = try StreamSetup(format) }
    #expect(error?.reason == .invalidFormatDescription)
  }
}
