// SPDX-License-Identifier: MPL-2.0
import TestSupport
import Testing

@testable import H26x

/// Metadata of single pictures is found, replaced, added and removed.
@Suite struct FoundMetadataTests {
  private static func payload(_ number: UInt32) throws -> [UInt8] {
    try HDR10PlusMetadata(targetedMaximumLuminance: number).userData().payload
  }

  private static let captions = (try? CaptionMessage(CaptionData([])).userData().payload) ?? []
  private static let light: (type: SEIPayloadType, payload: [UInt8]) = (.contentLightLevel, [1, 2, 3, 4])

  private static func sei(_ messages: [(type: SEIPayloadType, payload: [UInt8])]) -> [UInt8] {
    seiNALUnit(messages, header: [0x4E, 1])
  }

  private static let slice = H265Samples.slice(.init(rawValue: 1))
  private static let suffix = seiNALUnit([(.contentLightLevel, [1, 2, 3, 4])], header: [0x50, 1])
  private static let layer: [UInt8] = [0x7E, 1, 0x26, 1, 0x80]
  private static let end: [UInt8] = [0x48, 1]
  private static func rpu(_ number: UInt8) -> [UInt8] { [0x7C, 1, 25, number, 0x80] }

  private func replaced(
    _ kind: RemovableMetadata, _ new: [UInt8]?, in nalUnits: [[UInt8]]
  ) throws -> (nalUnits: [[UInt8]]?, count: Int) {
    let accessUnit = MinimalStream.annexB(nalUnits)
    let result = try H265.replacing(kind, with: new, in: accessUnit.span, .annexB)
    // With length prefixes, the result is the same.
    let packaging = NALPackaging.lengthPrefixed(.four)
    let prefixed = try H265.replacing(kind, with: new, in: MinimalStream.prefixed(nalUnits).span, packaging)
    let units = { (bytes: [UInt8]?, packaging: NALPackaging) -> [[UInt8]]? in
      bytes.map { bytes in packaging.nalUnits(of: bytes.span).map { Array(bytes[$0]) } }
    }
    let found = units(result.bytes, .annexB)
    #expect(units(prefixed.bytes, packaging) == found && prefixed.count == result.count)
    return (found, result.count)
  }

  @Test func replacesAMessageInItsPlace() throws {
    let (old, new) = (try Self.payload(1), try Self.payload(2))
    let before = [
      Self.sei([(.userDataRegistered, Self.captions), (.userDataRegistered, old), Self.light]), Self.slice,
      Self.slice,
    ]
    let after = [
      Self.sei([(.userDataRegistered, Self.captions), (.userDataRegistered, new), Self.light]), Self.slice,
      Self.slice,
    ]
    var result = try replaced(.hdr10Plus, new, in: before)
    #expect(result.nalUnits == after && result.count == 1)
    result = try replaced(.hdr10Plus, old, in: before)
    #expect(result.nalUnits == nil && result.count == 1)
    // Several become one.
    let twice = [Self.sei([(.userDataRegistered, old)])] + before
    result = try replaced(.hdr10Plus, new, in: twice)
    let single = Self.sei([(.userDataRegistered, Self.captions), Self.light])
    #expect(
      result.nalUnits == [Self.sei([(.userDataRegistered, new)]), single, Self.slice, Self.slice] && result.count == 2)
    // Others stay.
    result = try replaced(.hdr10Plus, nil, in: twice)
    #expect(result.nalUnits == [single, Self.slice, Self.slice] && result.count == 2)
    result = try replaced(.captions, nil, in: before)
    #expect(result.nalUnits?.first == Self.sei([(.userDataRegistered, old), Self.light]) && result.count == 1)
  }

  @Test func addsAMessageInFrontOfTheSlices() throws {
    let new = try Self.payload(3)
    let result = try replaced(.hdr10Plus, new, in: [Self.sei([Self.light]), Self.slice, Self.slice, Self.suffix])
    #expect(
      result.nalUnits == [
        Self.sei([Self.light]), Self.sei([(.userDataRegistered, new)]), Self.slice, Self.slice, Self.suffix,
      ] && result.count == 0)
    // In H.264, in front of the prefix of the slice.
    let prefix: [UInt8] = [0x6E, 0x40, 0x80, 0x07]
    let slice = MinimalStream.slice(isIDR: true)
    let accessUnit = MinimalStream.annexB([prefix, slice])
    let edited = try H264.replacing(.captions, with: Self.captions, in: accessUnit.span, .annexB)
    #expect(
      edited.bytes == MinimalStream.annexB([seiNALUnit([(.userDataRegistered, Self.captions)]), prefix, slice]))
  }

  /// Behind slices, suffix SEI and the enhancement layer, but in front of an end of sequence.
  @Test func putsAnRPUBehindThePicture() throws {
    let (slice, suffix, layer, end) = (Self.slice, Self.suffix, Self.layer, Self.end)
    for (before, after) in [
      ([slice], [slice, Self.rpu(9)]), ([slice, end], [slice, Self.rpu(9), end]),
      ([slice, suffix, layer], [slice, suffix, layer, Self.rpu(9)]),
      ([slice, suffix, layer, end], [slice, suffix, layer, Self.rpu(9), end]),
      ([slice, layer, Self.rpu(1)], [slice, layer, Self.rpu(9)]),
      ([slice, Self.rpu(1), suffix, end], [slice, suffix, Self.rpu(9), end]),
      ([Self.rpu(1), slice, slice, Self.rpu(2), end, Self.rpu(3)], [slice, slice, Self.rpu(9), end]),
    ] as [([[UInt8]], [[UInt8]])] {
      let result = try replaced(.dolbyVision, Self.rpu(9), in: before)
      #expect(result.nalUnits == after, "\(before)")
      #expect(result.count == before.count { $0.starts(with: [0x7C]) })
      let same = try replaced(.dolbyVision, Self.rpu(9), in: after)
      #expect(same.nalUnits == nil && same.count == 1)
      let removed = try replaced(.dolbyVision, nil, in: after)
      #expect(removed.nalUnits == after.filter { $0[0] != 0x7C })
    }
  }

  @Test func findsMetadata() throws {
    let message = try Self.payload(4)
    let nalUnits = [
      Self.rpu(1), Self.sei([(.userDataRegistered, Self.captions), (.userDataRegistered, message), Self.light]),
      Self.slice, Self.rpu(2),
    ]
    let accessUnit = MinimalStream.annexB(nalUnits)
    let found = H265.metadata([.captions, .hdr10Plus, .dolbyVision], in: accessUnit.span, .annexB)
    #expect(found.map(\.kind) == [.dolbyVision, .captions, .hdr10Plus, .dolbyVision])
    #expect(found.map(\.bytes) == [Self.rpu(1), Self.captions, message, Self.rpu(2)])
    #expect(found.map(\.isInFront) == [true, true, true, false])
    #expect(found.map(\.offset).prefix(2) == [4, 13])
    #expect(H265.metadata([.captions], in: accessUnit.span, .annexB).count == 1)
  }
}
