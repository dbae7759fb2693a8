// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

@testable import Elements

/// `edit="remove=…"`: metadata goes, message by message, and with it the caps fields that repeat it.
@Suite(.serialized) struct EditRemoveTests {
  /// A kind of metadata, and the messages and NAL units that go with it.
  struct Kind: Sendable, CustomTestStringConvertible {
    var name: String
    var testDescription: String { name }

    static let all = ["captions", "hdr10plus", "hdr10", "dolby-vision"].map { Kind(name: $0) }
  }

  private static let captions = InsertCaptionsTests.message(InsertCaptionsTests.triplets(1))
  private static let dynamic: [UInt8] = [4, 8, 0xB5, 0x00, 0x3C, 0x00, 0x01, 0x04, 0x01, 0x40]
  private static let light: [UInt8] = [144, 4, 0x03, 0xE8, 0x01, 0x90]
  private static let user: [UInt8] = [5, 17] + [UInt8](1...17)
  private static let registered: [UInt8] = [4, 5, 0xB5, 0x00, 0x3A, 0x07, 0x07]

  /// The messages that a removal leaves, of one SEI NAL unit that has all.
  private static func left(by name: String) -> [[UInt8]] {
    let all = [captions, user, dynamic, registered, light]
    switch name {
    case "captions": return [user, dynamic, registered, light]
    case "hdr10plus": return [captions, user, registered, light]
    case "hdr10": return [captions, user, dynamic, registered]
    default: return all
    }
  }

  private static func sei(_ codec: String, _ messages: [[UInt8]]) -> [UInt8] {
    (codec == "264" ? [6] : [0x4E, 1]) + messages.joined() + [0x80]
  }

  /// The messages of other kinds in the same NAL unit stay, in every packaging.
  @Test(arguments: Kind.all) func removesMessagesAlone(kind: Kind) throws {
    for sample in RepackSample.all {
      let all = Self.sei(sample.codec, Self.left(by: "none"))
      let left = Self.sei(sample.codec, Self.left(by: kind.name))
      let units = sample.accessUnits.map { unit in
        InsertCaptionsTests.inserting(all, unit.filter { !sample.isSEI($0) }, sample.codec)
      }
      let expected = units.map { $0.map { $0 == all ? left : $0 } }
      for input in RepackEnd.inputs where input.lengthSize == 4 {
        for output in RepackEnd.outputs where output.lengthSize == 4 {
          let harness = try sample.harness("edit=\"remove=\(kind.name)\"", to: output)
          harness.setInputCaps(sample.caps(input))
          for (index, unit) in units.enumerated() {
            let hasSets = input.format != .outOfBand && [0, 3].contains(index)
            let nalUnits = hasSets ? sample.inserting(unit) : unit
            for part in input.alignment == "au" ? [nalUnits] : nalUnits.map({ [$0] }) {
              #expect(harness.push(try RepackStream.buffer(input.pack(part))) == 0)
            }
          }
          harness.endOfStream()
          let found = try EditTests.pullAll(harness, output).filter { !sample.isSet($0) }
          #expect(found == Array(expected.joined()), "\(sample.codec) \(input) to \(output)")
        }
      }
    }
  }

  /// RPU and enhancement layer go, and nothing else.
  @Test func removesNALUnitsOfDolbyVision() throws {
    for sample in RepackSample.all {
      let isH264 = sample.codec == "264"
      let rpu: [UInt8] = (isH264 ? [28] : [0x7C, 1]) + [0x19, 0x08, 0x09, 0x40, 0x61, 0x36, 0x50, 0x80]
      let layer: [UInt8] = (isH264 ? [30] : [0x7E, 1]) + [0x26, 1, 7, 7, 7, 7, 0x80]
      for output in RepackEnd.outputs where output.lengthSize == 4 {
        let input = RepackEnd(format: .byteStream, alignment: "au")
        let harness = try sample.harness("edit=\"remove=dolby-vision\"", to: output)
        harness.collectMessages()
        harness.setInputCaps(sample.caps(input))
        for unit in sample.withSets {
          #expect(harness.push(try RepackStream.buffer(input.pack(unit + [layer, rpu]))) == 0)
        }
        harness.endOfStream()
        let found = try EditTests.pullAll(harness, output).filter { !sample.isSet($0) }
        #expect(found == Array(sample.accessUnits.joined()), "\(sample.codec) to \(output)")
        #expect(harness.takeMessages() == [])
      }
    }
  }

  /// The caps lose the fields of what is removed, and keep the others.
  @Test(
    arguments: [
      ("captions", true, true, "hdr10+"), ("hdr10plus", true, true, "hdr10"), ("hdr10", false, false, "hdr10+"),
      ("hdr10,hdr10plus", false, false, nil), ("dolby-vision", true, true, "hdr10+"),
      ("captions,hdr10plus,dolby-vision,hdr10", false, false, nil),
    ] as [(String, Bool, Bool, String?)])
  func capsFollow(names: String, hasDisplay: Bool, hasLight: Bool, format: String?) throws {
    let end = RepackEnd(format: .byteStream, alignment: "au")
    for sample in RepackSample.all {
      let harness = try sample.harness("edit=\"remove=\(names)\"", to: end)
      let upstream =
        ", mastering-display-info=(string)1:2:3:4:5:6:7:8:9:10, content-light-level=(string)1:1, hdr-format=(string)hdr10+"
      harness.setInputCaps(sample.caps(end, more: upstream))
      try EditTests.push(sample, end, into: harness)
      let caps = try harness.outputCaps()
      let isThere =
        caps.first.has("mastering-display-info") == hasDisplay && caps.first.has("content-light-level") == hasLight
        && caps.first.string("hdr-format") == format
      #expect(isThere, "\(names): \(caps.description)")
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
