// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Random access points, by the stream's own marks and by slice types.
@Suite(.serialized) struct ParserKeyUnitTests {
  typealias Stream = ParseStream

  private static let headers = Stream.byteStream(Stream.spsToOrder(reorder: 0), Stream.ppsToOrder())
  private static let recoveryPoint: [UInt8] = [0x06, 0x06, 0x01, 0xC4, 0x80]

  /// Whether each output buffer with slices is a key unit.
  private func keys(_ stream: [UInt8], alignment: String = "au") throws -> [Bool] {
    let harness = try Harness.parse(from: "video/x-h264", to: "stream-format=byte-stream, alignment=\(alignment)")
    #expect(harness.push(stream) == 0)
    harness.endOfStream()
    var result: [Bool] = []
    while harness.waiting > 0 {
      let buffer = try harness.pull()
      let bytes = try buffer.copiedBytes()
      // With NAL unit alignment, the buffers with slices.
      if alignment == "nal", ![1, 5].contains((bytes.count > 4 ? bytes[4] : 0) & 0x1F) { continue }
      result.append(!buffer.flags.contains(.deltaUnit))
    }
    return result
  }

  private static func picture(_ kind: UInt32, _ number: UInt32, slices: [UInt32] = [0]) -> [UInt8] {
    slices.flatMap { Stream.byteStream(Stream.slice(kind, number: number, order: 2 * number, first: $0)) }
  }

  @Test(arguments: ["au", "nal"]) func intraPicturesAreKeyUnits(_ alignment: String) throws {
    var stream = Self.headers + Stream.byteStream(Stream.slice(2, number: 0, order: 0, idr: true))
    for number in UInt32(1)..<12 { stream += Self.picture(number % 3 == 0 ? 2 : 0, number) }
    #expect(try keys(stream, alignment: alignment) == (0..<12).map { $0 % 3 == 0 })
  }

  /// In a stream with recovery points, only these are key units.
  @Test(arguments: ["au", "nal"]) func intraPicturesAreNoKeyUnitsAfterARecoveryPoint(_ alignment: String) throws {
    var stream = Self.headers + Stream.byteStream(Stream.slice(2, number: 0, order: 0, idr: true))
    stream += Self.picture(2, 1) + Self.picture(0, 2)
    stream += Stream.byteStream(Self.recoveryPoint) + Self.picture(0, 3) + Self.picture(2, 4) + Self.picture(0, 5)
    #expect(try keys(stream, alignment: alignment) == [true, true, false, true, false, false])
  }

  /// A picture of I and P slices is no key unit. With NAL unit alignment, only its first slice is known in time.
  @Test func everySliceOfAKeyUnitIsIntra() throws {
    let mixed = { (first: UInt32, second: UInt32, number: UInt32) in
      Stream.byteStream(
        Stream.slice(first, number: number, order: 2 * number),
        Stream.slice(second, number: number, order: 2 * number, first: 2))
    }
    let stream =
      Self.headers + Stream.byteStream(Stream.slice(2, number: 0, order: 0, idr: true)) + mixed(2, 0, 1)
      + mixed(0, 2, 2)
      + mixed(2, 2, 3)
    #expect(try keys(stream) == [true, false, false, true])
    #expect(try keys(stream, alignment: "nal") == [true, true, true, false, false, true, true])
  }

  /// A muxer that cut between the fields of a frame would keep one of them.
  @Test func aSecondFieldIsNoKeyUnit() throws {
    let field = { (kind: UInt32, number: UInt32, bottom: UInt32, idr: Bool) in
      Stream.byteStream(
        Stream.slice(kind, number: number, order: 2 * number + bottom, idr: idr, field: bottom, frameOnly: false))
    }
    let stream =
      Stream.byteStream(Stream.spsToOrder(frameOnly: false, reorder: 0), Stream.ppsToOrder())
      + field(2, 0, 0, true) + field(2, 0, 1, false) + field(2, 1, 0, false) + field(2, 1, 1, false)
      + field(0, 2, 0, false) + field(0, 2, 1, false)
    #expect(try keys(stream) == [true, false, true, false, false, false])
  }
}
