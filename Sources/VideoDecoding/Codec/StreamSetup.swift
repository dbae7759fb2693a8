// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// A format description, and the libavcodec settings for it.
struct StreamSetup {
  let format: FormatDescription
  let codec: CodecSettings.Codec
  private let syntax: any SessionCodec.Type
  /// avcC or hvcC, which also announces length-prefixed access units, or Annex B parameter sets.
  let extradata: [UInt8]
  /// nil for Annex B.
  let nalLengthSize: NALLengthSize?
  /// The deepest reordering that the format allows, in frames.
  let deepestReordering: Int
  /// Size of the decoded picture buffer in frames, which libavcodec's reordering does not exceed.
  let bufferedFrames: Int
  /// Parameter sets, without start codes or lengths.
  let parameterSets: [[UInt8]]
  /// Luma samples of a picture.
  private let sampleCount: Int

  /// The frames that libavcodec skips.
  func codecSkip(_ skip: SessionConfiguration.SkipFrames) -> CodecSettings.Skip { syntax.codecSkip(skip) }

  /// `max_num_reorder_frames` (H.264 E.2.1), `sps_max_num_reorder_pics` (H.265), when the stream has it.
  var reorderDepth: Int? { format.sentReorderFrames }

  /// Whether pictures may be reordered as far as is known.
  var mayReorder: Bool { deepestReordering > 0 }

  /// - Throws: `invalidFormatDescription` for parameter sets that do not fit a configuration record and for a picture
  ///   size beyond libavcodec's addressing.
  init(_ format: FormatDescription) throws(DecodeError) {
    // Parameter sets have no others, but the code that made the description may have changed it.
    guard !RefusedParameterSets.exceedsAddressing(format.codedSize),
      0...FormatDescription.deepestReordering ~= format.sentReorderFrames ?? 0
    else { throw DecodeError(.invalidFormatDescription) }
    self.format = format
    syntax = format.codec.sessionCodec
    codec = syntax.decoder
    nalLengthSize = format.nalLengthSize
    // libavcodec never holds back more.
    deepestReordering = min(format.maximumReorderFrames, 15)
    bufferedFrames = min(format.decodedPictureBufferFrames, 15)
    sampleCount = format.codedSize.width * format.codedSize.height
    var decodable = format
    decodable.parameterSets = syntax.decodable(format.parameterSets)
    let sets = decodable.parameterSets
    parameterSets = sets.video + sets.sequence + sets.sequenceExtensions + sets.picture
    guard nalLengthSize != nil else {
      extradata = parameterSets.flatMap { [0, 0, 0, 1] + $0 }
      return
    }
    do throws(BitstreamError) {
      extradata = try syntax.configurationBytes(decodable)
    } catch {
      throw DecodeError(.invalidFormatDescription)
    }
  }

  /// The settings to open libavcodec with.
  ///
  /// - Parameter reorderDepth: the frames to hold back for reordering at first, given whether a codec reports a deeper
  ///   reordering only frames later.
  func codecSettings(
    _ configuration: SessionConfiguration, skip: CodecSettings.Skip, reorderDepth: (_ learnsLate: Bool) -> Int
  ) -> CodecSettings {
    var settings = CodecSettings(codec: codec, extradata: extradata)
    settings.threadCount = configuration.threadType == .none ? 1 : configuration.threadCount
    settings.useFrameThreads =
      configuration.threadType == .frame || (configuration.threadType == .automatic && !configuration.lowDelay)
    settings.useSliceThreads = configuration.threadType != .frame
    settings.lowDelay = configuration.lowDelay
    if case .process = configuration.isolation, settings.useFrameThreads {
      settings.batchSize = CodecSettings.batchSize(sampleCount)
    }
    settings.reorderDepth = reorderDepth(settings.mayDelayFrames)
    settings.expectsDeepestReordering = configuration.expectsReordering && mayReorder
    settings.skip = skip
    settings.maximumPixels = configuration.maximumPixels
    return settings
  }
}
