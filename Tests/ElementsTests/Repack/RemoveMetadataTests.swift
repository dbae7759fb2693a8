// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

@testable import Elements

/// Captions, HDR10+, Dolby Vision and HDR10 are removed while a pipeline plays.
@Suite(.serialized) struct RemoveMetadataTests {
  private static let end = RepackEnd(format: .byteStream, alignment: "au")

  private static func rpu(profile: UInt8) throws -> DolbyVision.RPU {
    var header = DolbyVision.Header(profile: profile == 5 ? 0 : 1, sequence: .init(isBaseLayerFullRange: profile == 5))
    header.previousMappingID = 0
    header.sequence?.layers?.isEnhancementLayerScaled = profile == 7
    header.sequence?.layers?.isResidualDisabled = profile != 7
    return DolbyVision.RPU(header: header, mapping: nil, displayManagement: nil)
  }

  /// An RPU and a NAL unit of the enhancement layer.
  private static func dolbyVision(_ sample: RepackSample, profile: UInt8 = 8) throws -> [[UInt8]] {
    let rpu = try rpu(profile: profile).nalUnit()
    return sample.codec == "264"
      ? [[0x7E, 0x21, 0x9A], [0x7C] + rpu.dropFirst(2)] : [[0x7E, 0x01, 0x02, 0x01, 0xD0], rpu]
  }

  private static let light: (type: SEIPayloadType, payload: [UInt8]) = (.contentLightLevel, [3, 0xE8, 1, 0x90])

  private static func sei(_ sample: RepackSample, _ messages: [(type: SEIPayloadType, payload: [UInt8])]) -> [UInt8] {
    seiNALUnit(messages, header: sample.codec == "264" ? [6] : [0x4E, 1])
  }

  private static func captions() throws -> (type: SEIPayloadType, payload: [UInt8]) {
    let message = CaptionMessage(CaptionData([CaptionTriplet(.field1, 0x94, 0x20)]))
    return (.userDataRegistered, try message.userData().payload)
  }

  /// A stream whose access units have an SEI NAL unit in front of the slices, and NAL units behind everything else.
  private static func sample(_ sample: RepackSample, front: [UInt8], behind: [[UInt8]]) -> RepackSample {
    var sample = sample
    sample.accessUnits = sample.accessUnits.map { unit in
      let place = unit.first == sample.delimiter ? 1 : 0
      return unit[..<place] + [front] + unit[place...] + behind
    }
    return sample
  }

  @Test func removesFromEveryPackaging() throws {
    for plain in RepackSample.all {
      let shared = try Self.sei(plain, [Self.captions(), Self.light])
      let whole = Self.sample(plain, front: shared, behind: try Self.dolbyVision(plain, profile: 7))
      let rest = Self.sample(plain, front: Self.sei(plain, [Self.light]), behind: [])
      for input in RepackEnd.inputs where input.lengthSize == 4 {
        for output in RepackEnd.outputs where output.lengthSize == 4 {
          let harness = try whole.harness("edit=\"remove=captions,dolby-vision\"", to: output)
          harness.setInputCaps(whole.caps(input))
          try EditTests.push(whole, input, into: harness)
          let nalUnits = try EditTests.pullAll(harness, output).filter { !EditTests.isSet($0, whole) }
          #expect(nalUnits == Array(rest.accessUnits.joined()), "\(whole.codec) \(input) to \(output)")
        }
      }
    }
  }

  /// They hold from the next access unit on, also far from the start, where slices are not searched any more.
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
      let whole = picture + (try Self.dolbyVision(sample))
      for _ in 0..<150 { #expect(try push(whole) == whole) }
      harness.set("edit", "remove=dolby-vision")
      #expect(try push(whole) == picture)
      #expect(try push(picture) == picture)
      harness.set("edit", "")
      #expect(try push(whole) == whole)
    }
  }

  @Test func convertsProfile7() throws {
    let sample = RepackSample.all[1]
    var rpu = try Self.rpu(profile: 7)
    let whole = Self.sample(
      sample, front: Self.sei(sample, [Self.light]), behind: try Self.dolbyVision(sample, profile: 7))
    try rpu.convertToProfile8()
    let rest = Self.sample(sample, front: Self.sei(sample, [Self.light]), behind: [try rpu.nalUnit()])
    let harness = try sample.harness("edit=\"dolby-vision=8.1\"", to: Self.end)
    harness.setInputCaps(sample.caps(Self.end))
    try EditTests.push(whole, Self.end, into: harness)
    let nalUnits = try EditTests.pullAll(harness, Self.end).filter { !EditTests.isSet($0, sample) }
    #expect(nalUnits == Array(rest.accessUnits.joined()))
  }

  /// Pictures of profile 5 need their metadata, and only profile 7 is converted.
  @Test(arguments: [("remove=dolby-vision", 5), ("dolby-vision=8.1", 8)] as [(String, UInt8)])
  func aForbiddenEditLeavesTheStreamUnchanged(edit: String, profile: UInt8) throws {
    let sample = RepackSample.all[1]
    let rpu = try Self.rpu(profile: profile).nalUnit()
    let whole = Self.sample(sample, front: Self.sei(sample, [Self.light]), behind: [rpu])
    let harness = try sample.harness("edit=\"\(edit)\"", to: Self.end)
    harness.collectMessages()
    harness.setInputCaps(sample.caps(Self.end))
    try EditTests.push(whole, Self.end, into: harness)
    let nalUnits = try EditTests.pullAll(harness, Self.end).filter { !EditTests.isSet($0, sample) }
    #expect(nalUnits == Array(whole.accessUnits.joined()))
    #expect(harness.takeMessages() == ["warning: An edit was refused; the stream continues unedited."])
  }

  /// `hdr-format` has the dynamic metadata that is left, else that of HDR10.
  @Test func capsFollow() throws {
    let lights = ", mastering-display-info=(string)1:2:3:4:5:6:7:8:9:10, content-light-level=(string)1:1"
    for sample in RepackSample.all {
      for (edit, upstream, format, hasLights) in [
        ("remove=hdr10plus", lights + ", hdr-format=(string)hdr10+", "hdr10", true),
        ("remove-sei=4", lights + ", hdr-format=(string)hdr10+", "hdr10", true),
        ("remove=hdr10plus", ", hdr-format=(string)hdr10+", nil, false),
        ("remove=hdr10plus", lights + ", hdr-format=(string)hdr10", "hdr10", true),
        ("remove=hdr10", lights + ", hdr-format=(string)hdr10+", "hdr10+", false),
        ("remove=hdr10", lights + ", hdr-format=(string)hdr10", nil, false),
        ("remove=captions", lights + ", hdr-format=(string)hdr10+", "hdr10+", true),
      ] as [(String, String, String?, Bool)] {
        let harness = try sample.harness("edit=\"\(edit)\"", to: Self.end)
        harness.setInputCaps(sample.caps(Self.end, more: upstream))
        try EditTests.push(sample, Self.end, into: harness)
        let caps = try harness.outputCaps()
        let isThere = ["mastering-display-info", "content-light-level"].allSatisfy { caps.first.has($0) == hasLights }
        let found = caps.first.string("hdr-format")
        #expect(isThere && found == format, "\(edit)\(upstream): \(caps.description)")
      }
    }
  }
}
