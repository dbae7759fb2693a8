// SPDX-License-Identifier: MPL-2.0

/// The needs of this package's elements and program beyond a codec's syntax: GStreamer's names for it, and types that
/// follow a stream.
package protocol ElementCodecSyntax: VideoCodecSyntax where Inspector: FormatTracking {
  /// The media type of compressed caps: "video/x-h264".
  static var mediaType: String { get }
  /// `stream-format` of length-prefixed streams whose parameter sets are out of band: "avc", "hvc1".
  static var outOfBandStreamFormat: String { get }
  /// `stream-format` of length-prefixed streams whose parameter sets may be in-band too: "avc3", "hev1".
  static var inBandStreamFormat: String { get }

  /// The first header byte of a filler data NAL unit.
  static var fillerHeader: UInt8 { get }
  /// An end of sequence NAL unit.
  static var endOfSequence: [UInt8] { get }
  /// The id of a VPS; nil for any other NAL unit.
  static func videoParameterSetID(of nalUnit: Span<UInt8>) -> VideoParameterSetID?

  /// How a picture was scanned, as far as its coding shows.
  ///
  /// - Parameters:
  ///   - slice: the picture's first slice; of two fields, the first.
  ///   - sps: its SPS.
  static func scan(_ slice: SliceHeader, sps: borrowing SequenceParameterSet) -> PictureScan

  /// The field that a picture is, for codecs whose fields pair in the order of presentation.
  ///
  /// - Parameters:
  ///   - message: picture timing SEI.
  ///   - sps: the SPS of its picture.
  /// - Returns: nil if the fields of a frame are neighbors in decoding order, or if the message has no field.
  static func presentedField(
    _ message: borrowing SEIMessages.Message, sps: borrowing SequenceParameterSet
  ) -> PresentedField?

  /// How far a picture is behind another one in the unit of recovery points: `frame_num`, POC.
  ///
  /// - Parameters:
  ///   - slice: the first slice of a picture.
  ///   - next: the first slice of the next picture in decoding order.
  ///   - sps: its SPS.
  static func recoveryDistance(
    from slice: SliceHeader, to next: SliceHeader, sps: borrowing SequenceParameterSet
  ) -> Int

  /// Times the pictures of a raw stream.
  associatedtype Timeline: PresentationTiming where Timeline.Codec == Self
}

extension ElementCodecSyntax {
  /// `stream-format` of streams with start codes, the same for every codec.
  package static var byteStreamFormat: String { "byte-stream" }
}

/// How a picture was scanned, judged by its coding.
package enum PictureScan: Sendable, Hashable {
  /// Coded as a frame.
  case frame
  /// Coded in fields or with MBAFF, which encoders use for interlaced video only.
  case fields(isTopFirst: Bool)
}

/// An inspector that also describes the stream's format, by the SPS of each access unit's first slice.
package protocol FormatTracking: AccessUnitInspecting {
  /// Creates an inspector without parameter sets.
  ///
  /// - Parameter nalLengthSize: size of the stream's length prefixes; nil for start codes.
  init(nalLengthSize: NALLengthSize?)
  /// The format of the last access unit; nil until a slice came with its parameter sets.
  var format: FormatDescription? { get }
  /// Whether the active SPS has a VUI, whose absent fields have inferred values (H.264 E.2.1, H.265 E.3.1).
  var hasVUI: Bool { get }
}

extension AccessUnitInfo where Codec: ElementCodecSyntax {
  /// How the picture was scanned, as far as its coding shows; nil if its first slice cannot be read.
  ///
  /// - Parameter parameterSets: those up to the access unit.
  package func scan(_ parameterSets: borrowing Codec.ParameterSets) -> PictureScan? {
    guard let slice, let sps = parameterSets.sequenceParameterSet(slice.sequenceParameterSetID) else { return nil }
    return Codec.scan(slice, sps: sps)
  }
}
