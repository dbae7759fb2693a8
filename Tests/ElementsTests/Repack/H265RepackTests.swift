// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// What differs in an H.265 repackager.
@Suite(.serialized) struct H265RepackTests {
  typealias Stream = H265Stream

  private func repack(_ properties: String = "", to format: String, _ alignment: String = "au") throws -> Harness {
    Harness.initialise()
    _ = Registration.succeeded
    let harness = try Harness("swifth265repack \(properties)")
    harness.setOutputCaps("video/x-h265, stream-format=\(format), alignment=\(alignment)")
    return harness
  }

  private static let shuffled = [Stream.pps(), Stream.vps, Stream.sps()]

  @Test(arguments: ["hvc1", "hev1", "byte-stream"]) func sortsParameterSetsOfTheStream(format: String) throws {
    let harness = try repack(to: format)
    harness.setInputCaps(Stream.caps(format == "hev1" ? "byte-stream" : "hev1", codecData: nil))
    let input = Self.shuffled + [Stream.contentLight, Stream.idr]
    let bytes = format == "hev1" ? Stream.byteStream(input) : RepackStream.lengthPrefixed(input)
    #expect(harness.push(bytes) == 0)
    harness.endOfStream()
    let output = (format == "hvc1" ? [] : Stream.headers) + [Stream.contentLight, Stream.idr]
    let found = try harness.pullBytes()
    #expect(found == (format == "byte-stream" ? Stream.byteStream(output) : RepackStream.lengthPrefixed(output)))
    guard format == "hvc1" else { return }
    let codecData = try harness.outputCodecData()
    let record = try H265.DecoderConfigurationRecord(codecData.span)
    #expect(record.parameterSets == Stream.headers)
  }

  @Test func sortsParameterSetsOfTheRecord() throws {
    let harness = try repack(to: "hvc1")
    harness.setInputCaps(Stream.caps("hvc1", codecData: Stream.hvcC(Self.shuffled.map { [$0] })))
    #expect(harness.push(Stream.packet(Stream.idr)) == 0)
    #expect(try harness.outputCodecData() == Stream.hvcC())
    #expect(try harness.pullBytes() == Stream.packet(Stream.idr))
  }

  /// Several sets of a type are in order as long as each follows those that it refers to.
  @Test func setsInOrderAreNotSorted() throws {
    let harness = try repack(to: "hev1")
    harness.setInputCaps(Stream.caps("byte-stream"))
    let second = Stream.sps { $0.id = 1 }
    let input = Stream.headers + [second, Stream.pps(id: 1, sps: 1), Stream.idr]
    #expect(harness.push(Stream.byteStream(input)) == 0)
    harness.endOfStream()
    #expect(try harness.pullBytes() == RepackStream.lengthPrefixed(input))
  }

  @Test func dropsPrefixAndSuffixSEI() throws {
    let harness = try repack("drop=sei", to: "byte-stream")
    harness.setInputCaps(Stream.caps("byte-stream"))
    let hash = Stream.sei(132, [2, 0, 0, 0, 1], isSuffix: true)
    #expect(harness.push(Stream.byteStream(Stream.headers + [Stream.contentLight, Stream.idr, hash])) == 0)
    harness.endOfStream()
    #expect(try harness.pullBytes() == Stream.byteStream(Stream.headers + [Stream.idr]))
  }

  /// An inserted delimiter has the TemporalId of its picture (7.4.2.2).
  @Test func delimitersHaveTheSubLayerOfTheirPicture() throws {
    let harness = try repack("insert-aud=true", to: "byte-stream")
    harness.setInputCaps(Stream.caps("hev1", codecData: nil))
    let higher = Stream.slice(.tsaN, count: 1, temporalID: 2)
    #expect(harness.push(RepackStream.lengthPrefixed(Stream.headers + [Stream.idr])) == 0)
    #expect(harness.push(RepackStream.lengthPrefixed([higher])) == 0)
    harness.endOfStream()
    #expect(try harness.pullBytes() == Stream.byteStream([Stream.delimiter] + Stream.headers + [Stream.idr]))
    #expect(try harness.pullBytes() == Stream.byteStream([0x46, 0x03, 0x50], higher))
  }

  // MARK: Cut streams

  /// The NAL unit types of the output slices.
  private func types(
    _ properties: String, _ units: [[UInt8]], discontinuity: Int, to format: String = "byte-stream"
  ) throws -> [UInt8] {
    let harness = try repack(properties, to: format)
    harness.setInputCaps(Stream.caps("byte-stream"))
    for (index, unit) in units.enumerated() {
      var buffer = try RepackStream.buffer(Stream.byteStream(index == 0 ? Stream.headers + [unit] : [unit]))
      if index == discontinuity { buffer.flags.insert(.discontinuity) }
      #expect(harness.push(buffer) == 0)
    }
    harness.endOfStream()
    let end = RepackEnd(format: format == "byte-stream" ? .byteStream : .inBand, alignment: "au")
    var types: [UInt8] = []
    for unit in units {
      let nalUnits = end.unpack(try harness.pullBytes())
      let slice = try #require(nalUnits.last)
      #expect(slice.dropFirst() == unit.dropFirst())
      types.append(slice[0] >> 1)
    }
    return types
  }

  private static let cut = [
    Stream.idr, Stream.slice(.trailingR, count: 1), Stream.slice(.trailingR, count: 7), Stream.slice(.cra, count: 10),
    Stream.slice(.raslN, count: 9), Stream.slice(.cra, count: 20),
  ]

  @Test(arguments: ["byte-stream", "hev1"]) func turnsTheCRAPictureAfterACutIntoABLAPicture(format: String) throws {
    #expect(try types("cra-to-bla=true", Self.cut, discontinuity: 2, to: format) == [20, 1, 1, 16, 8, 21])
    #expect(try types("cra-to-bla=true", Self.cut, discontinuity: 3, to: format) == [20, 1, 1, 16, 8, 21])
  }

  /// CRA pictures stay without the property, and where an IDR picture follows the cut.
  @Test func keepsOtherCRAPictures() throws {
    #expect(try types("", Self.cut, discontinuity: 2) == [20, 1, 1, 21, 8, 21])
    #expect(try types("cra-to-bla=true", Self.cut, discontinuity: 0) == [20, 1, 1, 21, 8, 21])
  }

  /// The repackager does not write into the input's memory.
  @Test func doesNotWriteIntoInputMemory() throws {
    let harness = try repack("cra-to-bla=true", to: "byte-stream")
    harness.setInputCaps(Stream.caps("byte-stream"))
    let cra = Stream.byteStream(Stream.headers + [Stream.slice(.cra, count: 4)])
    var buffer = try RepackStream.buffer(cra)
    buffer.flags.insert(.discontinuity)
    let same = buffer.share()
    #expect(harness.push(buffer) == 0)
    harness.endOfStream()
    #expect(try harness.pullBytes() != cra)
    #expect(try same.copiedBytes() == cra)
  }
}
