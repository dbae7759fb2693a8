// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// What a parser needs of a codec beside its syntax: how SEI of a picture is read and written in the words of buffers.
protocol ParserCodec: ElementCodecSyntax {
  /// Takes what a message says of how the picture is shown.
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

  /// Whether an access unit delimiter is put in front where NAL units go out one by one too.
  static var delimitsNALUnits: Bool { get }

  /// Whether parameter sets go in-band where the stream begins with damage, which may have cost them.
  static var repeatsSetsAfterDamage: Bool { get }

  /// Whether decoding times are made of presentation times, and room for them, where a byte stream stays one too. What
  /// needs them is told the times of packets in any case.
  static var timesByteStreams: Bool { get }

  /// Whether every picture at which decoding may begin says so by its type, so that other intra pictures are none.
  static var typesTellRandomAccess: Bool { get }

  /// What a log line tells of a slice.
  static func describe(_ slice: SliceHeader) -> String

  /// Names of profiles as caps have them, each with the others whose decoders decode it as well. Left out are those that
  /// conform to others only by flags that caps do not tell.
  static var conformingProfiles: [(name: String, others: [String])] { get }
}
