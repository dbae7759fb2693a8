// SPDX-License-Identifier: MPL-2.0
import CAVFormat

/// A stream of a container, as its header describes it (`AVStream`).
package struct StreamDescription: Sendable {
  /// The kind of content.
  package enum Kind: Sendable, Hashable { case video, audio, subtitle, data, attachment, unknown }

  /// The marks that the author or the muxer has set (`AV_DISPOSITION_…`).
  package struct Disposition: OptionSet, Sendable, Hashable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let isDefault = Disposition(rawValue: AV_DISPOSITION_DEFAULT)
    package static let forced = Disposition(rawValue: AV_DISPOSITION_FORCED)
    package static let hearingImpaired = Disposition(rawValue: AV_DISPOSITION_HEARING_IMPAIRED)
    package static let visualImpaired = Disposition(rawValue: AV_DISPOSITION_VISUAL_IMPAIRED)
    package static let comment = Disposition(rawValue: AV_DISPOSITION_COMMENT)
    package static let original = Disposition(rawValue: AV_DISPOSITION_ORIGINAL)
    package static let dub = Disposition(rawValue: AV_DISPOSITION_DUB)
    /// A cover picture, not a stream of pictures.
    package static let attachedPicture = Disposition(rawValue: AV_DISPOSITION_ATTACHED_PIC)
    package static let timedThumbnails = Disposition(rawValue: AV_DISPOSITION_TIMED_THUMBNAILS)
  }

  /// Its place in the container, from 0.
  package let index: Int
  /// The container's number of it: the track id of MP4, the PID of MPEG-TS.
  package let id: Int
  package let kind: Kind
  /// libavcodec's name of the codec: h264, hevc, aac.
  package let codecName: String
  /// libavcodec's number of the codec.
  package let codecID: UInt32
  /// The container's code of the codec, first character in the lowest byte; 0 if it has none.
  package let codecTag: UInt32
  /// The codec's configuration: `avcC`, `hvcC`, parameter sets, `AudioSpecificConfig`.
  package let extradata: [UInt8]
  /// Ticks of its timestamps.
  package let timeBase: TimeBase
  /// The beginning, in ticks; nil if unknown.
  package let start: Int64?
  /// The duration, in ticks; nil if unknown.
  package let duration: Int64?
  package let disposition: Disposition
  package let metadata: MetadataDictionary
  package let sideData: [SideData]
  /// Width and height in pixels; 0 for streams without pictures.
  package let size: (width: Int, height: Int)
  /// Width to height of a pixel; nil if the container does not have it.
  package let pixelAspect: TimeBase?
  /// Pictures a second, on average; nil if unknown.
  package let frameRate: TimeBase?
  /// Bits a second; 0 if unknown.
  package let bitrate: Int64
  /// Samples a second of sound; 0 for other streams.
  package let sampleRate: Int
  /// Channels of sound; 0 for other streams.
  package let channels: Int
  /// The container's color of video.
  package let colour: Colour

  /// The conversion of samples to colors, by the codes of H.273.
  package struct Colour: Sendable, Hashable {
    package var primaries: UInt8
    package var transfer: UInt8
    package var matrix: UInt8
    /// nil if it is not stated.
    package var isFullRange: Bool?

    package init(primaries: UInt8, transfer: UInt8, matrix: UInt8, isFullRange: Bool?) {
      (self.primaries, self.transfer, self.matrix, self.isFullRange) = (primaries, transfer, matrix, isFullRange)
    }

    /// The code of H.273 for "unspecified".
    private static let unspecified: UInt8 = 2

    /// Whether nothing is stated.
    package var isUnspecified: Bool {
      [primaries, transfer, matrix].allSatisfy { $0 == Self.unspecified } && isFullRange == nil
    }

    fileprivate init(_ parameters: AVCodecParameters) {
      primaries = unsafe UInt8(truncatingIfNeeded: parameters.color_primaries.rawValue)
      transfer = unsafe UInt8(truncatingIfNeeded: parameters.color_trc.rawValue)
      matrix = unsafe UInt8(truncatingIfNeeded: parameters.color_space.rawValue)
      isFullRange =
        switch unsafe parameters.color_range {
        case AVCOL_RANGE_JPEG: true
        case AVCOL_RANGE_MPEG: false
        default: nil
        }
    }
  }

  /// Samples at the start of sound that its decoder needs and that are not heard.
  package let priming: Int

  init(copying stream: UnsafePointer<AVStream>) {
    let parameters = unsafe stream.pointee.codecpar.pointee
    index = unsafe Int(stream.pointee.index)
    id = unsafe Int(stream.pointee.id)
    kind =
      switch unsafe parameters.codec_type {
      case AVMEDIA_TYPE_VIDEO: .video
      case AVMEDIA_TYPE_AUDIO: .audio
      case AVMEDIA_TYPE_SUBTITLE: .subtitle
      case AVMEDIA_TYPE_DATA: .data
      case AVMEDIA_TYPE_ATTACHMENT: .attachment
      default: .unknown
      }
    codecName = unsafe String(cString: cavcodec_get_name(parameters.codec_id))
    codecID = unsafe parameters.codec_id.rawValue
    codecTag = unsafe parameters.codec_tag
    extradata = unsafe [UInt8](
      UnsafeBufferPointer(start: parameters.extradata, count: Int(max(0, parameters.extradata_size))))
    timeBase = unsafe TimeBase(stream.pointee.time_base) ?? .nanoseconds
    start = unsafe .timestamp(stream.pointee.start_time)
    duration = unsafe .timestamp(stream.pointee.duration)
    disposition = unsafe Disposition(rawValue: stream.pointee.disposition)
    metadata = unsafe MetadataDictionary(copying: stream.pointee.metadata)
    sideData = unsafe (0..<max(0, cav_stream_side_data_count(stream))).map {
      unsafe SideData(copying: cav_stream_side_data(stream, $0).pointee)
    }
    size = unsafe (Int(parameters.width), Int(parameters.height))
    let containers = unsafe TimeBase(stream.pointee.sample_aspect_ratio)
    pixelAspect = unsafe containers ?? TimeBase(parameters.sample_aspect_ratio)
    frameRate = unsafe TimeBase(stream.pointee.avg_frame_rate)
    bitrate = unsafe max(0, parameters.bit_rate)
    sampleRate = unsafe Int(max(0, parameters.sample_rate))
    priming = unsafe Int(max(0, parameters.initial_padding))
    colour = unsafe Colour(parameters)
    channels = unsafe withUnsafePointer(to: parameters) { unsafe Int(max(0, cav_parameters_channels($0))) }
  }
}
