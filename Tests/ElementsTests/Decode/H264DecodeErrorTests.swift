// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// Damage, and the messages and events about it.
@Suite(.serialized) struct H264DecodeErrorTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  @Test func failuresRequestASyncPoint() throws {
    let harness = try Harness.decoder("swifth264dec thread-type=none")
    harness.push(units: Array(units[..<5]))
    while harness.tryPullUpstreamEvent() != nil {}
    harness.push(units: [Clip.undecodable, Clip.undecodable], from: 5)
    var requests = 0
    while let event = harness.tryPullUpstreamEvent() { if ForceKeyUnit(event) != nil { requests += 1 } }
    #expect(requests == 1)
  }

  @Test(arguments: [", codec_data=(buffer)01", ", codec_data=(buffer)0142c01effe1ffff"])
  func unusableCodecDataIsAnError(codecData: String) throws {
    let harness = try Harness.decoder(
      "swifth264dec", input: "video/x-h264, stream-format=avc, alignment=au" + codecData)
    harness.collectMessages()
    #expect(harness.push([0, 0, 0, 1, 9]) < 0)
    let fault = try #require(harness.takeFault())
    #expect(fault.isError && fault.code == ElementError.StreamCode.format.rawValue)
    #expect(fault.debug.contains("codec_data"))
    #expect(fault.details.contains("videotoolbox-status=(int)-12712"))
  }

  /// Caps without codec_data are no error as long as parameter sets are in the stream.
  @Test(arguments: StreamCodec.allCases) func capsMayLackCodecData(codec: StreamCodec) throws {
    let units = codec.accessUnits(in: try Clip.read("clip.\(codec)"))
    let caps = "\(codec.mediaType), stream-format=\(codec.outOfBand), alignment=au"
    func decode(_ units: [[UInt8]]) throws -> Harness {
      let harness = try Harness.decoder("\(codec.element)dec", input: caps)
      harness.collectMessages()
      for (index, unit) in units.enumerated() {
        #expect(harness.push(RepackStream.lengthPrefixed(Clip.nalUnits(unit)), pts: Clip.time(index)) >= 0)
      }
      harness.endOfStream()
      return harness
    }
    let checksums = [StreamCodec.h264: try Clip.checksum(), .h265: H265DecodeTests.clipChecksum]
    #expect(try checksum(decode(units).takePictures()) == checksums[codec])
    let bare = units.map { unit -> [UInt8] in
      let rest = Clip.nalUnits(unit).filter { nalUnit in
        codec == .h264 ? !(7...8 ~= nalUnit[0] & 31) : !(32...34 ~= nalUnit[0] >> 1)
      }
      return RepackStream.annexB(rest)
    }
    let harness = try decode(bare)
    let warning = try #require(harness.takeFault())
    #expect(!warning.isError && warning.debug.contains("parameter sets"))
    let fault = try #require(harness.takeFault())
    #expect(fault.isError && fault.code == ElementError.StreamCode.format.rawValue)
    #expect(fault.debug.contains("codec_data"))
  }

  /// If nothing can be decoded, the decoder reports that once, long before the stream ends.
  @Test(arguments: StreamCodec.allCases, ["byte-stream", "avc"])
  func aStreamOfUnusableAccessUnitsPostsOneWarning(_ codec: StreamCodec, _ format: String) throws {
    let format = format == "avc" ? codec.outOfBand : format
    let caps = "\(codec.mediaType), stream-format=\(format), alignment=au"
    let junk: [[UInt8]] = [
      [7, 7, 7, 7, 9, 9], [0, 0, 0, 2, 9, 0xF0], [0x47] + [UInt8](repeating: 0x1F, count: 187),
    ]
    for junk in junk {
      let harness = try Harness.decoder("\(codec.element)dec", input: caps)
      harness.collectMessages()
      for _ in 0..<29 { harness.push(junk) }
      #expect(harness.takeFault() == nil)
      for _ in 0..<60 { harness.push(junk) }
      let warning = try #require(harness.takeFault())
      #expect(!warning.isError && warning.debug.contains("stream-format"))
      #expect(harness.takeFault() == nil)
    }
  }

  /// libavcodec decodes these depths, but there is no format for them in GStreamer.
  @Test(arguments: [9, 14] as [UInt8]) func depthsWithoutAFormatAreAnError(depth: UInt8) throws {
    let changed = try Clip.nalUnits(units[0]).flatMap { nalUnit -> [UInt8] in
      guard nalUnit[0] & 31 == 7 else { return [0, 0, 0, 1] + nalUnit }
      var sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
      sps.profile = H264.Profile(idc: 244, constraintFlags: 0)
      sps.lumaBitDepth = depth
      sps.chromaBitDepth = depth
      return [0, 0, 0, 1] + sps.nalUnit()
    }
    let harness = try Harness.decoder()
    harness.collectMessages()
    #expect(harness.push(changed) == FlowError.error.rawValue)
    let fault = try #require(harness.takeFault())
    #expect(fault.isError && fault.code == ElementError.StreamCode.format.rawValue)
    #expect(fault.debug.contains("yuv420p\(depth)le"))
    #expect(fault.details.contains("videotoolbox-status=(int)-12712"))
  }

  /// A stream that plays does not end at an SPS whose samples cannot be decoded: it may be damaged, or the next one may
  /// be another.
  @Test func anUndecodableSPSDoesNotEndTheStream() throws {
    let damaged = try Clip.nalUnits(units[0]).flatMap { nalUnit -> [UInt8] in
      guard nalUnit[0] & 31 == 7 else { return [] }
      var sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
      sps.profile = H264.Profile(idc: 110, constraintFlags: 0)
      sps.chromaBitDepth = 9
      return [0, 0, 0, 1] + sps.nalUnit()
    }
    let start = try #require(
      units.indices.dropFirst().first { Clip.nalUnits(units[$0]).contains { $0[0] & 31 == 5 } })
    var cut = units
    cut[start - 3] = damaged + cut[start - 3]
    let harness = try Harness.decoder("swifth264dec thread-type=none")
    harness.collectMessages()
    #expect(harness.push(units: cut).allSatisfy { $0 == 0 })
    harness.endOfStream()
    #expect(harness.takeFault() == nil)
    let pictures = try harness.takePictures()
    let whole = try Harness.decoder().decode(units)
    #expect(pictures.count == whole.count)
    #expect(checksum(Array(pictures.suffix(units.count - start))) == checksum(Array(whole.suffix(units.count - start))))
    #expect(pictures.prefix(start).contains { $0.flags.contains(.corrupted) })
  }

  @Test func aStreamWithoutParameterSetsIsAnError() throws {
    let harness = try Harness.decoder()
    harness.collectMessages()
    let bare = units.map { unit in
      Clip.nalUnits(unit).filter { !(7...8 ~= $0[0] & 31) }.flatMap { [0, 0, 0, 1] + $0 as [UInt8] }
    }
    #expect(harness.push(units: bare).allSatisfy { $0 == 0 })
    harness.endOfStream()
    // A live stream may never end: a warning comes before.
    let warning = try #require(harness.takeFault())
    #expect(!warning.isError)
    let fault = try #require(harness.takeFault())
    #expect(fault.isError && fault.code == ElementError.StreamCode.format.rawValue)
    #expect(fault.debug.contains("62 access units"))
    #expect(try harness.takePictures().isEmpty)
  }

  @Test func damagedPicturesAreFlaggedUntilTheNextRandomAccessPoint() throws {
    let whole = try Harness.decoder().decode(units)
    let harness = try Harness.decoder("swifth264dec thread-type=none")
    // A P picture of the first group is lost: pictures that refer to it are damaged, the next group is not.
    var damaged = units
    let positions = Clip.presentationOrder(units)
    let lost = try #require((5..<15).first { Clip.isReference(units[$0]) })
    damaged.remove(at: lost)
    for (index, unit) in damaged.enumerated() {
      harness.push(unit, pts: Clip.time(positions[index < lost ? index : index + 1]))
    }
    harness.endOfStream()
    let pictures = try harness.takePictures()
    #expect(pictures.count >= whole.count - 2)
    for picture in pictures where !picture.flags.contains(.corrupted) {
      let position = Int((picture.pts ?? .zero).nanoseconds / Clip.frameDuration.nanoseconds)
      #expect(picture.bytes == whole[position].bytes, "picture \(position) is damaged and not flagged")
    }
    #expect(pictures.contains { $0.flags.contains(.corrupted) })
    let start = try #require(
      units.indices.dropFirst().first { index in Clip.nalUnits(units[index]).contains { $0[0] & 31 == 5 } })
    let clean = pictures.filter { ($0.pts ?? .zero) >= Clip.time(start) }
    #expect(clean.count == Clip.frameCount - start && clean.allSatisfy { !$0.flags.contains(.corrupted) })
  }

  /// 108 seeds: every kind of damage at three rates, nine each.
  @Test(arguments: ["drop", "truncate", "flip", "swap"], [0.001, 0.01, 0.1])
  func everyAccessUnitIsAccountedForUnderLoss(kind: String, rate: Double) throws {
    for seed in TestScope.rows(Array(UInt64(1)...9), usually: 3) {
      var generator = SeededGenerator(state: seed &* 0x9E37_79B9_7F4A_7C15)
      let harness = try Harness.decoder("swifth264dec max-errors=-1 max-threads=2")
      let damaged = units.map { damage($0, kind, rate, &generator) }.filter { !$0.isEmpty }
      #expect(harness.push(units: damaged).allSatisfy { $0 == 0 })
      #expect(harness.endOfStream())
      let count = harness.received
      #expect(count <= damaged.count)
      if rate <= 0.001 { #expect(count >= damaged.count - 40) }
      let (input, output) = (harness.statistic("frames-in"), harness.statistic("frames-out"))
      let ended = (harness.statistic("dropped") ?? 0) + (harness.statistic("failed") ?? 0)
      #expect(input == damaged.count)
      #expect(input == (output ?? 0) + ended, "seed \(seed): \(harness.text("stats"))")
    }
  }

  // MARK: Dropped pictures

  @Test func picturesBesideOneThatFailsKeepTheirTimes() throws {
    let harness = try Harness.decoder("swifth264dec thread-type=none")
    let positions = Clip.presentationOrder(units)
    for (index, unit) in units.enumerated() {
      #expect(harness.push(unit, pts: Clip.time(positions[index])) == 0)
      if index == 4 { #expect(harness.push(Clip.undecodable, pts: Clip.time(40)) == 0) }
    }
    harness.endOfStream()
    #expect(harness.statistic("failed") == 1)
    #expect(try harness.takePictures().map(\.pts) == units.indices.map { Clip.time($0) })
  }

  /// Not the parameter sets are missing but pictures, for which the base class has a message.
  @Test func parameterSetsWithoutPicturesAreNotReportedMissing() throws {
    let harness = try Harness.decoder()
    harness.collectMessages()
    let sets = Clip.nalUnits(units[0]).filter { $0[0] & 31 == 7 || $0[0] & 31 == 8 }
    #expect(sets.count == 2)
    #expect(harness.push(RepackStream.annexB(sets)) == 0)
    harness.endOfStream()
    let messages = harness.takeMessages()
    #expect(messages.count == 1 && messages.allSatisfy { $0.contains("No valid frames") }, "\(messages)")
    #expect(harness.statistic("dropped") == 1)
  }

  @Test func accessUnitsWithoutAPictureAreNotReportedMissing() throws {
    let harness = try Harness.decoder("swifth264dec thread-type=none")
    harness.collectMessages()
    harness.push(units: Array(units[..<20]))
    #expect(harness.push([0, 0, 0, 1] + RepackStream.sei) == 0)
    harness.push(units: Array(units[20...]), from: 20)
    harness.endOfStream()
    #expect(try harness.takePictures().count == units.count)
    #expect(harness.statistic("dropped") == 1)
    #expect(harness.takeQualityOfServiceMessages() == 0)
    #expect(harness.takeForceKeyUnitEvents() == 0)
  }

  // MARK: Helpers

  private func damage(_ unit: [UInt8], _ kind: String, _ rate: Double, _ generator: inout SeededGenerator) -> [UInt8] {
    var nalUnits = Clip.nalUnits(unit)
    var kept: [[UInt8]] = []
    if kind == "swap", nalUnits.count > 1, Double.random(in: 0..<1, using: &generator) < rate * 4 {
      nalUnits.swapAt(
        Int.random(in: 0..<nalUnits.count, using: &generator), Int.random(in: 0..<nalUnits.count, using: &generator))
    }
    for var nalUnit in nalUnits {
      if kind != "swap", Double.random(in: 0..<1, using: &generator) < rate {
        switch kind {
        case "drop": continue
        case "truncate": nalUnit.removeLast(Int.random(in: 0..<nalUnit.count, using: &generator))
        default:
          nalUnit[Int.random(in: 0..<nalUnit.count, using: &generator)] ^=
            UInt8(1)
            << UInt8.random(
              in: 0..<8, using: &generator)
        }
      }
      kept.append(nalUnit)
    }
    return kept.filter { !$0.isEmpty }.flatMap { [0, 0, 0, 1] + $0 as [UInt8] }
  }
}
