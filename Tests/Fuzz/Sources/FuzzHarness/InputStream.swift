// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

/// The data of an input as a stream of buffers with caps.
struct InputStream {
  /// The caps for the sink pad.
  let caps: String
  private let bytes: [UInt8]
  private let nalUnits: [Range<Int>]
  private let packaging: NALPackaging

  /// - Parameter isH265: whether it is a stream of H.265, else of H.264.
  init(_ data: Span<UInt8>, isH265: Bool, _ choices: inout Choices) {
    let (mediaType, outOfBand, inBand) =
      isH265 ? ("video/x-h265", "hvc1", "hev1") : ("video/x-h264", "avc", "avc3")
    bytes = [UInt8](data, data.indices)
    var found: [Range<Int>] = []
    var units = AnnexB.NALUnits(data)
    while let unit = units.next() { found.append(unit.range) }
    nalUnits = found
    let alignment = ["", ", alignment=au", ", alignment=nal"][choices.below(3)]
    switch choices.below(6) {
    case 0, 1:
      caps = "\(mediaType), stream-format=byte-stream" + alignment
      packaging = .annexB
    case 2:
      caps = mediaType
      packaging = .annexB
    case 3:
      packaging = .lengthPrefixed([.one, .two, .four, .four][choices.below(4)])
      caps = "\(mediaType), stream-format=\(inBand)" + alignment + Self.codecData(data, found, packaging, isH265)
    case 4:
      packaging = .lengthPrefixed([.one, .two, .four, .four][choices.below(4)])
      caps =
        "\(mediaType), stream-format=\(outOfBand), alignment=au" + Self.codecData(data, found, packaging, isH265)
    default:
      // The input as configuration record.
      packaging = .lengthPrefixed(.four)
      let record = [UInt8](data, 0..<min(data.count, 64))
      caps = "\(mediaType), stream-format=\(outOfBand), alignment=au" + Self.field(record)
    }
  }

  /// The buffers: NAL units in the packaging of the caps, or the bytes split anywhere.
  func pieces(_ choices: inout Choices) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    switch choices.below(4) {
    case 0: pieces = [bytes]
    case 1:
      var start = 0
      while start < bytes.count, pieces.count < 400 {
        let end = min(bytes.count, start + 1 + choices.below(200))
        pieces.append([UInt8](bytes[start..<end]))
        start = end
      }
    default:
      var piece: [UInt8] = []
      for range in nalUnits {
        piece += prefix(range.count) + bytes[range]
        if choices.below(3) == 0 {
          pieces.append(piece)
          piece = []
        }
      }
      pieces.append(piece)
    }
    return pieces
  }

  private func prefix(_ length: Int) -> [UInt8] {
    guard case .lengthPrefixed(let size) = packaging else { return [0, 0, 0, 1] }
    return (0..<size.byteCount).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
  }

  private static func codecData(
    _ data: Span<UInt8>, _ units: [Range<Int>], _ packaging: NALPackaging, _ isH265: Bool
  ) -> String {
    guard case .lengthPrefixed(let size) = packaging else { return "" }
    let nalUnits = units.map { [UInt8](data, $0) }
    let bytes: [UInt8]?
    if isH265 {
      let sets = nalUnits.filter { H265.NALUnitType(headerByte: $0[0]).isParameterSet }
      bytes = try? FormatDescription(h265ParameterSets: sets, nalLengthSize: size)
        .h265DecoderConfigurationRecord().bytes()
    } else {
      let sets = nalUnits.filter { [7, 8, 13, 15].contains($0[0] & 0x1F) }
      bytes = try? FormatDescription(h264ParameterSets: sets, nalLengthSize: size)
        .h264DecoderConfigurationRecord().bytes()
    }
    return bytes.map(field) ?? ""
  }

  private static func field(_ record: [UInt8]) -> String {
    let digits = record.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return digits.isEmpty ? "" : ", codec_data=(buffer)" + digits
  }
}
