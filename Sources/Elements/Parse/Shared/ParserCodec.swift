// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The requirements of a parser on a codec, besides its syntax: how a picture's SEI maps to flags and metas of
/// buffers.
protocol ParserCodec: ElementCodecSyntax {
  /// Reads the picture's display from a message.
  ///
  /// - Returns: whether time codes are in it, for ``rewriteTimeCodes(_:in:sps:)``.
  static func takeDisplay(
    _ message: borrowing SEIMessages.Message, sps: SequenceParameterSet, into display: inout PictureDisplay
  ) throws(BitstreamError) -> Bool

  /// An SEI NAL unit with other time codes; nil when there is no place for them in it.
  static func rewriteTimeCodes(
    _ codes: [Buffer.TimeCode], in nalUnit: Span<UInt8>, sps: SequenceParameterSet
  ) -> [UInt8]?

  /// Types of SEI messages that ``takeDisplay(_:sps:into:)`` reads.
  static var displayMessages: [SEIPayloadType] { get }

  /// Whether a missing access unit delimiter is inserted with alignment=nal too.
  static var delimitsNALUnits: Bool { get }

  /// Whether parameter sets are inserted if the stream begins with damage, which may have cost them.
  static var repeatsSetsAfterDamage: Bool { get }

  /// Whether missing DTS are derived, and the segment shifted to make room for them, where both input and output are
  /// byte streams. With length prefixes on either side they always are.
  static var timesByteStreams: Bool { get }

  /// Whether NAL unit types mark every random access point, so that other intra pictures are none.
  static var typesTellRandomAccess: Bool { get }

  /// A configuration record with SEI for the whole stream, if it has a place for that.
  static func record(_ record: ConfigurationRecord, with sei: [[UInt8]]) -> ConfigurationRecord

  /// A slice in a log line.
  static func describe(_ slice: SliceHeader) -> String

  /// Profile names in caps, each with the profiles whose decoders can decode it too. Left out are those that conform to
  /// others only by flags that caps do not carry.
  static var conformingProfiles: [(name: String, others: [String])] { get }
}
