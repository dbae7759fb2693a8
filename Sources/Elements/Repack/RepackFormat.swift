// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The packaging of a stream on one side of the repackager: the contents of its caps, with defaults filled in.
struct RepackFormat<Codec: ElementCodecSyntax>: Sendable, Equatable {
  let streamFormat: StreamFormat<Codec>
  /// The caps lack the `codec_data` of their stream format: the parameter sets are in the stream, and start codes may
  /// stand in place of lengths.
  let lacksCodecData: Bool
  /// Without `alignment` in the caps, length-prefixed buffers are taken for access units, byte-stream buffers for whole
  /// NAL units.
  let alignment: StreamAlignment
  /// nil if `codec_data` cannot be read: buffers can only pass unchanged.
  let packaging: NALPackaging?
  /// `codec_data`; empty when there is none.
  var codecData: [UInt8]
  let frameRate: Fraction?

  /// Reads caps.
  ///
  /// - Throws: `STREAM/FORMAT` for missing or contradictory fields; not yet for unreadable `codec_data`.
  init(_ caps: CompressedCaps<Codec>) throws(ElementError) {
    var packaging: NALPackaging? = caps.packaging
    var lacksCodecData = false
    for problem in caps.problems {
      switch problem {
      case .missingCodecData: lacksCodecData = caps.streamFormat == .outOfBand
      case .unreadableCodecData: packaging = nil
      default: throw Self.refusal(of: caps, problem)
      }
    }
    streamFormat = lacksCodecData ? .inBand : caps.streamFormat
    self.lacksCodecData = lacksCodecData
    alignment = caps.alignment ?? (caps.streamFormat == .byteStream ? .nalUnit : .accessUnit)
    self.packaging = packaging
    codecData = caps.codecData
    frameRate = caps.frameRate
  }

  /// The longest NAL unit that length prefixes allow.
  var longestNALUnit: Int {
    if case .lengthPrefixed(let size) = packaging { size.maximumNALUnitLength } else { .max }
  }

  /// The longest parameter set that length prefixes allow, or a configuration record.
  var longestParameterSet: Int { streamFormat == .outOfBand ? 0xFFFF : longestNALUnit }

  /// The error for caps whose `codec_data` cannot be read, although it must be.
  static func unreadable(_ caps: CompressedCaps<Codec>) -> ElementError {
    refusal(of: caps, caps.problems.first { if case .unreadableCodecData = $0 { true } else { false } })
  }

  private static var known: String {
    "\(Codec.outOfBandStreamFormat), \(Codec.inBandStreamFormat) or byte-stream"
  }

  private static func refusal(of caps: CompressedCaps<Codec>, _ problem: CompressedCaps<Codec>.Problem?) -> ElementError
  {
    let what =
      switch problem {
      case .otherMediaType(let found): "expected \(Codec.mediaType), found \(found)"
      case .unknownStreamFormat(let found): "stream-format=\(found) is unsupported; expected \(Self.known)"
      case .unknownAlignment(let found): "alignment=\(found) is unsupported; expected au or nal"
      case .unexpectedCodecData: "stream-format=byte-stream excludes codec_data, which is present"
      case .unreadableCodecData(let count, let error?):
        "codec_data of \(count) bytes is not an \(Codec.ConfigurationRecord.name): \(error)"
      case .unreadableCodecData(_, nil): "codec_data cannot be mapped"
      case .missingCodecData, nil: "codec_data is not an \(Codec.ConfigurationRecord.name)"
      }
    return ElementError(
      .stream(.format), "Unsupported caps: \(what).", debug: what)
  }
}
