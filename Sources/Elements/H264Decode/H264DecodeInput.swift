// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// What sink caps say of the stream.
struct H264DecodeInput: Hashable {
  /// Bytes of a NAL unit's length; `nil` for start codes.
  let nalLengthSize: NALLengthSize?
  /// Each buffer is a NAL unit instead of an access unit.
  let isNALAligned: Bool
  /// Parameter sets of `codec_data`.
  let parameterSets: [[UInt8]]
  /// Whether caps say what the stream might say otherwise.
  let hasColorimetry: Bool, hasChromaSite: Bool, hasPixelAspectRatio: Bool, hasInterlaceMode: Bool
  let hasFrameRate: Bool, hasViews: Bool, hasMasteringDisplay: Bool, hasContentLight: Bool

  /// Reads caps.
  ///
  /// - Throws: `STREAM/FORMAT` where fields contradict one another or `codec_data` is missing or unreadable.
  init(_ state: borrowing VideoCodecState) throws(ElementError) {
    guard let caps = state.caps else { throw Self.invalid("there are no caps") }
    let fields = caps.first
    hasColorimetry = fields.has("colorimetry")
    hasChromaSite = fields.has("chroma-site")
    hasPixelAspectRatio = fields.has("pixel-aspect-ratio")
    hasInterlaceMode = fields.has("interlace-mode")
    hasFrameRate = fields.fraction("framerate").map { $0.numerator > 0 && $0.denominator > 0 } ?? false
    hasViews = fields.has("multiview-mode")
    hasMasteringDisplay = fields.has("mastering-display-info")
    hasContentLight = fields.has("content-light-level")
    isNALAligned = fields.string("alignment") == "nal"

    let streamFormat = fields.string("stream-format")
    let codecData = state.codecData
    switch streamFormat {
    case "avc", "avc3":
      if let codecData {
        let record = try Self.record(codecData)
        nalLengthSize = record.nalLengthSize
        parameterSets =
          record.sequenceParameterSets + record.pictureParameterSets
          + (record.high?.sequenceParameterSetExtensions ?? [])
      } else if streamFormat == "avc3" {
        // Without a record, the length size is the one that everyone writes.
        nalLengthSize = .four
        parameterSets = []
      } else {
        throw Self.invalid("stream-format=avc needs codec_data, and there is none")
      }
    default:
      // Parameter sets are in-band; a codec_data beside them does no harm and no good.
      nalLengthSize = nil
      parameterSets = []
    }
  }

  private static func record(
    _ codecData: borrowing Buffer
  ) throws(ElementError) -> H264.DecoderConfigurationRecord {
    guard let bytes = codecData.bytes() else { throw invalid("codec_data cannot be mapped") }
    do throws(BitstreamError) {
      return try H264.DecoderConfigurationRecord(bytes.span)
    } catch {
      throw invalid(
        "codec_data is no avcC record: \(error.reason) at \(error.element), bit \(error.bitOffset) of \(bytes.count * 8)"
      )
    }
  }

  private static func invalid(_ what: String) -> ElementError {
    ElementError(.stream(.format), "The stream's format cannot be decoded.", debug: what)
  }
}

extension Buffer {
  /// A copy of the bytes, `nil` when they cannot be read.
  fileprivate borrowing func bytes() -> [UInt8]? {
    do throws(FlowError) {
      let map = try map()
      let span = map.bytes
      return [UInt8](capacity: span.count) { output in
        for index in span.indices { output.append(span[index]) }
      }
    } catch {
      return nil
    }
  }
}
