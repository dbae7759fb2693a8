// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

/// Writes the SEI messages of a stream, access unit by access unit, as ``SEIFile`` reads them.
struct SEIListing {
  /// `nil` for all.
  private let types: Set<SEIPayloadType>?
  private var writer = ResultWriter()

  init(_ types: Set<SEIPayloadType>?) { self.types = types }

  /// Lists the messages of an access unit; those of a NAL unit that cannot be read to its end up to there.
  mutating func add<Codec: VideoCodecSyntax>(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, number: Int, _ codec: Codec.Type
  ) {
    for range in packaging.nalUnits(of: accessUnit) {
      let nalUnit = accessUnit.extracting(range)
      guard nalUnit.count > Codec.nalUnitHeaderLength, Codec.NALUnitType(headerByte: nalUnit[0]).isSEI else { continue }
      do throws(BitstreamError) {
        var messages = SEIMessages(nalUnit, headerLength: Codec.nalUnitHeaderLength)
        while let message = try messages.next() {
          guard types?.contains(message.type) != false else { continue }
          write(number, message.type, try message.payload(), Codec.codec)
        }
      } catch { continue }
    }
  }

  private mutating func write(
    _ number: Int, _ type: SEIPayloadType, _ payload: [UInt8], _ codec: FormatDescription.Codec
  ) {
    var json = JSONText()
    json.open()
    json.member("access-unit", number)
    json.member("type", Int(type.rawValue))
    if let name = type.name(in: codec) { json.member("name", name) }
    json.member("payload", hex: payload)
    json.close()
    json.endLine()
    writer.write(json.bytes)
  }

  /// - Throws: the first error of writing.
  mutating func finish() throws(Failure) { try writer.finish() }
}
