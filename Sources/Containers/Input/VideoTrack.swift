// SPDX-License-Identifier: MPL-2.0
package import AVFormat
package import GStreamer
package import H26x

/// The H.264 or H.265 stream of a container, as far as the container describes it.
package struct VideoTrack: Sendable {
  /// How samples are packaged.
  package enum Packaging: Sendable, Hashable {
    /// An access unit a sample; NAL units have length prefixes, by this configuration record (`avcC`, `hvcC`).
    case lengthPrefixed(configuration: [UInt8], allowsInBandParameterSets: Bool)
    /// A byte stream, cut into access units or anywhere.
    case byteStream(isAligned: Bool)
  }

  package let codec: FormatDescription.Codec
  package var packaging: Packaging
  package var size: (width: Int, height: Int)?
  /// Width to height of a pixel.
  package var pixelAspect: Fraction?
  package var framerate: Fraction?
  /// Whether the container states the frame rate, instead of a measurement of its first pictures.
  var isFramerateStated = false
  /// How pictures are turned to be upright, by the value of `videoflip`'s property `video-direction`; `nil` for
  /// upright pictures.
  package var direction: String?
  package var duration: ClockTime?
  /// The colour that the container states; `nil` for none.
  package var colour: StreamDescription.Colour?
  /// The container's record of Dolby Vision; `nil` for none.
  package var dolbyVision: DolbyVision.Configuration?
  /// Whether the container states ST 2086.
  var hasMasteringDisplay = false
  /// The media rate of an edit that is shown at the rate of 1 nevertheless; `nil` without one.
  package var otherEditRate: Double?
  /// Ticks a second of its times; `nil` if the container does not have any.
  package var timescale: Int32?

  /// Ends a sentence about parts that are not shown as the container has them; empty for none.
  package var remark: String {
    otherEditRate.map { "; an edit with media rate \(Text.fixed($0, 2)) is shown at rate 1" } ?? ""
  }

  /// The caps of its samples.
  package var caps: String {
    var caps = codec.mediaType
    switch packaging {
    case .lengthPrefixed(let configuration, let allowsInBandParameterSets):
      let format = allowsInBandParameterSets ? codec.syntax.inBandStreamFormat : codec.syntax.outOfBandStreamFormat
      caps += ", stream-format=(string)\(format), alignment=(string)au"
      if !configuration.isEmpty { caps += ", codec_data=(buffer)\(Text.hexadecimal(configuration[...]))" }
    case .byteStream(let isAligned):
      caps += ", stream-format=(string)\(codec.syntax.byteStreamFormat)"
      if isAligned { caps += ", alignment=(string)au" }
    }
    if let size, size.width > 0, size.height > 0 {
      caps += ", width=(int)\(Int32(clamping: size.width)), height=(int)\(Int32(clamping: size.height))"
    }
    if let pixelAspect {
      caps += ", pixel-aspect-ratio=(fraction)\(pixelAspect.numerator)/\(pixelAspect.denominator)"
    }
    if let colorimetry { caps += ", colorimetry=(string)\(colorimetry)" }
    if let framerate { caps += ", framerate=(fraction)\(framerate.numerator)/\(framerate.denominator)" }
    return caps
  }

  /// The parts of the container's colour that are in effect; `nil` also if the stream's colour is unknown.
  private var colorimetry: String? {
    guard let colour, let configuration = packaging.configuration,
      let format = FormatDescription(codec, configuration: configuration)
    else { return nil }
    return colour.rest(besides: format)?.capsText
  }
}

/// A piece of a video track, in decoding order: an access unit, or as many bytes as the container has in one piece.
package struct VideoSample: Sendable {
  package var bytes: [UInt8]
  /// When it is composed, in nanoseconds of the media, which may be below 0; `nil` if the container does not have it.
  package var composition: Int64?
  /// When it is decoded, in the same time; `nil` if the container does not have it.
  package var decoding: Int64?
  /// How long it lasts, in nanoseconds; 0 if that is not known.
  package var duration: Int64 = 0
  /// The container marks it as a sync sample.
  package var isSync: Bool
  /// Set if the description of samples changes at this sample.
  package var packaging: VideoTrack.Packaging?
}

/// A part of the media that is shown, in nanoseconds.
package struct ShownRange: Sendable, Hashable {
  /// The composition time of the first picture.
  package var start: Int64
  /// The composition time of the first picture that is not shown any more; `nil` for no end.
  package var end: Int64?
  /// When it begins in the presentation.
  package var time: Int64

  /// Whether a picture that is composed at a time, for a duration, is seen, were it for a nanosecond only.
  package func shows(_ composition: Int64, for duration: Int64) -> Bool {
    composition &+ max(duration, 1) > start && (end.map { composition < $0 } ?? true)
  }
}

/// Reads the video track of a container.
package protocol VideoTrackReader: AnyObject {
  var track: VideoTrack { get }
  /// The part that is read.
  var shown: ShownRange { get }
  /// When the first picture that is shown is composed, in nanoseconds of the media, if samples in front of it are
  /// read. `nil` if the times alone show that.
  var first: Int64? { get }
  /// Whether there are samples in front of the part that is read.
  var hidesFront: Bool { get }
  /// All parts that are shown.
  var parts: [ShownRange] { get }
  /// The beginning of the media's clock, in nanoseconds; nil if it begins at 0.
  var beginning: Int64? { get }
  /// How far the file was read, in bytes.
  var position: Int64 { get }
  /// Reads all media, beginning with the first sample, whatever is shown of it.
  func readAllMedia()
  /// The next sample; `nil` at the end.
  func next() throws(Failure) -> VideoSample?
  /// Continues at a sync sample that is shown at or before a time of the presentation, as far as the index has one.
  ///
  /// - Returns: false if there is no index; nothing has changed then.
  func seek(to time: ClockTime) throws(Failure) -> Bool
}

extension VideoTrackReader {
  package var first: Int64? { nil }
}

extension Fraction {
  /// The same ratio, each part at most 2³¹ − 1.
  package init(_ fraction: Ratio) {
    self.init(Int32(clamping: fraction.numerator), Int32(clamping: fraction.denominator))
  }
}

extension ProgressPlace {
  /// In bytes of the file. The total of a pipe is not known.
  package convenience init(of input: InputFile) {
    let total = input.size.map { Double($0) }
    self.init(.bytes) { ProgressAmount(done: Double($0), total: total, unit: .bytes) }
  }

  /// In seconds of a video track, or in bytes of its file if the track's duration is not known.
  package convenience init(of track: VideoTrack, in input: InputFile) {
    if let duration = track.duration { self.init(of: duration) } else { self.init(of: input) }
  }
}
