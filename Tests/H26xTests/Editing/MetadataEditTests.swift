// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

/// The removal of captions, HDR10+, Dolby Vision and HDR10, and the conversion of Dolby Vision.
@Suite struct MetadataEditTests {
  private typealias Message = (type: SEIPayloadType, payload: [UInt8])

  private static func registered(_ userData: RegisteredUserData) -> Message { (.userDataRegistered, userData.payload) }

  private static func captions(_ prefix: [UInt8] = CaptionMessage.standardPrefix) throws -> Message {
    var message = CaptionMessage(CaptionData([CaptionTriplet(.field1, 0x94, 0x20)]))
    message.prefix = prefix
    return registered(try message.userData())
  }

  /// A packet behind the provider code.
  private static func packet() throws -> Message {
    let packet = CaptionDistributionPacket(
      frameRateCode: 4, flags: [.captions, .reserved], sequenceCounter: 7,
      sections: [.captions(markerBits: 7, [CaptionTriplet(.field1, 0x94, 0x20)])])
    var message = CaptionMessage(CaptionData([]))
    (message.prefix, message.content) = ([0x00, 0x31], .packet(packet, trailingBytes: []))
    return registered(try message.userData())
  }

  private static func hdr10Plus() throws -> Message {
    registered(try HDR10PlusMetadata(targetedMaximumLuminance: 400).userData())
  }

  /// Messages that no kind has: active format, bar data, HDR Vivid, and others.
  private static let others: [Message] = [
    registered(.init(countryCode: 0xB5, data: [0x00, 0x31] + Array("DTG1".utf8) + [0x41, 0xF8])),
    registered(.init(countryCode: 0xB5, data: [0x00, 0x31] + Array("GA94".utf8) + [6, 0xF0])),
    registered(.init(countryCode: 0x26, data: [0, 4, 0, 5, 1])), registered(.init(countryCode: 0xB5, data: [])),
    (.userDataUnregistered, [UInt8](repeating: 7, count: 16)), (.recoveryPoint, [0x80]),
  ]

  private static let mastering: Message = (.masteringDisplayColourVolume, [UInt8](repeating: 0, count: 24))
  private static let light: Message = (.contentLightLevel, [0, 0, 3, 1])

  private static func messages(_ kind: RemovableMetadata) throws -> [Message] {
    switch kind {
    case .captions:
      var damaged = try captions()
      damaged.payload.removeLast(3)
      return [try captions(), try captions([0x00, 0x2F, 0x03, 0x09]), try packet(), damaged]
    case .hdr10Plus: return [try hdr10Plus()]
    case .dolbyVision: return []
    case .hdr10: return [mastering, light]
    }
  }

  private static func slice<Codec: StreamEditing>(_: Codec.Type) -> [UInt8] {
    Codec.codec == .h264 ? MinimalStream.slice(isIDR: true) : H265Samples.slice(.idrWithRADL)
  }

  private static func header<Codec: StreamEditing>(_: Codec.Type, isSuffix: Bool = false) -> [UInt8] {
    Codec.codec == .h264 ? [6] : [isSuffix ? 80 : 78, 1]
  }

  // MARK: SEI

  /// All messages in one NAL unit, and each in one of its own.
  private func removesMessages<Codec: StreamEditing>(_: Codec.Type, _ kind: RemovableMetadata, shared: Bool) throws {
    let header = Self.header(Codec.self)
    func stream(without removed: RemovableMetadata?) throws -> [UInt8] {
      var messages = Self.others
      for other in RemovableMetadata.allCases where other != removed {
        messages.insert(contentsOf: try Self.messages(other), at: 1)
      }
      let sei = shared ? [seiNALUnit(messages, header: header)] : messages.map { seiNALUnit([$0], header: header) }
      return MinimalStream.annexB(sei + [Self.slice(Codec.self)])
    }
    let (whole, rest) = (try stream(without: nil), try stream(without: kind))
    var editor = StreamEditor<Codec>([.removeMetadata(kind)])
    #expect(try editor.edited(whole) == rest, "\(Codec.codec) \(kind)")
    let count = try Self.messages(kind).count
    #expect(editor.messages.removedMetadata == (count == 0 ? [:] : [kind: count]) && editor.messages.counts.isEmpty)
    // A stream without them stays as it is.
    #expect(try editor.edit(rest.span, packaging: .annexB) == nil)
  }

  @Test(arguments: RemovableMetadata.allCases, [true, false])
  func removesMessagesOfAKindAndNoOther(kind: RemovableMetadata, shared: Bool) throws {
    try removesMessages(H264.self, kind, shared: shared)
    try removesMessages(H265.self, kind, shared: shared)
  }

  @Test func removesSuffixMessagesAndSeveralKinds() throws {
    let suffix = try seiNALUnit([Self.hdr10Plus(), Self.light], header: Self.header(H265.self, isSuffix: true))
    let prefix = try seiNALUnit([Self.captions()], header: Self.header(H265.self))
    let (slice, length) = (Self.slice(H265.self), NALPackaging.lengthPrefixed(.four))
    let sample = MinimalStream.prefixed([prefix, slice, suffix])
    var all = StreamEditor<H265>([.removeMetadata(.captions), .removeMetadata(.hdr10Plus), .removeMetadata(.hdr10)])
    #expect(try all.edit(sample.span, packaging: length) == MinimalStream.prefixed([slice]))
    #expect(all.messages.removedMetadata == [.captions: 1, .hdr10Plus: 1, .hdr10: 1])
    var dynamic = StreamEditor<H265>([.removeMetadata(.captions), .removeMetadata(.hdr10Plus)])
    let light = seiNALUnit([Self.light], header: Self.header(H265.self, isSuffix: true))
    #expect(try dynamic.edit(sample.span, packaging: length) == MinimalStream.prefixed([slice, light]))
  }

  /// A NAL unit that cannot be read to its end stays.
  @Test func keepsDamagedNALUnits() throws {
    let sei = try seiNALUnit([Self.captions(), Self.light]).dropLast(3)
    let stream = MinimalStream.annexB([Array(sei), Self.slice(H264.self)])
    var editor = StreamEditor<H264>([.removeMetadata(.captions), .removeMetadata(.hdr10)])
    #expect(try editor.edit(stream.span, packaging: .annexB) == nil && editor.messages.isEmpty)
  }

  @Test func insertsHDR10InPlaceOfTheRemoved() throws {
    let light = SEIInsertion(.contentLightLevel, payload: [0, 9, 0, 8], at: .keyframes)
    var editor = StreamEditor<H264>([.removeMetadata(.hdr10), .insertSEI(light)])
    func stream(_ payload: [UInt8]) -> [UInt8] {
      MinimalStream.annexB([
        MinimalStream.sps(), MinimalStream.pps(), seiNALUnit([(.contentLightLevel, payload)]),
        MinimalStream.slice(isIDR: true),
      ])
    }
    #expect(nalUnits(try editor.edited(stream([0, 1, 0, 1]))) == nalUnits(stream([0, 9, 0, 8])))
  }

  /// The record of H.265 may have SEI.
  @Test func removesMessagesFromTheConfigurationRecord() throws {
    let sps = H265Samples.plainSPS()
    var sets = try H265Samples.store(sps)
    try sets.insert(bytes: H265.VideoParameterSet(profileTierLevel: sps.profileTierLevel).nalUnit())
    let format = try H265.formatDescription(sets, sequenceParameterSetID: nil, nalLengthSize: nil)
    let plain = try format.h265DecoderConfigurationRecord(isComplete: true)
    var record = plain
    record.arrays.append(
      .init(type: .prefixSEI, isComplete: true, nalUnits: [seiNALUnit([Self.light], header: Self.header(H265.self))]))
    var editor = StreamEditor<H265>([.removeMetadata(.hdr10)])
    #expect(try editor.edit(record).nalUnits == plain.nalUnits)
    var other = StreamEditor<H265>([.removeMetadata(.hdr10Plus)])
    #expect(try other.edit(record).nalUnits == record.nalUnits)
  }

  // MARK: Dolby Vision

  private static let layer: [UInt8] = [0x7E, 0x01, 0x02, 0x01, 0xD0]

  private static func rpu(profile: UInt8) throws -> [UInt8] {
    if profile == 7 { return try RPUTests.profile7(isMinimal: false).nalUnit() }
    var header = DolbyVision.Header(profile: profile == 5 ? 0 : 1, sequence: .init(isBaseLayerFullRange: profile == 5))
    header.previousMappingID = 0
    return try DolbyVision.RPU(header: header, mapping: nil, displayManagement: nil).nalUnit()
  }

  @Test func removesRPUsWithTheEnhancementLayer() throws {
    let slice = Self.slice(H265.self)
    // Others may use the type.
    let foreign: [UInt8] = [0x7C, 0x01, 0x42, 0x80]
    for profile: UInt8 in [7, 8] {
      let stream = MinimalStream.annexB([slice, Self.layer, try Self.rpu(profile: profile), foreign])
      var editor = StreamEditor<H265>([.removeMetadata(.dolbyVision)])
      #expect(try editor.edited(stream) == MinimalStream.annexB([slice, foreign]))
      var changes = DolbyVisionChanges()
      (changes.removedRPUs, changes.removedLayerNALUnits) = (1, 1)
      #expect(editor.dolbyVision == changes && editor.messages.isEmpty)
    }
    let rpu = RandomRPU.nalUnit(RandomRPU(seed: 3, allowsUnknown: false).bytes, .h264)
    let idr = Self.slice(H264.self)
    let stream = MinimalStream.annexB([idr, [0x7E, 0x21, 0x9A], rpu])
    var editor = StreamEditor<H264>([.removeMetadata(.dolbyVision)])
    #expect(try editor.edited(stream) == MinimalStream.annexB([idr]))
    #expect(editor.dolbyVision.removedRPUs == 1 && editor.dolbyVision.removedLayerNALUnits == 1)
  }

  /// A damaged RPU goes, too.
  @Test func removesDamagedRPUs() throws {
    var rpu = try Self.rpu(profile: 8)
    rpu[rpu.count - 2] ^= 0x40
    let slice = Self.slice(H265.self)
    for nalUnit in [rpu, Array(rpu.prefix(4))] {
      var editor = StreamEditor<H265>([.removeMetadata(.dolbyVision)])
      #expect(try editor.edited(MinimalStream.annexB([slice, nalUnit])) == MinimalStream.annexB([slice]))
    }
  }

  @Test func removesProfile5OnlyByForce() throws {
    let slice = Self.slice(H265.self)
    let stream = MinimalStream.annexB([slice, try Self.rpu(profile: 5)])
    var editor = StreamEditor<H265>([.removeMetadata(.dolbyVision)])
    do throws(StreamEditError) {
      _ = try editor.edited(stream)
      Issue.record("it was removed")
    } catch {
      #expect(error.reason == .forbiddenCombination && error.description.contains("wrong colours"))
    }
    // The stream then stays as it is.
    #expect(try editor.edit(stream.span, packaging: .annexB) == nil)
    var forced = StreamEditor<H265>([.removeMetadata(.dolbyVision, isForced: true)])
    #expect(try forced.edited(stream) == MinimalStream.annexB([slice]))
    #expect(forced.dolbyVision.removedIncompatibleRPUs == 1)
  }

  /// The RPU is converted, the enhancement layer goes, and all else stays.
  @Test func convertsProfile7() throws {
    let slice = Self.slice(H265.self)
    for isMinimal in [true, false] {
      let rpu = RPUTests.profile7(isMinimal: isMinimal)
      var converted = rpu
      try converted.convertToProfile8()
      var editor = StreamEditor<H265>([.convertDolbyVision])
      let stream = MinimalStream.annexB([slice, Self.layer, Self.layer, try rpu.nalUnit()])
      let expected = MinimalStream.annexB([slice, try converted.nalUnit()])
      #expect(try editor.edited(stream) == expected && expected.count < stream.count)
      #expect(editor.dolbyVision.convertedRPUs == 1 && editor.dolbyVision.removedLayerNALUnits == 2)
    }
  }

  @Test func refusesOtherConversions() throws {
    func refusal<Codec: StreamEditing>(_: Codec.Type, _ nalUnit: [UInt8]) -> StreamEditError? {
      var editor = StreamEditor<Codec>([.convertDolbyVision])
      do throws(StreamEditError) { _ = try editor.edited(MinimalStream.annexB([nalUnit])) } catch { return error }
      return nil
    }
    for profile: UInt8 in [5, 8] {
      let error = refusal(H265.self, try Self.rpu(profile: profile))
      #expect(error?.value == Int64(profile) && error?.requirement.description.contains("dovi_tool") == true)
    }
    var damaged = try Self.rpu(profile: 7)
    damaged[damaged.count - 2] ^= 1
    #expect(refusal(H265.self, damaged)?.element.description == "rpu_data_crc32")
    #expect(refusal(H265.self, Array(damaged.prefix(20)) + [0x80])?.reason == .valueOutOfRange)
    #expect(refusal(H264.self, MinimalStream.sps())?.reason == .notInCodec)
  }

  @Test func convertedRecordsKeepTheLevel() {
    let record = DolbyVision.Configuration(profile: 7, level: 6, hasEnhancementLayer: true, compatibilityID: 6)
    #expect(record.convertedToProfile8() == DolbyVision.Configuration(profile: 8, level: 6, compatibilityID: 1))
  }
}
