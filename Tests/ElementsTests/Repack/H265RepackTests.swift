// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// What differs in an H.265 repackager.
@Suite(.serialized) struct H265RepackTests {
  typealias Stream = H265Stream

  static func repack(_ properties: String = "", to format: String, _ alignment: String = "au") throws -> Harness {
    Harness.initialise()
    _ = Registration.succeeded
    let harness = try Harness("swifth265repack \(properties)")
    harness.setOutputCaps("video/x-h265, stream-format=\(format), alignment=\(alignment)")
    return harness
  }

  private static let shuffled = [Stream.pps(), Stream.vps, Stream.sps()]

  @Test(arguments: ["hvc1", "hev1", "byte-stream"]) func sortsParameterSetsOfTheStream(format: String) throws {
    let harness = try Self.repack(to: format)
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
    let harness = try Self.repack(to: "hvc1")
    harness.setInputCaps(Stream.caps("hvc1", codecData: Stream.hvcC(Self.shuffled.map { [$0] })))
    #expect(harness.push(Stream.packet(Stream.idr)) == 0)
    #expect(try harness.outputCodecData() == Stream.hvcC())
    #expect(try harness.pullBytes() == Stream.packet(Stream.idr))
  }

  /// Several sets of a type are in order as long as each follows those that it refers to.
  @Test func setsInOrderAreNotSorted() throws {
    let harness = try Self.repack(to: "hev1")
    harness.setInputCaps(Stream.caps("byte-stream"))
    let second = Stream.sps { $0.id = 1 }
    let input = Stream.headers + [second, Stream.pps(id: 1, sps: 1), Stream.idr]
    #expect(harness.push(Stream.byteStream(input)) == 0)
    harness.endOfStream()
    #expect(try harness.pullBytes() == RepackStream.lengthPrefixed(input))
  }
}
