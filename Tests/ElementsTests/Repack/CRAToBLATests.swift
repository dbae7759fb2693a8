// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// The property `cra-to-bla` of `swifth265repack`.
@Suite(.serialized) struct CRAToBLATests {
  typealias Stream = H265Stream

  /// The NAL unit types of the output slices.
  private func types(
    _ properties: String, _ units: [[UInt8]], discontinuity: Int, to format: String = "byte-stream"
  ) throws -> [UInt8] {
    let harness = try H265RepackTests.repack(properties, to: format)
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
    let harness = try H265RepackTests.repack("cra-to-bla=true", to: "byte-stream")
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
