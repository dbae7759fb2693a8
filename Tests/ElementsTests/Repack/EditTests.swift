// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

@testable import Elements

/// The output of a repackager with edits, packaging by packaging.
@Suite(.serialized) struct EditTests {
  /// An edit, and what shows it.
  struct Edit: Sendable, CustomTestStringConvertible {
    var text: String
    var isThere: @Sendable (FormatDescription, StructureView) -> Bool
    var testDescription: String { text }
  }

  private static let edits = [
    Edit(text: "colour=bt2020-pq") {
      $0.colour == ColourDescription(primaries: 9, transfer: 16, matrix: 9) && $1.string("colorimetry") == "bt2100-pq"
    },
    Edit(text: "colorimetry=bt709,range=full") {
      $0.isFullRange == true && $1.string("colorimetry") == "1:3:5:1"
    },
    Edit(text: "sample-aspect=64:45") {
      $0.pixelAspectRatio == Ratio(64, 45) && $1.fraction("pixel-aspect-ratio") == Fraction(64, 45)
    },
    Edit(text: "frame-rate=29.97") {
      $0.frameRate == Ratio(30_000, 1001) && $1.fraction("framerate") == Fraction(30_000, 1001)
    },
    Edit(text: "crop=0,2,0,4") {
      $1.int("width") == Int32($0.cropRectangle.width) && $1.int("height") == Int32($0.cropRectangle.height)
        && $0.codedSize.width - $0.cropRectangle.width == 2
    },
    Edit(text: "level=5.1") { $0.levelName == "5.1" && $1.string("level") == "5.1" },
    Edit(text: "latency=1") { format, _ in format.sentReorderFrames == 1 },
  ]

  /// Pushes the sample as a stream of this packaging.
  static func push(_ sample: RepackSample, _ input: RepackEnd, into harness: Harness) throws {
    for unit in input.format == .outOfBand ? sample.accessUnits : sample.withSets {
      for nalUnits in input.alignment == "au" ? [unit] : unit.map({ [$0] }) {
        #expect(harness.push(try RepackStream.buffer(input.pack(nalUnits))) == 0)
      }
    }
    harness.endOfStream()
  }

  /// All NAL units that wait in the harness.
  static func pullAll(_ harness: Harness, _ output: RepackEnd) throws -> [[UInt8]] {
    var nalUnits: [[UInt8]] = []
    while let buffer = harness.tryPull() { nalUnits += output.unpack(try buffer.copiedBytes()) }
    return nalUnits
  }

  static func isSet(_ nalUnit: [UInt8], _ sample: RepackSample) -> Bool {
    sample.codec == "264"
      ? H264.NALUnitType(headerByte: nalUnit[0]).isParameterSet
      : H265.NALUnitType(headerByte: nalUnit[0]).isParameterSet
  }

  /// The description of the output by these parameter sets and its `codec_data`.
  static func description(
    _ nalUnits: [[UInt8]], _ codecData: [UInt8], _ sample: RepackSample
  ) throws -> FormatDescription {
    if sample.codec == "264" {
      var sets = H264.ParameterSets()
      let record = codecData.isEmpty ? nil : try H264.DecoderConfigurationRecord(codecData.span)
      for nalUnit in (record?.nalUnits ?? []) + nalUnits { try sets.insert(nalUnit.span) }
      return try H264.formatDescription(sets, sequenceParameterSetID: nil, nalLengthSize: nil)
    }
    var sets = H265.ParameterSets()
    let record = codecData.isEmpty ? nil : try H265.DecoderConfigurationRecord(codecData.span)
    for nalUnit in (record?.nalUnits ?? []) + nalUnits { try sets.insert(nalUnit.span) }
    return try H265.formatDescription(sets, sequenceParameterSetID: nil, nalLengthSize: nil)
  }

  /// Each edit in each packaging: it is in the parameter sets, `codec_data` and caps, and all else is as it was.
  @Test(arguments: edits) func editsEveryPackaging(edit: Edit) throws {
    for sample in RepackSample.all {
      for input in RepackEnd.inputs where input.lengthSize != 2 {
        for output in RepackEnd.outputs where output.lengthSize != 2 {
          let comment: Comment = "\(sample.codec) \(input) to \(output)"
          let harness = try sample.harness("edit=\"\(edit.text)\" nal-length-size=\(output.lengthSize)", to: output)
          harness.setInputCaps(
            sample.caps(
              input,
              more: """
                , width=32, height=32, framerate=25/1, pixel-aspect-ratio=1/1, colorimetry=bt601, level=(string)3, \
                profile=main
                """))
          try Self.push(sample, input, into: harness)
          let nalUnits = try Self.pullAll(harness, output)
          let sets = nalUnits.filter { Self.isSet($0, sample) }
          let codecData = try harness.outputCodecData()
          let caps = try harness.outputCaps()
          let format = try Self.description(sets, codecData, sample)
          let isThere = edit.isThere(format, caps.first)
          #expect(isThere, "\(comment): \(caps.description)")
          #expect(nalUnits.filter { !Self.isSet($0, sample) } == Array(sample.accessUnits.joined()), comment)
          #expect(sets.isEmpty == (output.format == .outOfBand), comment)
          #expect(!sets.contains(sample.sets[sample.sets.count - 2]), "\(comment): an SPS as it was")
        }
      }
    }
  }

  /// Messages are removed and inserted, and the caps repeat what is then there.
  @Test func editsMessages() throws {
    for sample in RepackSample.all {
      for input in RepackEnd.inputs where input.lengthSize == 4 {
        for output in RepackEnd.outputs where output.lengthSize == 4 {
          let comment: Comment = "\(sample.codec) \(input) to \(output)"
          let harness = try sample.harness("edit=\"keep-sei=6,insert-sei=144=00010002\"", to: output)
          harness.setInputCaps(sample.caps(input, more: ", content-light-level=(string)1:1, hdr-format=(string)hdr10"))
          try Self.push(sample, input, into: harness)
          let nalUnits = try Self.pullAll(harness, output).filter { !Self.isSet($0, sample) }
          let inserted =
            sample.codec == "264" ? [6, 144, 4, 0, 1, 0, 2, 0x80] : [0x4E, 1, 144, 4, 0, 1, 0, 2, 0x80] as [UInt8]
          func isVCL(_ nalUnit: [UInt8]) -> Bool {
            sample.codec == "264"
              ? H264.NALUnitType(headerByte: nalUnit[0]).isVCL : H265.NALUnitType(headerByte: nalUnit[0]).isVCL
          }
          func isSEI(_ nalUnit: [UInt8]) -> Bool {
            sample.codec == "264"
              ? H264.NALUnitType(headerByte: nalUnit[0]).isSEI : H265.NALUnitType(headerByte: nalUnit[0]).isSEI
          }
          var expected: [[UInt8]] = []
          for (index, unit) in sample.accessUnits.enumerated() {
            let kept = unit.filter { !isSEI($0) || $0 == RepackStream.recoveryPoint }
            let place = kept.firstIndex(where: isVCL) ?? 0
            expected += index == 1 ? kept : kept[..<place] + [inserted] + kept[place...]
          }
          #expect(nalUnits == expected, comment)
          let caps = try harness.outputCaps()
          let (light, format) = (caps.first.string("content-light-level"), caps.first.string("hdr-format"))
          #expect(light == "1:2" && format == nil, comment)
        }
      }
    }
  }

  /// The edit removes all NAL units above the base layer, whatever their type, and inserts delimiters.
  @Test func removesLayersAndInsertsDelimiters() throws {
    for sample in RepackSample.all {
      let isH264 = sample.codec == "264"
      var layered = sample
      layered.accessUnits = sample.accessUnits.map { unit in
        var other = unit[unit.count - 1]
        if isH264 { other = [0x74, 0x40, 0x80, 0x07] + other.dropFirst() } else { other[1] |= 8 }
        return unit + [other]
      }
      for input in RepackEnd.inputs where input.lengthSize == 4 {
        for output in RepackEnd.outputs where output.lengthSize == 4 {
          let comment: Comment = "\(sample.codec) \(input) to \(output)"
          let harness = try sample.harness("edit=\"remove-layers,aud=insert\"", to: output)
          harness.setInputCaps(sample.caps(input))
          try Self.push(layered, input, into: harness)
          let nalUnits = try Self.pullAll(harness, output).filter { !Self.isSet($0, sample) }
          func isDelimiter(_ nalUnit: [UInt8]) -> Bool { isH264 ? nalUnit[0] & 31 == 9 : nalUnit[0] >> 1 == 35 }
          #expect(nalUnits.count(where: isDelimiter) == sample.accessUnits.count, comment)
          #expect(isDelimiter(nalUnits.first ?? [0]), comment)
          #expect(
            nalUnits.filter { !isDelimiter($0) } == sample.accessUnits.joined().filter { !isDelimiter($0) }, comment)
        }
      }
    }
  }

  /// Caps have fields for what is inserted, and `hdr-format` where both messages of HDR10 are.
  @Test func capsHaveInsertedMessages() throws {
    let display = "33c286c41d4c0bb884d03e803d134042009896800000000a"
    let end = RepackEnd(format: .byteStream, alignment: "au")
    for sample in RepackSample.all {
      for (edit, hasDisplay, hasLight, format) in [
        ("remove-sei=144,insert-sei=144=03e80190", true, true, "hdr10"), ("remove-sei=144", true, false, nil),
        ("remove-sei=137,144,insert-sei=144=03e80190", false, true, nil),
        ("remove-sei=137,144,insert-sei=144=03e80190,insert-sei=137=\(display)", true, true, "hdr10"),
      ] as [(String, Bool, Bool, String?)] {
        let harness = try sample.harness("edit=\"\(edit)\"", to: end)
        let upstream =
          ", mastering-display-info=(string)1:2:3:4:5:6:7:8:9:10, content-light-level=(string)1:1, hdr-format=(string)hdr10"
        harness.setInputCaps(sample.caps(end, more: upstream))
        try Self.push(sample, end, into: harness)
        let caps = try harness.outputCaps()
        let isThere =
          caps.first.has("mastering-display-info") == hasDisplay
          && caps.first.string("content-light-level") == (hasLight ? "1000:400" : nil)
          && caps.first.string("hdr-format") == format
        #expect(isThere, "\(edit): \(caps.description)")
      }
    }
  }

  /// Without edits nothing is copied, nor with edits where an access unit has nothing that they concern.
  @Test func copiesNothingWithoutNeed() throws {
    for sample in RepackSample.all {
      for (edit, untouched) in [("", 4), ("colour=bt709", 2), ("remove-sei=144,5", 3)] {
        let end = RepackEnd(format: .byteStream, alignment: "au")
        let harness = try sample.harness("edit=\"\(edit)\"", to: end)
        harness.setInputCaps(sample.caps(end))
        try Self.push(sample, end, into: harness)
        #expect(harness.statistic("untouched") == untouched, "\(sample.codec) \(edit)")
        #expect(harness.statistic("copied") == 4 - untouched, "\(sample.codec) \(edit)")
        #expect((harness.statistic("edited-nal-units") ?? 0 > 0) == !edit.isEmpty)
      }
    }
  }

  /// Far from the start, slices are no longer searched, but an end of sequence behind a picture is still found. With
  /// it, a new edit takes effect at the next CRA picture, too. H.264 has only IDR pictures there.
  @Test func findsEndsOfSequencesFarFromTheStart() throws {
    let end = RepackEnd(format: .byteStream, alignment: "au")
    for sample in RepackSample.all {
      let ends: [[UInt8]] = sample.codec == "264" ? [[0x0A], [0x0B]] : [[0x48, 1], [0x4A, 1]]
      let (picture, point) = (sample.accessUnits[1], sample.inserting(sample.accessUnits[2]))
      let harness = try sample.harness("edit=\"colour=bt709\"", to: end)
      harness.setInputCaps(sample.caps(end))
      func push(_ accessUnit: [[UInt8]]) throws -> [[UInt8]] {
        #expect(harness.push(try RepackStream.buffer(end.pack(accessUnit))) == 0)
        return try Self.pullAll(harness, end)
      }
      func primaries(_ accessUnit: [[UInt8]]) throws -> UInt8? {
        try Self.description(accessUnit.filter { Self.isSet($0, sample) }, [], sample).colour?.primaries
      }
      #expect(try primaries(try push(sample.withSets[0])) == 1)
      for _ in 0..<150 { #expect(try push(picture) == picture) }
      harness.set("edit", "colour=bt2020-pq")
      #expect(try push(picture) == picture)
      #expect(try primaries(try push(point)) == 1, "\(sample.codec): no coded video sequence begins")
      #expect(try push(picture) == picture)
      #expect(try push(picture + ends) == picture + ends)
      let next = sample.codec == "264" ? sample.withSets[0] : point
      #expect(try primaries(try push(next)) == 9, "\(sample.codec): the one before was ended")
      // An edit of SEI looks into every access unit again; parameter sets in mid-sequence are found without it, too.
      let message: [UInt8] = sample.codec == "264" ? [6, 5, 1, 1, 0x80] : [0x4E, 1, 5, 1, 1, 0x80]
      let place = picture[0] == sample.delimiter ? 1 : 0
      let described = Array(picture[..<place]) + [message] + Array(picture[place...])
      for _ in 0..<150 { #expect(try push(described) == described) }
      harness.set("edit", "colour=bt2020-pq,remove-sei=5")
      #expect(try push(described) == picture)
      harness.set("edit", "colour=bt2020-pq")
      #expect(try push(described) == described)
      #expect(try primaries(try push(sample.inserting(picture))) == 9)
    }
  }

  /// A value that cannot be read leaves the one before.
  @Test(arguments: ["range=wide", "level", "range=full,range=full"]) func refusesAWrongValue(text: String) throws {
    for sample in RepackSample.all {
      let harness = try sample.harness("edit=\"range=full\"", to: RepackEnd(format: .byteStream, alignment: "au"))
      let before = harness.text("edit")
      let warnings = Harness.warnings { harness.set("edit", text) }
      #expect(warnings.count == 1 && warnings[0].contains(": edit stays as it was: \(text.prefix(5))"))
      #expect(harness.text("edit") == before && before.contains("full"))
      #expect(Harness.warnings { harness.set("edit", "") } == [])
      #expect(harness.text("edit") != before)
    }
  }

  /// An edit that the stream forbids is a warning with its clause, and the stream continues as it was.
  @Test(arguments: ["matrix=0", "level=1,crop=0,0,0,4096", "crop=0,4096,0,0,remove-sei=5,144"])
  func aForbiddenEditLeavesTheStreamUnchanged(text: String) throws {
    for sample in RepackSample.all {
      for input in RepackEnd.inputs where input.lengthSize == 4 {
        for output in RepackEnd.outputs where output.lengthSize == 4 {
          let comment: Comment = "\(sample.codec) \(input) to \(output)"
          let harness = try sample.harness("edit=\"\(text)\"", to: output)
          harness.collectMessages()
          harness.setInputCaps(sample.caps(input, more: ", colorimetry=bt601, width=32"))
          try Self.push(sample, input, into: harness)
          let nalUnits = try Self.pullAll(harness, output)
          #expect(nalUnits.filter { !sample.isSet($0) } == Array(sample.accessUnits.joined()), comment)
          let messages = harness.takeMessages()
          #expect(messages == ["warning: An edit was refused; the stream continues unedited."], comment)
          let caps = try harness.outputCaps()
          #expect(caps.first.string("colorimetry") == "bt601" && caps.first.int("width") == 32, comment)
        }
      }
    }
  }

  /// A parameter set that outgrows its length prefix is refused as an edit is.
  @Test func aSetThatOutgrowsItsLengthPrefixStaysUnedited() throws {
    let sample = RepackSample.all[0]
    let output = RepackEnd(format: .inBand, alignment: "au", lengthSize: 1)
    let payload = String(repeating: "00", count: 300)
    for edit in ["insert-sei=5=\(payload)"] {
      let harness = try sample.harness("nal-length-size=1 edit=\"\(edit)\"", to: output)
      harness.collectMessages()
      let input = RepackEnd(format: .byteStream, alignment: "au")
      harness.setInputCaps(sample.caps(input))
      try Self.push(sample, input, into: harness)
      #expect(try Self.pullAll(harness, output) == Array(sample.withSets.joined()))
      #expect(harness.takeMessages() == ["warning: An edit was refused; the stream continues unedited."])
    }
  }

  /// Upstream's caps fields do not describe an edited output, nor downstream's the input.
  @Test func negotiatesWithoutTheEditedFields() throws {
    let harness = try Harness.repack("edit=\"colour=bt709,frame-rate=25,sample-aspect=1:1,level=auto\"", to: "avc")
    harness.setOutputCaps("video/x-h264, stream-format=avc, colorimetry=bt709, framerate=25/1, level=(string)3")
    let caps = harness.querySinkCaps(filter: nil)
    let upstream = Caps(
      parsing: """
        video/x-h264, stream-format=byte-stream, alignment=au, colorimetry=bt601, framerate=30/1, \
        pixel-aspect-ratio=4/3, level=(string)4
        """)
    let isPossible = upstream?.isSubset(of: caps) ?? false
    #expect(isPossible, "\(caps.description)")
  }
}
