// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// How libavcodec has to be opened for a format description.
struct StreamSetup {
  let codec: CodecSettings.Codec
  /// avcC, which also announces length-prefixed access units, or Annex B parameter sets.
  let extradata: [UInt8]
  /// nil for Annex B.
  let nalLengthSize: NALLengthSize?
  /// `max_num_reorder_frames` (H.264 E.2.1), when the stream says.
  let reorderDepth: Int?
  /// The deepest reordering that the format allows, in frames.
  let deepestReordering: Int
  /// Parameter set NAL units, bare.
  let parameterSets: [[UInt8]]

  /// Whether pictures may be reordered as far as is known.
  var mayReorder: Bool { deepestReordering > 0 }

  /// - Throws: `invalidFormatDescription` for parameter sets that do not fit a configuration record and for a picture
  ///   size beyond libavcodec's addressing, `unsupportedFeature` for a codec that sessions do not decode yet.
  init(_ format: FormatDescription) throws(DecodeError) {
    guard format.codec == .h264 else { throw DecodeError(.unsupportedFeature) }
    guard !RefusedParameterSets.exceedsAddressing(format.codedSize) else {
      throw DecodeError(.invalidFormatDescription)
    }
    codec = .h264
    nalLengthSize = format.nalLengthSize
    reorderDepth = format.sentReorderFrames
    // libavcodec never holds back more.
    deepestReordering = min(format.maximumReorderFrames, 15)
    let sets = format.parameterSets
    parameterSets = sets.sequence + sets.sequenceExtensions + sets.picture
    guard nalLengthSize != nil else {
      extradata = parameterSets.flatMap { [0, 0, 0, 1] + $0 }
      return
    }
    do throws(BitstreamError) {
      extradata = try format.h264DecoderConfigurationRecord().bytes()
    } catch {
      throw DecodeError(.invalidFormatDescription)
    }
  }
}
