// SPDX-License-Identifier: MPL-2.0
package import AVCodec
import CAVFormat

/// Converts text subtitles from one codec to another: libavcodec decodes them to ASS, and encodes them again.
@safe package final class SubtitleConverter {
  /// A format that a container's text subtitles can be converted to.
  package enum Target: Sendable {
    /// 3GPP Timed Text, which MP4 and MOV hold (`mov_text`).
    case timedText
    /// SubRip (`subrip`).
    case subRip

    fileprivate var codec: AVCodecID { self == .timedText ? AV_CODEC_ID_MOV_TEXT : AV_CODEC_ID_SUBRIP }
  }

  private let decoder: Context
  private let encoder: Context
  private var bytes = [UInt8](repeating: 0, count: 1 << 16)
  /// Packets that could not be converted.
  package private(set) var failureCount = 0

  /// The codecs that can be converted, by libavcodec's names.
  package static let codecs: Set = ["subrip", "srt", "ass", "ssa", "webvtt", "mov_text", "text"]

  @safe private final class Context {
    let raw: UnsafeMutablePointer<AVCodecContext>
    private let codec: UnsafePointer<AVCodec>

    init(_ codec: UnsafePointer<AVCodec>?) throws(AVError) {
      guard let codec = unsafe codec else { throw .decoderNotFound }
      guard let made = unsafe cavcodec_alloc_context3(codec) else { throw .outOfMemory }
      unsafe (raw, self.codec) = (made, codec)
    }

    func open() throws(AVError) { unsafe try AVError.check(cavcodec_open2(raw, codec, nil)) }

    deinit {
      var context: UnsafeMutablePointer<AVCodecContext>? = unsafe raw
      unsafe cavcodec_free_context(&context)
    }
  }

  /// Opens both codecs.
  ///
  /// - Parameters:
  ///   - stream: of `input`, with one of ``codecs``.
  /// - Throws: `AVError.decoderNotFound` if libavcodec lacks a codec; what the codecs throw for a configuration that
  ///   they cannot read.
  package init(_ stream: StreamDescription, of input: InputContext, to target: Target) throws(AVError) {
    decoder = unsafe try Context(cavcodec_find_decoder(AVCodecID(stream.codecID)))
    unsafe try input.copyParameters(of: stream.index, into: decoder.raw)
    unsafe decoder.raw.pointee.pkt_timebase = stream.timeBase.rational
    try decoder.open()
    encoder = try Self.encoder(target, behind: decoder)
  }

  /// Opens a decoder of captions of CTA-608, for ``cue(_:at:)``.
  ///
  /// - Throws: `AVError.decoderNotFound` if libavcodec lacks a codec.
  package init(captionsTo target: Target) throws(AVError) {
    // This decoder logs without its codec context, so the level of that would not do.
    FormatLibrary.silence()
    decoder = unsafe try Context(cavcodec_find_decoder(AV_CODEC_ID_EIA_608))
    unsafe decoder.raw.pointee.pkt_timebase = AVRational(num: 1, den: 1_000_000_000)
    try decoder.open()
    encoder = try Self.encoder(target, behind: decoder)
  }

  /// Opens an encoder of what a decoder returns.
  private static func encoder(_ target: Target, behind decoder: Context) throws(AVError) -> Context {
    let encoder = unsafe try Context(cavcodec_find_encoder(target.codec))
    unsafe encoder.raw.pointee.time_base = AVRational(num: 1, den: 1000)
    // Styles of the decoder's ASS, which the encoder reads.
    let count = unsafe Int(max(0, decoder.raw.pointee.subtitle_header_size))
    if count > 0, let header = unsafe decoder.raw.pointee.subtitle_header {
      guard let memory = unsafe cav_mallocz(count + 1) else { throw .outOfMemory }
      unsafe memory.copyMemory(from: header, byteCount: count)
      unsafe encoder.raw.pointee.subtitle_header = memory.assumingMemoryBound(to: UInt8.self)
      unsafe encoder.raw.pointee.subtitle_header_size = Int32(clamping: count)
    }
    try encoder.open()
    return encoder
  }

  /// Copies the parameters of the target's codec.
  func copyParameters(into target: UnsafeMutablePointer<AVCodecParameters>) throws(AVError) {
    unsafe try AVError.check(cavcodec_parameters_from_context(target, encoder.raw))
  }

  /// Converts a packet of the source to a packet of the target, with its times; nil if it has no text, or cannot be
  /// read.
  package func convert(_ packet: borrowing MediaPacket) throws(AVError) -> MediaPacket? {
    guard let text = decode(packet)?.text else { return nil }
    var converted = try MediaPacket(copying: text.span)
    (converted.presentation, converted.decoding) = (packet.presentation, packet.decoding)
    converted.duration = packet.duration
    converted.stream = packet.stream
    converted.isKey = true
    return converted
  }

  /// Text that is shown for a time.
  package struct Cue: Sendable, Equatable {
    /// Its beginning and end, in milliseconds.
    package let start, end: Int64
    /// The bytes of the target's codec.
    package let text: [UInt8]
  }

  /// Decodes the pairs of a field of CTA-608 that a frame has, in presentation order.
  ///
  /// - Parameters:
  ///   - triplets: three bytes a pair; empty for the end of the captions.
  ///   - time: of the frame, in nanoseconds.
  /// - Returns: the text whose end they are; nil for none.
  package func cue(_ triplets: [UInt8], at time: Int64) throws(AVError) -> Cue? {
    var packet = try triplets.isEmpty ? MediaPacket() : MediaPacket(copying: triplets.span)
    packet.presentation = time
    guard let found = decode(packet), let start = found.start else { return nil }
    // libavcodec counts microseconds.
    let first = (start &+ (start < 0 ? -500 : 500)) / 1000
    return Cue(start: first, end: first &+ Int64(found.duration), text: found.text)
  }

  /// The text of a packet; nil if it has none, or cannot be read. Start is in microseconds, and duration in milliseconds.
  private func decode(_ packet: borrowing MediaPacket) -> (text: [UInt8], start: Int64?, duration: UInt32)? {
    var subtitle = unsafe AVSubtitle()
    var isThere: Int32 = 0
    guard unsafe cavcodec_decode_subtitle2(decoder.raw, &subtitle, &isThere, packet.raw) >= 0 else {
      failureCount += 1
      return nil
    }
    guard isThere != 0 else { return nil }
    defer { unsafe cavsubtitle_free(&subtitle) }
    guard unsafe subtitle.num_rects > 0 else { return nil }
    let size = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      unsafe cavcodec_encode_subtitle(encoder.raw, buffer.baseAddress, Int32(clamping: buffer.count), &subtitle)
    }
    guard size >= 0 else {
      failureCount += 1
      return nil
    }
    guard size > 0 else { return nil }
    return unsafe (Array(bytes.prefix(Int(size))), .timestamp(subtitle.pts), subtitle.end_display_time)
  }
}
