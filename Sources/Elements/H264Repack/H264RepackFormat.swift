// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// What caps of `video/x-h264` say of the packaging.
struct H264RepackFormat {
  var streamFormat: StreamFormat
  var alignment: StreamAlignment
  var packaging: NALPackaging
  /// `codec_data`, with its bytes as they are.
  var record: H264.DecoderConfigurationRecord?
  var recordBytes: [UInt8]
  var frameRate: GStreamer.Fraction?

  /// Reads caps. Without `stream-format`, `codec_data` tells avc from byte-stream. Without `alignment`, avc buffers
  /// are access units, as they are wherever such caps are found, and byte-stream buffers are whole NAL units.
  ///
  /// - Throws: `STREAM/FORMAT` with what is missing or contradictory.
  init(_ caps: borrowing Caps) throws(ElementError) {
    let fields = caps.first
    guard fields.name == "video/x-h264" else { throw Self.invalid("expected video/x-h264, found \(fields.name)") }
    let recordBytes = try Self.codecData(fields)
    var record: H264.DecoderConfigurationRecord?
    if !recordBytes.isEmpty {
      do throws(BitstreamError) {
        record = try H264.DecoderConfigurationRecord(recordBytes.span)
      } catch {
        throw Self.invalid("codec_data of \(recordBytes.count) bytes is no avcC: \(error)")
      }
    }
    let streamFormat = try Self.streamFormat(fields, hasRecord: record != nil)
    self.recordBytes = recordBytes
    self.record = record
    self.streamFormat = streamFormat
    switch streamFormat {
    case .byteStream: packaging = .annexB
    case .avc, .avc3: packaging = .lengthPrefixed(record?.nalLengthSize ?? .four)
    }
    switch fields.string("alignment") {
    case "au": alignment = .accessUnit
    case "nal": alignment = .nalUnit
    case nil: alignment = streamFormat == .byteStream ? .nalUnit : .accessUnit
    case let other?: throw Self.invalid("alignment=\(other) is not known; au and nal are")
    }
    frameRate = fields.fraction("framerate").flatMap { $0.numerator > 0 && $0.denominator > 0 ? $0 : nil }
  }

  /// Whether caps of this format need `codec_data` that only the stream's parameter sets give.
  var carriesParameterSets: Bool { record?.sequenceParameterSets.isEmpty == false }

  /// The input's `codec_data` with another length size in it and nothing else changed; nil without any.
  func recordBytes(lengthSize: NALLengthSize) -> [UInt8]? {
    guard let record else { return nil }
    guard record.nalLengthSize != lengthSize else { return recordBytes }
    var changed = record
    changed.nalLengthSize = lengthSize
    do throws(BitstreamError) { return try changed.bytes() } catch { return nil }
  }

  private static func streamFormat(
    _ fields: StructureView, hasRecord: Bool
  ) throws(ElementError) -> StreamFormat {
    switch fields.string("stream-format") {
    case "avc":
      guard hasRecord else { throw invalid("stream-format=avc needs codec_data, and there is none") }
      return .avc
    case "avc3": return .avc3
    case "byte-stream":
      guard !hasRecord else { throw invalid("stream-format=byte-stream has no codec_data, and there is some") }
      return .byteStream
    case nil: return hasRecord ? .avc : .byteStream
    case let other?: throw invalid("stream-format=\(other) is not known; avc, avc3 and byte-stream are")
    }
  }

  private static func codecData(_ fields: StructureView) throws(ElementError) -> [UInt8] {
    guard let buffer = fields.buffer("codec_data") else { return [] }
    do throws(FlowError) {
      let map = try buffer.map()
      return map.bytes.copied()
    } catch {
      throw invalid("codec_data cannot be mapped")
    }
  }

  private static func invalid(_ what: String) -> ElementError {
    ElementError(.stream(.format), "This H.264 stream's caps cannot be worked with: \(what).", debug: what)
  }
}
