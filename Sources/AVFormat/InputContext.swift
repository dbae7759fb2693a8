// SPDX-License-Identifier: MPL-2.0
package import AVCodec
import CAVFormat

/// A container that is read (`AVFormatContext`).
///
/// Reads from its ``IOSource`` and from nothing else: references to other files and addresses are refused, and no
/// decoder is opened.
@safe package final class InputContext {
  private let io: IOContext
  private let interruption: Interruption
  private let raw: UnsafeMutablePointer<AVFormatContext>

  /// Settings for opening a container.
  package struct Settings: Sendable {
    /// The demuxer, by libavformat's name; nil to choose it by the bytes.
    package var demuxer: String?
    /// Names of the demuxers that may be chosen, libavformat's, separated by commas; nil for all.
    package var formats: String?
    /// Options of the demuxer.
    package var options = MetadataDictionary()
    /// Whether the streams' packets pass through parsers, which cut and complete them.
    package var parses = true
    /// Whether the beginning is read until each stream is known, as containers without a header need.
    package var probesStreams = true

    package init() {}
  }

  /// Opens a container.
  ///
  /// - Parameter isInterrupted: called again and again while reading waits; reading fails once it returns true.
  /// - Throws: `AVError.notImplemented` if libavformat is missing, `AVError.invalidData` if the bytes are no
  ///   container, and otherwise the source's error.
  package init(
    _ source: any IOSource, _ settings: Settings, isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) throws(AVError) {
    guard FormatLibrary.isAvailable else { throw .notImplemented }
    let (io, interruption) = (try IOContext(reading: source), Interruption(isInterrupted))
    guard let made = unsafe cavformat_alloc_context() else { throw .outOfMemory }
    var context: UnsafeMutablePointer<AVFormatContext>? = unsafe made
    unsafe made.pointee.pb = unsafe io.raw
    unsafe made.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    if !settings.parses { unsafe made.pointee.flags |= AVFMT_FLAG_NOPARSE | AVFMT_FLAG_NOFILLIN }
    unsafe made.pointee.io_open = { unsafe cav_refuse_io($0, $1, $2, $3, $4) }
    unsafe interruption.install(in: made)
    var options: OpaquePointer?
    do throws(AVError) {
      unsafe options = unsafe try Self.options(settings)
    } catch {
      unsafe cavformat_free_context(made)
      throw error
    }
    defer { unsafe cav_dict_free(&options) }
    // A failure frees the context.
    let demuxer = unsafe settings.demuxer.flatMap { unsafe cav_find_input_format($0) }
    let opened = unsafe cavformat_open_input_raw(&context, nil, demuxer, &options)
    guard opened >= 0 else { throw io.failure ?? AVError(rawValue: opened) }
    if settings.probesStreams {
      let probed = unsafe cavformat_find_stream_info(context)
      guard probed >= 0 else {
        unsafe cavformat_close_input(&context)
        throw io.failure ?? AVError(rawValue: probed)
      }
    }
    guard let context = unsafe context else { throw .unknown }
    (self.io, self.interruption) = (io, interruption)
    unsafe raw = context
  }

  private static func options(_ settings: Settings) throws(AVError) -> OpaquePointer? {
    var options = settings.options
    // No decoder is opened to find out what a stream is.
    options[key: "codec_whitelist"] = "none"
    options[key: "protocol_whitelist"] = "none"
    if let formats = settings.formats { options[key: "format_whitelist"] = formats }
    return unsafe try options.copied()
  }

  deinit {
    var context: UnsafeMutablePointer<AVFormatContext>? = unsafe raw
    unsafe cavformat_close_input(&context)
    withExtendedLifetime((io, interruption)) {}
  }

  // MARK: Contents

  /// The demuxer's names, separated by commas.
  package var formatName: String { unsafe String(cString: raw.pointee.iformat.pointee.name) }

  /// The number of streams found so far: some containers add streams while they are read.
  package var streamCount: Int { unsafe Int(raw.pointee.nb_streams) }

  /// A stream; nil if there is none.
  package func stream(_ index: Int) -> StreamDescription? {
    guard index >= 0, index < streamCount, let stream = unsafe cav_stream(raw, UInt32(index)) else { return nil }
    return unsafe StreamDescription(copying: stream)
  }

  /// All streams.
  package var streams: [StreamDescription] { (0..<streamCount).compactMap(stream) }

  /// The picture of a stream that is a cover; nil for other streams.
  package func attachedPicture(_ index: Int) -> [UInt8]? {
    guard index >= 0, index < streamCount, let stream = unsafe cav_stream(raw, UInt32(index)) else { return nil }
    let packet = unsafe stream.pointee.attached_pic
    guard unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0, let data = unsafe packet.data,
      unsafe packet.size > 0
    else { return nil }
    return unsafe [UInt8](UnsafeBufferPointer(start: data, count: Int(packet.size)))
  }

  /// All chapters.
  package var chapters: [Chapter] {
    (0..<(unsafe raw.pointee.nb_chapters)).compactMap { index in
      unsafe cav_chapter(raw, index).map { unsafe Chapter(copying: $0) }
    }
  }

  /// Programs of a transport stream: their numbers and the places of their streams.
  package var programs: [(number: Int, streams: [Int])] {
    (0..<(unsafe raw.pointee.nb_programs)).compactMap { index in
      guard let program = unsafe cav_program(raw, index) else { return nil }
      let indices = unsafe UnsafeBufferPointer(
        start: program.pointee.stream_index, count: Int(program.pointee.nb_stream_indexes))
      return unsafe (Int(program.pointee.program_num), indices.map { Int($0) })
    }
  }

  /// The container's metadata.
  package var metadata: MetadataDictionary { unsafe MetadataDictionary(copying: raw.pointee.metadata) }

  /// The beginning, in microseconds; nil if unknown.
  package var start: Int64? { unsafe .timestamp(raw.pointee.start_time) }

  /// The duration, in microseconds; nil if unknown.
  package var duration: Int64? { unsafe .timestamp(raw.pointee.duration) }

  /// Copies the parameters of a stream's codec to a stream that is written.
  func copyParameters(of index: Int, to target: UnsafeMutablePointer<AVStream>) throws(AVError) {
    unsafe try copyParameters(of: index, into: target.pointee.codecpar)
  }

  /// Copies the parameters of a stream's codec.
  func copyParameters(of index: Int, into target: UnsafeMutablePointer<AVCodecParameters>) throws(AVError) {
    guard index >= 0, index < streamCount, let stream = unsafe cav_stream(raw, UInt32(index)) else {
      throw .invalidArgument
    }
    try AVError.check(unsafe cavcodec_parameters_copy(target, stream.pointee.codecpar))
  }

  /// Copies the parameters of a stream's codec to a decoder.
  func copyParameters(of index: Int, into decoder: UnsafeMutablePointer<AVCodecContext>) throws(AVError) {
    guard index >= 0, index < streamCount, let stream = unsafe cav_stream(raw, UInt32(index)) else {
      throw .invalidArgument
    }
    try AVError.check(unsafe cavcodec_parameters_to_context(decoder, stream.pointee.codecpar))
  }

  /// Completes the description of a sound stream, which is in its frames only.
  ///
  /// - Parameters:
  ///   - sampleRate: samples a second.
  ///   - extradata: the configuration; empty for none.
  /// - Throws: `AVError.invalidArgument` for a stream that there is not; `AVError.outOfMemory`.
  package func describeSound(
    _ index: Int, sampleRate: Int, channels: Int, extradata: [UInt8]
  ) throws(AVError) {
    guard index >= 0, index < streamCount, let stream = unsafe cav_stream(raw, UInt32(index)) else {
      throw .invalidArgument
    }
    let parameters: UnsafeMutablePointer<AVCodecParameters> = unsafe stream.pointee.codecpar
    unsafe parameters.pointee.sample_rate = Int32(clamping: sampleRate)
    unsafe cav_parameters_set_channels(parameters, Int32(clamping: channels))
    unsafe try OutputContext.set(extradata, of: parameters)
  }

  // MARK: Packets

  /// Sets whether packets of a stream are read. All are at first.
  package func setWanted(_ isWanted: Bool, stream index: Int) {
    guard index >= 0, index < streamCount, let stream = unsafe cav_stream(raw, UInt32(index)) else { return }
    unsafe stream.pointee.discard = isWanted ? AVDISCARD_DEFAULT : AVDISCARD_ALL
  }

  /// Reads the next packet in the order of the file. Returns false at the end.
  ///
  /// - Throws: what the source has failed with; what libavformat has.
  package func read(into packet: inout MediaPacket) throws(AVError) -> Bool {
    packet.empty()
    let code = unsafe cav_read_frame(raw, packet.raw)
    if code >= 0 { return true }
    if let failure = io.failure { throw failure }
    let error = AVError(rawValue: code)
    if error == .endOfFile { return false }
    throw error
  }

  /// Continues at a sync sample of a stream at or before a time.
  ///
  /// - Parameter time: in ticks of the stream.
  /// - Throws: if there is none, or no way there.
  package func seek(_ index: Int, to time: Int64) throws(AVError) {
    try AVError.check(unsafe cavformat_seek_file(raw, Int32(clamping: index), .min, time, time, 0))
  }
}
