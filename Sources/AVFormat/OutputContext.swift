// SPDX-License-Identifier: MPL-2.0
package import AVCodec
import CAVFormat

/// A container that is written (`AVFormatContext`).
///
/// Add streams and chapters, write the header, then packets, then the trailer. Packets are written as they are: no
/// bitstream filter is inserted, and no timestamp is shifted.
@safe package final class OutputContext {
  private let io: IOContext
  private let interruption: Interruption
  private let raw: UnsafeMutablePointer<AVFormatContext>
  private var stage = Stage.header

  private enum Stage { case header, packets, over }

  /// Begins a container in a format, by libavformat's name of the muxer: mp4, mov, matroska, mpegts.
  ///
  /// - Throws: `AVError.notImplemented` if libavformat is missing; `AVError.invalidArgument` for a muxer that it does
  ///   not have.
  package init(
    _ sink: any IOSink, format: String, isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) throws(AVError) {
    guard FormatLibrary.isAvailable else { throw .notImplemented }
    let (io, interruption) = (try IOContext(writing: sink), Interruption(isInterrupted))
    var made: UnsafeMutablePointer<AVFormatContext>?
    try AVError.check(unsafe cavformat_alloc_output_context2(&made, format))
    guard let context = unsafe made else { throw .outOfMemory }
    unsafe context.pointee.pb = unsafe io.raw
    unsafe context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    unsafe context.pointee.flags &= ~AVFMT_FLAG_AUTO_BSF
    unsafe context.pointee.avoid_negative_ts = AVFMT_AVOID_NEG_TS_DISABLED
    unsafe context.pointee.io_open = { unsafe cav_refuse_io($0, $1, $2, $3, $4) }
    unsafe interruption.install(in: context)
    (self.io, self.interruption) = (io, interruption)
    unsafe raw = context
  }

  deinit {
    unsafe cavformat_free_context(raw)
    withExtendedLifetime((io, interruption)) {}
  }

  /// Whether the format can hold a codec, by libavcodec's number; nil if the muxer has no answer. Matroska can hold
  /// what AVI has a code for, which the muxer may refuse with the header.
  package func canHold(codecID: UInt32) -> Bool? {
    let answer = unsafe cavformat_query_codec(raw.pointee.oformat, AVCodecID(codecID))
    return answer < 0 ? nil : answer > 0
  }

  /// Whether the format can hold H.264, or H.265.
  package func canHoldVideo(isHEVC: Bool) -> Bool? {
    canHold(codecID: isHEVC ? AV_CODEC_ID_HEVC.rawValue : AV_CODEC_ID_H264.rawValue)
  }

  // MARK: Before the header

  /// Adds a stream with the codec's parameters of a stream that is read.
  ///
  /// - Parameters:
  ///   - extradata: the configuration, in place of the source's.
  ///   - tag: the container's code of the codec; nil for the muxer's own choice.
  ///   - size: width and height, if the source may not have them.
  ///   - metadata: in place of the source's.
  ///   - stale: side data of the source that is not true any more.
  ///   - timeBase: the preferred ticks; the muxer may choose others (``timeBase(of:)``).
  /// - Returns: its place.
  /// - Throws: `AVError.outOfMemory`; `AVError.invalidArgument` behind the header.
  package func addStream(
    like source: StreamDescription, of input: InputContext, extradata: [UInt8]?, tag: CodecTag? = nil,
    size: (width: Int, height: Int)? = nil, metadata: MetadataDictionary? = nil, without stale: Set<SideData.Kind> = [],
    timeBase: TimeBase
  ) throws(AVError) -> Int {
    guard stage == .header else { throw .invalidArgument }
    guard let stream = unsafe cavformat_new_stream(raw) else { throw .outOfMemory }
    unsafe try input.copyParameters(of: source.index, to: stream)
    for kind in stale { unsafe cav_stream_remove_side_data(stream, kind.type) }
    // The source's code means something else in another container.
    unsafe stream.pointee.codecpar.pointee.codec_tag = tag?.rawValue ?? 0
    if let size {
      unsafe stream.pointee.codecpar.pointee.width = Int32(clamping: size.width)
      unsafe stream.pointee.codecpar.pointee.height = Int32(clamping: size.height)
    }
    if let extradata { unsafe try Self.set(extradata, of: stream.pointee.codecpar) }
    unsafe stream.pointee.time_base = timeBase.rational
    unsafe stream.pointee.disposition = source.disposition.rawValue
    if let aspect = source.pixelAspect {
      unsafe stream.pointee.sample_aspect_ratio = aspect.rational
      // The muxer of QuickTime reads it here.
      unsafe stream.pointee.codecpar.pointee.sample_aspect_ratio = aspect.rational
    }
    unsafe stream.pointee.metadata = unsafe try (metadata ?? source.metadata).copied()
    for data in source.sideData where !stale.contains(data.kind) { unsafe try add(data, to: stream) }
    return unsafe Int(stream.pointee.index)
  }

  /// Adds a stream of subtitles that are converted.
  ///
  /// - Parameters:
  ///   - source: the stream that is converted.
  ///   - timeBase: the preferred ticks; the muxer may choose others (``timeBase(of:)``).
  /// - Returns: its place.
  /// - Throws: `AVError.outOfMemory`; `AVError.invalidArgument` behind the header.
  package func addStream(
    _ subtitles: SubtitleConverter, like source: StreamDescription, metadata: MetadataDictionary, timeBase: TimeBase
  ) throws(AVError) -> Int {
    guard stage == .header else { throw .invalidArgument }
    guard let stream = unsafe cavformat_new_stream(raw) else { throw .outOfMemory }
    unsafe try subtitles.copyParameters(into: stream.pointee.codecpar)
    unsafe stream.pointee.codecpar.pointee.codec_tag = 0
    unsafe stream.pointee.time_base = timeBase.rational
    unsafe stream.pointee.disposition = source.disposition.rawValue
    unsafe stream.pointee.metadata = unsafe try metadata.copied()
    return unsafe Int(stream.pointee.index)
  }

  /// Adds a cover, a picture that belongs to the whole container. Write its bytes as the stream's only packet.
  ///
  /// - Returns: its place.
  /// - Throws: `AVError.outOfMemory`; `AVError.invalidArgument` behind the header.
  package func addCover(like source: StreamDescription, of input: InputContext) throws(AVError) -> Int {
    // The size may be unknown, since no decoder is opened; libavformat requires one, and does not write it.
    let size = source.size.width > 0 && source.size.height > 0 ? nil : (width: 1, height: 1)
    let index = try addStream(like: source, of: input, extradata: nil, size: size, timeBase: source.timeBase)
    // Muxers recognize covers by this and nothing else.
    unsafe raw.pointee.streams[index]?.pointee.disposition = AV_DISPOSITION_ATTACHED_PIC
    return index
  }

  /// Adds a file that is attached to the container, of Matroska.
  ///
  /// - Parameters:
  ///   - source: has its codec.
  ///   - metadata: has `filename` and `mimetype`.
  /// - Returns: its place.
  /// - Throws: `AVError.outOfMemory`; `AVError.invalidArgument` behind the header.
  package func addAttachment(
    _ bytes: [UInt8], like source: StreamDescription, of input: InputContext, metadata: MetadataDictionary
  ) throws(AVError) -> Int {
    let index = try addStream(
      like: source, of: input, extradata: bytes, metadata: metadata, timeBase: source.timeBase)
    unsafe try parameters(of: index).pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
    unsafe raw.pointee.streams[index]?.pointee.disposition = 0
    return index
  }

  /// A code of four characters by which a container names a codec: `avc1`, `hvc1`.
  package struct CodecTag: Sendable, Hashable {
    package let rawValue: UInt32
    package init(_ text: StaticString) {
      rawValue = unsafe UnsafeBufferPointer(start: text.utf8Start, count: min(4, text.utf8CodeUnitCount))
        .reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
  }

  /// A video stream that no container describes.
  package struct Video: Sendable {
    /// H.265 rather than H.264.
    package var isHEVC: Bool
    /// Width and height in pixels.
    package var size: (width: Int, height: Int)
    /// Width to height of a pixel; nil if unknown.
    package var pixelAspect: TimeBase?
    /// `avcC` or `hvcC`; empty for a byte stream.
    package var extradata: [UInt8]
    package var tag: CodecTag?

    package init(
      isHEVC: Bool, size: (width: Int, height: Int), pixelAspect: TimeBase?, extradata: [UInt8], tag: CodecTag?
    ) {
      (self.isHEVC, self.size, self.pixelAspect, self.extradata) = (isHEVC, size, pixelAspect, extradata)
      self.tag = tag
    }
  }

  /// Adds a video stream.
  ///
  /// - Parameter timeBase: the preferred ticks; the muxer may choose others (``timeBase(of:)``).
  /// - Returns: its place.
  /// - Throws: `AVError.outOfMemory`; `AVError.invalidArgument` behind the header, and for sizes that are none.
  package func addStream(_ video: Video, timeBase: TimeBase) throws(AVError) -> Int {
    guard stage == .header, let width = Int32(exactly: video.size.width),
      let height = Int32(exactly: video.size.height), width > 0, height > 0
    else { throw .invalidArgument }
    guard let stream = unsafe cavformat_new_stream(raw) else { throw .outOfMemory }
    let parameters: UnsafeMutablePointer<AVCodecParameters> = unsafe stream.pointee.codecpar
    unsafe parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
    unsafe parameters.pointee.codec_id = video.isHEVC ? AV_CODEC_ID_HEVC : AV_CODEC_ID_H264
    unsafe parameters.pointee.codec_tag = video.tag?.rawValue ?? 0
    unsafe (parameters.pointee.width, parameters.pointee.height) = (width, height)
    unsafe try Self.set(video.extradata, of: parameters)
    if let aspect = video.pixelAspect {
      unsafe stream.pointee.sample_aspect_ratio = aspect.rational
      unsafe parameters.pointee.sample_aspect_ratio = aspect.rational
    }
    unsafe stream.pointee.time_base = timeBase.rational
    return unsafe Int(stream.pointee.index)
  }

  /// Sets the color of a video stream.
  ///
  /// - Throws: `AVError.invalidArgument` behind the header, and for a stream that is not there.
  package func setColour(_ colour: StreamDescription.Colour, of index: Int) throws(AVError) {
    let parameters = unsafe try parameters(of: index)
    unsafe parameters.pointee.color_primaries = AVColorPrimaries(rawValue: UInt32(colour.primaries))
    unsafe parameters.pointee.color_trc = AVColorTransferCharacteristic(rawValue: UInt32(colour.transfer))
    unsafe parameters.pointee.color_space = AVColorSpace(rawValue: UInt32(colour.matrix))
    unsafe parameters.pointee.color_range =
      colour.isFullRange.map { $0 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG } ?? AVCOL_RANGE_UNSPECIFIED
  }

  /// Adds side data to a video stream. Replaces data of the same kind.
  ///
  /// - Throws: `AVError.outOfMemory`; `AVError.invalidArgument` behind the header, and for a stream that is not there.
  package func add(_ data: SideData, to index: Int) throws(AVError) {
    unsafe _ = try parameters(of: index)
    guard let stream = unsafe raw.pointee.streams[index] else { throw .invalidArgument }
    unsafe try add(data, to: stream)
  }

  /// Sets width to height of a pixel of a video stream; nil for not known.
  ///
  /// - Throws: `AVError.invalidArgument` behind the header, and for a stream that is not there.
  package func setPixelAspect(_ aspect: TimeBase?, of index: Int) throws(AVError) {
    let parameters = unsafe try parameters(of: index)
    let ratio = aspect?.rational ?? AVRational(num: 0, den: 1)
    unsafe parameters.pointee.sample_aspect_ratio = ratio
    unsafe raw.pointee.streams[index]?.pointee.sample_aspect_ratio = ratio
  }

  /// Sets how many pictures a second a video stream has, which time codes count.
  ///
  /// - Throws: `AVError.invalidArgument` behind the header, and for a stream that is not there.
  package func setFrameRate(_ rate: TimeBase, of index: Int) throws(AVError) {
    unsafe _ = try parameters(of: index)
    unsafe raw.pointee.streams[index]?.pointee.avg_frame_rate = rate.rational
  }

  /// Gives a sound stream that does not name its channels those that are usual for their number.
  ///
  /// - Throws: `AVError.invalidArgument` for a stream that there is not, and behind the header.
  package func nameChannels(of index: Int) throws(AVError) {
    unsafe cav_parameters_name_channels(try parameters(of: index))
  }

  private func parameters(of index: Int) throws(AVError) -> UnsafeMutablePointer<AVCodecParameters> {
    guard stage == .header, index >= 0, unsafe index < Int(raw.pointee.nb_streams),
      let stream = unsafe raw.pointee.streams[index], let parameters = unsafe stream.pointee.codecpar
    else { throw .invalidArgument }
    return unsafe parameters
  }

  static func set(_ extradata: [UInt8], of parameters: UnsafeMutablePointer<AVCodecParameters>) throws(AVError) {
    unsafe cav_free(parameters.pointee.extradata)
    unsafe (parameters.pointee.extradata, parameters.pointee.extradata_size) = (nil, 0)
    guard !extradata.isEmpty else { return }
    guard let size = Int32(exactly: extradata.count) else { throw .invalidArgument }
    guard let memory = unsafe cav_mallocz(extradata.count + Int(CAV_INPUT_PADDING)) else { throw .outOfMemory }
    let bytes = unsafe memory.assumingMemoryBound(to: UInt8.self)
    for index in extradata.indices { unsafe bytes[index] = extradata[index] }
    unsafe (parameters.pointee.extradata, parameters.pointee.extradata_size) = (bytes, size)
  }

  private func add(_ data: SideData, to stream: UnsafeMutablePointer<AVStream>) throws(AVError) {
    guard let target = unsafe cav_stream_new_side_data(stream, data.kind.type, data.bytes.count) else {
      throw .outOfMemory
    }
    for index in data.bytes.indices { unsafe target[index] = data.bytes[index] }
  }

  /// Sets the container's metadata.
  package func set(_ metadata: MetadataDictionary) throws(AVError) {
    let next = unsafe try metadata.copied()
    unsafe cav_dict_free(&raw.pointee.metadata)
    unsafe raw.pointee.metadata = unsafe next
  }

  /// Adds chapters. Behind a header without chapters, MP4, MOV and Matroska have room for them, unless they are written
  /// into a pipe.
  ///
  /// - Throws: `AVError.outOfMemory`; `AVError.invalidArgument` behind the trailer.
  package func add(_ chapters: [Chapter]) throws(AVError) {
    guard stage != .over else { throw .invalidArgument }
    for chapter in chapters {
      let count = unsafe Int(raw.pointee.nb_chapters)
      let pointer = unsafe MemoryLayout<UnsafeMutablePointer<AVChapter>>.stride
      guard let list = unsafe cav_realloc_array(raw.pointee.chapters, count + 1, pointer) else { throw .outOfMemory }
      unsafe raw.pointee.chapters = list.assumingMemoryBound(to: UnsafeMutablePointer<AVChapter>?.self)
      guard let memory = unsafe cav_mallocz(MemoryLayout<AVChapter>.size) else { throw .outOfMemory }
      let made = unsafe memory.assumingMemoryBound(to: AVChapter.self)
      unsafe raw.pointee.chapters[count] = made
      unsafe raw.pointee.nb_chapters += 1
      unsafe made.pointee.id = .init(truncatingIfNeeded: chapter.id)
      unsafe made.pointee.time_base = chapter.timeBase.rational
      unsafe (made.pointee.start, made.pointee.end) = (chapter.start, chapter.end)
      unsafe made.pointee.metadata = unsafe try chapter.metadata.copied()
    }
  }

  /// Writes the header.
  ///
  /// - Parameter options: of the muxer.
  /// - Returns: options that the muxer does not have.
  /// - Throws: what the sink has failed with; what libavformat has.
  package func writeHeader(_ options: MetadataDictionary = MetadataDictionary()) throws(AVError) -> MetadataDictionary {
    guard stage == .header else { throw .invalidArgument }
    var dictionary = unsafe try options.copied()
    defer { unsafe cav_dict_free(&dictionary) }
    try check(unsafe cavformat_write_header(raw, &dictionary))
    stage = .packets
    return unsafe MetadataDictionary(copying: dictionary)
  }

  // MARK: Behind the header

  /// The ticks of a stream, as the muxer has chosen them in the header.
  package func timeBase(of index: Int) -> TimeBase? {
    guard index >= 0, index < Int(unsafe raw.pointee.nb_streams), let stream = unsafe cav_stream(raw, UInt32(index))
    else { return nil }
    return unsafe TimeBase(stream.pointee.time_base)
  }

  /// Writes a packet, whose times are in ticks of its stream, when its turn among the other streams' packets has
  /// come.
  ///
  /// - Throws: what the sink has failed with; what the muxer refuses a packet with, this one or one before it. Others can
  ///   be written afterwards.
  package func write(_ packet: consuming MediaPacket) throws(AVError) {
    guard stage == .packets else { throw .invalidArgument }
    try check(unsafe cav_interleaved_write_frame(raw, packet.raw))
  }

  /// Writes the packets whose turn has not come.
  ///
  /// - Throws: as ``write(_:)``. Call it again for the packets behind the refused one.
  package func flush() throws(AVError) {
    guard stage == .packets else { throw .invalidArgument }
    try check(unsafe cav_interleaved_write_frame(raw, nil))
  }

  /// Sets an option of the muxer behind the header.
  ///
  /// - Throws: the error of libavutil, for an option that the muxer does not have and for a value that it refuses.
  package func set(_ option: String, to value: String) throws(AVError) {
    try check(unsafe cav_set_muxer_option(raw, option, value))
  }

  /// Writes the packets since the last fragment as one, in MP4 with the flag `frag_custom`. With `delay_moov`, the
  /// first call writes `moov` alone.
  ///
  /// - Throws: what the sink has failed with; what libavformat has.
  package func writeFragment() throws(AVError) {
    guard stage == .packets else { throw .invalidArgument }
    try check(unsafe cav_write_frame(raw, nil))
    io.flush()
    if let failure = io.failure { throw failure }
  }

  /// The packets of a stream that the muxer has taken.
  package func takenPacketCount(of index: Int) -> Int {
    guard index >= 0, index < Int(unsafe raw.pointee.nb_streams), let stream = unsafe cav_stream(raw, UInt32(index))
    else { return 0 }
    return unsafe Int(clamping: stream.pointee.nb_frames)
  }

  /// Whether an error is the sink's, so nothing more can be written.
  package var hasFailed: Bool { io.failure != nil }

  /// Writes the remaining packets and the trailer. Nothing can be written behind it.
  package func finish() throws(AVError) {
    guard stage == .packets else { throw .invalidArgument }
    stage = .over
    try check(unsafe cav_write_trailer(raw))
    io.flush()
    if let failure = io.failure { throw failure }
  }

  private func check(_ code: Int32) throws(AVError) {
    if let failure = io.failure { throw failure }
    try AVError.check(code)
  }
}
