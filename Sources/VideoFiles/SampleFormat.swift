// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

/// The format of samples that have one sample description.
struct SampleFormat {
  /// The number of samples searched for parameter sets if the configuration record has none.
  private static let searchLimit = 64

  /// The format of a sample description, by its configuration record or else by the parameter sets in its samples.
  ///
  /// - Parameter samples: the samples; read only if the record has no parameter sets.
  /// - Throws: `.format` if there are none, or they cannot be used; `.container` for a description of another codec.
  static func format(
    of description: MP4.VisualSampleDescription, samples: MP4.ShownSamples
  ) throws(VideoFileError) -> FormatDescription {
    switch description.coding.videoCodec {
    case .h264: try Self.format(H264.self, of: description, samples: samples)
    case .h265: try Self.format(H265.self, of: description, samples: samples)
    case nil: throw .container(MP4.ReadError(.unsupported, description.coding, at: 0))
    }
  }

  private static func format<Codec: ElementCodecSyntax>(
    _ codec: Codec.Type, of description: MP4.VisualSampleDescription, samples: MP4.ShownSamples
  ) throws(VideoFileError) -> FormatDescription {
    let record: Codec.ConfigurationRecord
    do throws(BitstreamError) { record = try Codec.ConfigurationRecord(description.configuration.span) } catch {
      throw .format(error)
    }
    do throws(BitstreamError) { return try Codec.formatDescription(record) } catch {
      guard error.reason == .missingParameterSet,
        let found = search(codec, samples, lengthSize: record.nalLengthSize)
      else { throw .format(error) }
      return found
    }
  }

  /// The format by the parameter sets in samples; nil if there are none.
  private static func search<Codec: ElementCodecSyntax>(
    _ codec: Codec.Type, _ samples: MP4.ShownSamples, lengthSize: NALLengthSize
  ) -> FormatDescription? {
    var samples = samples
    var inspector = Codec.Inspector(nalLengthSize: lengthSize)
    for _ in 0..<searchLimit {
      guard let sample = try? samples.next() else { return nil }
      _ = inspector.inspect(samples.bytes(of: sample).span, packaging: .lengthPrefixed(lengthSize))
      if let format = inspector.format { return format }
    }
    return nil
  }
}
