// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

@testable import Elements

/// `edit="remove=…"`: metadata goes, message by message, and with it the caps fields that repeat it. `dolby-vision=8.1`
/// converts.
@Suite(.serialized) struct EditRemoveTests {
  private static let captions = InsertCaptionsTests.message(InsertCaptionsTests.triplets(1))
  private static let dynamic: [UInt8] = [4, 8, 0xB5, 0x00, 0x3C, 0x00, 0x01, 0x04, 0x01, 0x40]
  private static let light: [UInt8] = [144, 4, 0x03, 0xE8, 0x01, 0x90]
  private static let user: [UInt8] = [5, 17] + [UInt8](1...17)
  private static let registered: [UInt8] = [4, 5, 0xB5, 0x00, 0x3A, 0x07, 0x07]

  /// The messages of one SEI NAL unit, with the kinds that they are of.
  private static let messages: [(kind: String?, message: [UInt8])] = [
    ("captions", captions), (nil, user), ("hdr10plus", dynamic), (nil, registered), ("hdr10", light),
  ]

  private static func sei(_ codec: String, _ messages: [[UInt8]]) -> [UInt8] {
    (codec == "264" ? [6] : [0x4E, 1]) + messages.joined() + [0x80]
  }

  private static func rpu(profile: UInt8) throws -> DolbyVision.RPU {
    var header = DolbyVision.Header(profile: profile == 5 ? 0 : 1, sequence: .init(isBaseLayerFullRange: profile == 5))
    header.previousMappingID = 0
    header.sequence?.layers?.isEnhancementLayerScaled = profile == 7
    header.sequence?.layers?.isResidualDisabled = profile != 7
    return DolbyVision.RPU(header: header, mapping: nil, displayManagement: nil)
  }

  /// A NAL unit of the enhancement layer and an RPU.
  private static func dolbyVision(_ codec: String, profile: UInt8 = 8) throws -> [[UInt8]] {
    let rpu = try rpu(profile: profile).nalUnit()
    return codec == "264"
      ? [[0x7E, 0x21, 0x9A], [0x7C] + rpu.dropFirst(2)] : [[0x7E, 0x01, 0x02, 0x01, 0xD0], rpu]
  }

  /// The access units of a sample with NAL units behind them.
  private static func sample(_ sample: RepackSample, behind: [[UInt8]]) -> RepackSample {
    var sample = sample
    sample.accessUnits = sample.accessUnits.map { $0 + behind }
    return sample
  }

  /// Messages of other kinds in the same NAL unit stay, in every packaging. RPU and enhancement layer go, even if they
  /// cannot be read, and no other NAL unit.
  @Test(arguments: ["captions", "hdr10plus", "hdr10", "dolby-vision", "captions,dolby-vision"])
  func removesInEveryPackaging(names: String) throws {
    let removed = names.split(separator: ",").map(String.init)
    for sample in RepackSample.all {
      let all = Self.sei(sample.codec, Self.messages.map(\.message))
      let left = Self.sei(
        sample.codec,
        Self.messages.filter { entry in !removed.contains { $0 == entry.kind } }.map(\.message))
      let damaged: [UInt8] =
        (sample.codec == "264" ? [28] : [0x7C, 1]) + [0x19, 0x08, 0x09, 0x40, 0x61, 0x36, 0x50, 0x80]
      let behind = try Self.dolbyVision(sample.codec, profile: 7) + [damaged]
      var whole = sample
      whole.accessUnits = sample.accessUnits.map { unit in
        // HDR10 of its own would go, too.
        let rest = removed.contains("hdr10") ? unit.filter { !sample.isSEI($0) } : unit
        return InsertCaptionsTests.inserting(all, rest, sample.codec) + behind
      }
      let expected = whole.accessUnits.joined().compactMap { nalUnit -> [UInt8]? in
        if nalUnit == all { return left }
        return removed.contains("dolby-vision") && behind.contains(nalUnit) ? nil : nalUnit
      }
      for input in RepackEnd.inputs where input.lengthSize == 4 {
        for output in RepackEnd.outputs where output.lengthSize == 4 {
          let harness = try sample.harness("edit=\"remove=\(names)\"", to: output)
          harness.collectMessages()
          harness.setInputCaps(sample.caps(input))
          try EditTests.push(whole, input, into: harness)
          let found = try EditTests.pullAll(harness, output).filter { !sample.isSet($0) }
          #expect(found == expected, "\(sample.codec) \(input) to \(output)")
          #expect(harness.takeMessages() == [], "\(sample.codec) \(input) to \(output)")
        }
      }
    }
  }

  /// The caps lose the fields of what is removed, and keep the others. `hdr-format` has the dynamic metadata that is
  /// left, else that of HDR10.
  @Test(
    arguments: [
      ("remove=captions", "hdr10+", true, "hdr10+"), ("remove=dolby-vision", "hdr10+", true, "hdr10+"),
      ("remove=hdr10plus", "hdr10+", true, "hdr10"), ("remove-sei=4", "hdr10+", true, "hdr10"),
      ("remove=hdr10plus", "hdr10+", false, nil), ("remove=hdr10plus", "hdr10", true, "hdr10"),
      ("remove=hdr10", "hdr10+", true, "hdr10+"), ("remove=hdr10", "hdr10", true, nil),
      ("remove=hdr10,hdr10plus", "hdr10+", true, nil),
      ("remove=captions,hdr10plus,dolby-vision,hdr10", "hdr10+", true, nil),
    ] as [(String, String, Bool, String?)])
  func capsFollow(edit: String, upstream: String, hasLights: Bool, format: String?) throws {
    let end = RepackEnd(format: .byteStream, alignment: "au")
    let lights = ", mastering-display-info=(string)1:2:3:4:5:6:7:8:9:10, content-light-level=(string)1:1"
    for sample in RepackSample.all {
      let harness = try sample.harness("edit=\"\(edit)\"", to: end)
      harness.setInputCaps(sample.caps(end, more: "\(hasLights ? lights : ""), hdr-format=(string)\(upstream)"))
      try EditTests.push(sample, end, into: harness)
      let caps = try harness.outputCaps()
      let keepsLights = hasLights && !edit.split { "=,".contains($0) }.contains("hdr10")
      let isThere = ["mastering-display-info", "content-light-level"].allSatisfy { caps.first.has($0) == keepsLights }
      let found = caps.first.string("hdr-format")
      #expect(isThere && found == format, "\(edit), \(upstream): \(caps.description)")
    }
  }

  /// Removal starts with the next access unit, and ends with it; the caps follow.
  @Test func takesEffectWithTheNextAccessUnit() throws {
    let end = RepackEnd(format: .byteStream, alignment: "au")
    for sample in RepackSample.all {
      let harness = try sample.harness("", to: end)
      harness.collectMessages()
      harness.setInputCaps(sample.caps(end, more: ", content-light-level=(string)1:1"))
      let plain = [sample.accessUnits[1][0]]
      let unit = InsertCaptionsTests.inserting(Self.sei(sample.codec, [Self.light]), plain, sample.codec)
      func push(_ nalUnits: [[UInt8]]) throws -> [[UInt8]] {
        #expect(harness.push(try RepackStream.buffer(end.pack(nalUnits))) == 0)
        return try EditTests.pullAll(harness, end)
      }
      _ = try push(sample.withSets[0])
      for isRemoving in [true, false, true] {
        harness.set("edit", isRemoving ? "remove=hdr10" : "")
        #expect(try push(unit) == (isRemoving ? plain : unit))
        let caps = try harness.outputCaps()
        let hasLight = caps.first.has("content-light-level")
        #expect(hasLight == !isRemoving)
      }
      #expect(harness.takeMessages() == [])
    }
  }

  /// So do NAL units, also far from the start, where slices are not searched any more.
  @Test(arguments: [RepackEnd.Format.byteStream, .outOfBand]) func removesAtOnce(format: RepackEnd.Format) throws {
    let end = RepackEnd(format: format, alignment: "au")
    for sample in RepackSample.all {
      let harness = try sample.harness("", to: end)
      harness.setInputCaps(sample.caps(end))
      func push(_ accessUnit: [[UInt8]]) throws -> [[UInt8]] {
        #expect(harness.push(try RepackStream.buffer(end.pack(accessUnit))) == 0)
        return try EditTests.pullAll(harness, end)
      }
      _ = try push(format == .outOfBand ? sample.accessUnits[0] : sample.withSets[0])
      let picture = sample.accessUnits[1]
      let whole = picture + (try Self.dolbyVision(sample.codec))
      for _ in 0..<150 { #expect(try push(whole) == whole) }
      harness.set("edit", "remove=dolby-vision")
      #expect(try push(whole) == picture)
      #expect(try push(picture) == picture)
      harness.set("edit", "")
      #expect(try push(whole) == whole)
    }
  }

  @Test func convertsProfile7() throws {
    let (sample, end) = (RepackSample.all[1], RepackEnd(format: .byteStream, alignment: "au"))
    var rpu = try Self.rpu(profile: 7)
    let whole = Self.sample(sample, behind: try Self.dolbyVision(sample.codec, profile: 7))
    try rpu.convertToProfile8()
    let rest = Self.sample(sample, behind: [try rpu.nalUnit()])
    let harness = try sample.harness("edit=\"dolby-vision=8.1\"", to: end)
    harness.setInputCaps(sample.caps(end))
    try EditTests.push(whole, end, into: harness)
    let nalUnits = try EditTests.pullAll(harness, end).filter { !sample.isSet($0) }
    #expect(nalUnits == Array(rest.accessUnits.joined()))
  }

  /// Pictures of profile 5 need their metadata, and only profile 7 is converted.
  @Test(arguments: [("remove=dolby-vision", 5), ("dolby-vision=8.1", 8)] as [(String, UInt8)])
  func aForbiddenEditLeavesTheStreamUnchanged(edit: String, profile: UInt8) throws {
    let (sample, end) = (RepackSample.all[1], RepackEnd(format: .byteStream, alignment: "au"))
    let rpu = try Self.rpu(profile: profile).nalUnit()
    let whole = Self.sample(sample, behind: [rpu])
    let harness = try sample.harness("edit=\"\(edit)\"", to: end)
    harness.collectMessages()
    harness.setInputCaps(sample.caps(end))
    try EditTests.push(whole, end, into: harness)
    let nalUnits = try EditTests.pullAll(harness, end).filter { !sample.isSet($0) }
    #expect(nalUnits == Array(whole.accessUnits.joined()))
    #expect(harness.takeMessages() == ["warning: An edit was refused; the stream continues unedited."])
  }

  /// Captions of buffers take the place of those that are removed.
  @Test func captionsOfBuffersReplaceThoseRemoved() throws {
    let end = RepackEnd(format: .byteStream, alignment: "au")
    for sample in RepackSample.all {
      let harness = try sample.harness("edit=\"remove=captions\" insert-captions=true", to: end)
      harness.setInputCaps(sample.caps(end))
      let plain = sample.sets + [sample.accessUnits[1][0]]
      let shared = Self.sei(sample.codec, [Self.captions, Self.user])
      let unit = InsertCaptionsTests.inserting(shared, plain, sample.codec)
      let captions = InsertCaptionsTests.captions(InsertCaptionsTests.triplets(9))
      #expect(harness.push(try InsertCaptionsTests.buffer(end.pack(unit), captions)) == 0)
      let new = InsertCaptionsTests.sei(sample.codec, InsertCaptionsTests.triplets(9))
      let left = InsertCaptionsTests.inserting(Self.sei(sample.codec, [Self.user]), plain, sample.codec)
      let found = try EditTests.pullAll(harness, end)
      #expect(found == InsertCaptionsTests.inserting(new, left, sample.codec))
    }
  }

  @Test(arguments: ["remove=", "remove=caption", "remove=captions,,hdr10", "remove=all"])
  func refusesUnknownNames(text: String) throws {
    for sample in RepackSample.all {
      let harness = try sample.harness("", to: RepackEnd(format: .byteStream, alignment: "au"))
      let warnings = Harness.warnings { harness.set("edit", text) }
      #expect(warnings.count == 1)
    }
  }
}

extension RepackSample {
  fileprivate func isSEI(_ nalUnit: [UInt8]) -> Bool {
    codec == "264"
      ? H264.NALUnitType(headerByte: nalUnit[0]).isSEI : H265.NALUnitType(headerByte: nalUnit[0]).isSEI
  }
}
