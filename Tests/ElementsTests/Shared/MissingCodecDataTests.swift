// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// Caps of length-prefixed streams without `codec_data`, as in MP4 files without avcC and in WebCodecs. The parameter
/// sets are in the stream, and start codes may stand in place of lengths.
@Suite struct MissingCodecDataTests {
  init() { #expect(Registration.succeeded) }

  /// What separates the NAL units.
  enum Separation: String, CaseIterable, Sendable {
    case lengths, startCodes, shortStartCodes, mixedStartCodes

    func packet(_ nalUnits: [[UInt8]]) throws -> [UInt8] {
      try nalUnits.enumerated().flatMap { index, nalUnit in
        switch self {
        case .lengths: try NALPackaging.lengthPrefixed(.four).packaged(nalUnit)
        case .startCodes: [0, 0, 0, 1] + nalUnit
        case .shortStartCodes: [0, 0, 1] + nalUnit
        case .mixedStartCodes: (index == 0 ? [0, 0, 0, 1] : [0, 0, 1]) + nalUnit
        }
      }
    }
  }

  @Test(arguments: StreamCodec.allCases, Separation.allCases)
  func firstBytesDecideThePackaging(codec: StreamCodec, separation: Separation) throws {
    let units = Array(codec.accessUnits(in: try Clip.read("clip.\(codec)")).prefix(20)).map(Clip.nalUnits)
    let packets = try units.map(separation.packet)
    for format in [codec.inBand, codec.outOfBand] {
      for element in ["parse", "repack"] {
        for output in [codec.inBand, codec.outOfBand, "byte-stream"] {
          let harness = try Harness("\(codec.element)\(element)")
          harness.setOutputCaps("\(codec.mediaType), stream-format=\(output), alignment=au")
          harness.setInputCaps("\(codec.mediaType), stream-format=\(format), alignment=au, framerate=25/1")
          for (index, packet) in packets.enumerated() {
            #expect(harness.push(packet, pts: .milliseconds(UInt64(40 * index))) == 0)
          }
          harness.endOfStream()
          let packaging = output == "byte-stream" ? NALPackaging.annexB : .lengthPrefixed(.four)
          var pictures: [[[UInt8]]] = []
          while let buffer = harness.tryPull() {
            let bytes = try buffer.copiedBytes()
            pictures.append(packaging.nalUnits(of: bytes.span).map { Array(bytes[$0]) }.filter(codec.isSlice))
          }
          #expect(pictures == units.map { $0.filter(codec.isSlice) }, "\(format), \(element), \(output)")
        }
      }
    }
  }

  /// Access units of more than 258 bytes begin with 00 00 01 as with a length that they hold.
  @Test(arguments: StreamCodec.allCases, Separation.allCases)
  func decodersUseThePackagingOfTheFirstBytes(codec: StreamCodec, separation: Separation) throws {
    let units = Array(codec.accessUnits(in: try Clip.read("clip.\(codec)")).prefix(20)).map(Clip.nalUnits)
    let cabacZeroWords: [UInt8] = (0..<300).map { $0 % 3 == 2 ? 3 : 0 }
    let large = units.map { unit in unit.map { codec.isSlice($0) ? $0 + cabacZeroWords : $0 } }
    let whole = try decoder(codec, "byte-stream").decode(units.map { RepackStream.annexB($0) }).map(\.fingerprint)
    #expect(whole.count == units.count)
    for format in [codec.inBand, codec.outOfBand] {
      for units in [units, large] {
        let harness = try decoder(codec, format)
        #expect(try harness.decode(units.map(separation.packet)).map(\.fingerprint) == whole, "\(format)")
        let warnings = harness.takeMessages().count { $0.contains("muxed wrongly") }
        #expect(warnings == (separation == .lengths ? 0 : 1), "\(format)")
      }
    }
  }

  private func decoder(_ codec: StreamCodec, _ format: String) throws -> Harness {
    let harness = try Harness.decoder(
      "\(codec.element)dec max-threads=2", input: "\(codec.mediaType), stream-format=\(format), alignment=au")
    harness.collectMessages()
    return harness
  }
}
