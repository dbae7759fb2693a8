// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// One opened libavcodec encoder (`AVCodecContext`).
///
/// Packets are Annex B byte streams. The first one has all parameter sets; its SEI messages may describe the encoder.
/// Packets may outlive it.
///
/// Not a class, whose methods the linker would keep in the plugin, which does not encode.
@safe package struct EncoderContext: ~Copyable {
  /// libavcodec's name for the encoder (`libx264`).
  package let name: String
  private let raw: UnsafeMutablePointer<AVCodecContext>
  private let settings: EncoderSettings
  private let pool = PacketPool()
  /// Presentation times of the pictures inside. The encoder itself counts pictures, because times may be anything.
  private var presentations: [Int64] = []
  private var sentCount: Int64 = 0

  /// Opens an encoder.
  ///
  /// - Throws: `AVError.encoderNotFound` if there is none, also if ``CodecLibrary`` is missing;
  ///   `AVError.unsupportedFormat` if none takes the sample format; `AVError.invalidArgument` for settings out of range
  ///   or at odds with one another; `AVError.unsupportedFeature` for interlaced frames of H.265 and unknown profiles;
  ///   `AVError.outOfMemory`, and whatever else `avcodec_open2` returns.
  package init(_ settings: EncoderSettings) throws(AVError) {
    let codec = unsafe try CodecLibrary.encoder(
      for: settings.codec, format: settings.format, name: settings.encoder)
    let name = unsafe String(cString: codec.pointee.name)
    try settings.check(encoder: name)
    CodecLibrary.filterLog()
    unsafe raw = unsafe try Self.open(codec, name, settings)
    self.name = name
    self.settings = settings
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = unsafe raw
    unsafe cavcodec_free_context(&context)
  }

  /// The parameter sets that an encoder with these settings writes, as an Annex B byte stream. No picture is encoded.
  ///
  /// - Throws: as ``init(_:)``; `AVError.unsupportedFeature` if the encoder makes them with the first picture only.
  package static func parameterSets(_ settings: EncoderSettings) throws(AVError) -> [UInt8] {
    let codec = unsafe try CodecLibrary.encoder(
      for: settings.codec, format: settings.format, name: settings.encoder)
    let name = unsafe String(cString: codec.pointee.name)
    try settings.check(encoder: name)
    CodecLibrary.filterLog()
    var context: UnsafeMutablePointer<AVCodecContext>? = unsafe try open(codec, name, settings, isForHeader: true)
    defer { unsafe cavcodec_free_context(&context) }
    guard let bytes = unsafe context?.pointee.extradata, let count = unsafe context?.pointee.extradata_size, count > 0
    else { throw .unsupportedFeature }
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }

  /// - Parameter isForHeader: whether the parameter sets are in the context, not in the first packet.
  private static func open(
    _ codec: UnsafePointer<AVCodec>, _ name: String, _ settings: EncoderSettings, isForHeader: Bool = false
  ) throws(AVError) -> UnsafeMutablePointer<AVCodecContext> {
    var allocated = unsafe cavcodec_alloc_context3(codec)
    do throws(AVError) {
      guard let context = unsafe allocated else { throw .outOfMemory }
      unsafe apply(settings, to: context)
      if isForHeader { unsafe context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
      for option in settings.options(ofEncoder: name) {
        unsafe try AVError.check(cav_set_option(context, option.name, option.value))
      }
      unsafe try AVError.check(cavcodec_open2(context, codec, nil))
      return unsafe context
    } catch {
      unsafe cavcodec_free_context(&allocated)
      throw error
    }
  }

  private static func apply(_ settings: EncoderSettings, to context: UnsafeMutablePointer<AVCodecContext>) {
    unsafe context.pointee.width = Int32(clamping: settings.width)
    unsafe context.pointee.height = Int32(clamping: settings.height)
    unsafe context.pointee.pix_fmt = AVPixelFormat(settings.format.rawValue)
    let rate = settings.frameRate
    let (numerator, denominator) = (Int32(clamping: rate.numerator), Int32(clamping: rate.denominator))
    unsafe context.pointee.time_base = AVRational(num: denominator, den: numerator)
    unsafe context.pointee.framerate = AVRational(num: numerator, den: denominator)
    if let ratio = settings.sampleAspectRatio {
      unsafe context.pointee.sample_aspect_ratio = AVRational(
        num: Int32(clamping: ratio.width), den: Int32(clamping: ratio.height))
    }
    if let isFullRange = settings.isFullRange {
      unsafe context.pointee.color_range = isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
    }
    unsafe context.pointee.color_primaries = AVColorPrimaries(UInt32(settings.colourPrimaries))
    unsafe context.pointee.color_trc = AVColorTransferCharacteristic(UInt32(settings.transferCharacteristics))
    unsafe context.pointee.colorspace = AVColorSpace(UInt32(settings.matrixCoefficients))
    if let location = settings.chromaSampleLocation {
      unsafe context.pointee.chroma_sample_location = AVChromaLocation(UInt32(location) + 1)
    }
    if let level = settings.level { unsafe context.pointee.level = Int32(level) }
    unsafe context.pointee.gop_size = 1 << 30
    unsafe context.pointee.max_b_frames = 0
    unsafe context.pointee.refs = Int32(clamping: settings.referenceCount)
    unsafe context.pointee.thread_count = Int32(clamping: settings.threadCount)
    if let limit = settings.rateLimit {
      unsafe context.pointee.rc_max_rate = Int64(limit.bitRate)
      unsafe context.pointee.rc_buffer_size = Int32(clamping: limit.bufferSize)
    }
    unsafe context.pointee.flags |= Int32(bitPattern: UInt32(AV_CODEC_FLAG_CLOSED_GOP))
    if let isTopFieldFirst = settings.isTopFieldFirst {
      unsafe context.pointee.flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME
      unsafe context.pointee.field_order = isTopFieldFirst ? AV_FIELD_TT : AV_FIELD_BB
    }
    // Errors go to the log at debug level only, and to the caller.
    unsafe context.pointee.log_level_offset = AV_LOG_DEBUG - AV_LOG_ERROR
  }

  /// Sends the encoder a picture, whose samples it reads or keeps a reference to.
  ///
  /// - Parameters:
  ///   - picture: its cropping, timestamp and messages are ignored. If the settings' format is of luma alone, the
  ///     picture may have chroma, as the H.264 decoder adds it.
  ///   - presentation: the presentation time, in any unit; comes back with the packet.
  /// - Throws: `AVError.invalidArgument` for a picture of another size or format than the settings',
  ///   `AVError.tryAgain` if packets must be received first, `AVError.endOfFile` after `sendEndOfStream`.
  package mutating func send(_ picture: borrowing Frame, presentation: Int64) throws(AVError) {
    guard picture.width == settings.width, picture.height == settings.height else { throw .invalidArgument }
    let frame = try Frame()
    let format = AVPixelFormat(settings.format.rawValue)
    unsafe try AVError.check(cav_frame_lend_samples(frame.raw, picture.raw, format))
    unsafe frame.raw.pointee.pts = sentCount
    if sentCount == 0 { unsafe frame.raw.pointee.pict_type = AV_PICTURE_TYPE_I }
    if let isTopFieldFirst = settings.isTopFieldFirst {
      unsafe cav_frame_set_interlaced(frame.raw, isTopFieldFirst ? 1 : 0)
    }
    unsafe try AVError.check(cavcodec_send_frame(raw, frame.raw))
    sentCount += 1
    presentations.append(presentation)
  }

  /// Begins to drain: all pictures inside come out.
  ///
  /// - Throws: `AVError.endOfFile` if it was called before.
  package func sendEndOfStream() throws(AVError) { unsafe try AVError.check(cavcodec_send_frame(raw, nil)) }

  /// Receives the next picture.
  ///
  /// - Returns: nil if the encoder needs another picture first; after `sendEndOfStream`, if there are no more.
  /// - Throws: `AVError.external` if the encoder has reordered pictures, and what it returns.
  package mutating func receive() throws(AVError) -> EncodedPicture? {
    var allocated = unsafe cav_packet_alloc()
    defer { unsafe cav_packet_free(&allocated) }
    guard let packet = unsafe allocated else { throw .outOfMemory }
    let code = unsafe cavcodec_receive_packet(raw, packet)
    if code == AVError.tryAgain.rawValue || code == AVError.endOfFile.rawValue { return nil }
    try AVError.check(code)
    guard let data = unsafe packet.pointee.data, let presentation = presentations.first,
      unsafe packet.pointee.pts == sentCount - Int64(presentations.count)
    else { throw .external }
    presentations.removeFirst()
    let bytes = unsafe Span(_unsafeStart: UnsafePointer(data), count: max(0, Int(packet.pointee.size)))
    return EncodedPicture(
      packet: try pool.packet(copying: bytes, timestamp: presentation),
      isKey: unsafe packet.pointee.flags & AV_PKT_FLAG_KEY != 0)
  }
}

/// One picture from an encoder.
package struct EncodedPicture: Sendable {
  /// The bytes, an Annex B access unit. The timestamp is the presentation time; pictures are not reordered, so it is
  /// the decoding time, too.
  package let packet: Packet
  /// The picture is an IDR picture.
  package let isKey: Bool
}
