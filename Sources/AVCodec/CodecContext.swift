// SPDX-License-Identifier: MPL-2.0
import CAVCodec
import Synchronization

/// One opened libavcodec decoder (`AVCodecContext`), closed with its last reference.
///
/// Use from one thread at a time. Frames and packets may outlive it.
@safe package final class CodecContext {
  private let raw: UnsafeMutablePointer<AVCodecContext>
  /// Empty but while it is sent.
  private let packet: UnsafeMutablePointer<AVPacket>
  /// The context's `opaque`, kept alive here.
  private let host: CallbackHost
  /// Downloads the device's pictures; nil without a device.
  private let download: HardwareDownload?
  /// Pictures may stay in the device's memory. Not once one could not be passed on: an attempt takes long, and another
  /// would fail as well.
  private var exports: Bool

  /// Opens a decoder.
  ///
  /// - Parameters:
  ///   - buffers: provides the memory of pictures; nil for libavcodec's own. Needed if `settings.usesHardware`.
  ///   - device: what decodes where `settings.usesHardware`.
  /// - Throws: `AVError.decoderNotFound`, also where ``CodecLibrary`` is missing, `AVError.outOfMemory`,
  ///   `AVError.invalidData` for invalid extradata, and whatever else `avcodec_open2` returns.
  package init(
    _ settings: CodecSettings, buffers: (any FrameBufferSource)?, device: HardwareDevice? = nil
  ) throws(AVError) {
    guard !settings.usesHardware || device != nil && buffers != nil else { throw .hardwareUnavailable }
    let device = settings.usesHardware ? device : nil
    guard !CodecLibrary.isMissing, let codec = unsafe cavcodec_find_decoder(settings.codec.id) else {
      throw .decoderNotFound
    }
    CodecLibrary.filterLog()
    guard let packet = unsafe cav_packet_alloc() else { throw .outOfMemory }
    guard let context = unsafe cavcodec_alloc_context3(codec) else {
      var unused: UnsafeMutablePointer<AVPacket>? = unsafe packet
      unsafe cav_packet_free(&unused)
      throw .outOfMemory
    }
    host = CallbackHost(buffers, maximumPixels: settings.maximumPixels, frameFormat: device?.method.frameFormat)
    download = device == nil ? nil : buffers.map { HardwareDownload(to: $0) }
    exports = device?.method == .vaapi && settings.surfaceCount > 0
    unsafe raw = unsafe context
    unsafe self.packet = unsafe packet
    // After this, deinit frees the context, also when this initializer throws.
    unsafe try Self.apply(settings, to: context)
    if let device { unsafe context.pointee.hw_device_ctx = unsafe try device.reference() }
    if exports { unsafe context.pointee.extra_hw_frames = Int32(clamping: settings.surfaceCount) }
    unsafe context.pointee.opaque = unsafe Unmanaged.passUnretained(host).toOpaque()
    unsafe context.pointee.get_buffer2 = unsafe provideFrameBuffer
    unsafe context.pointee.get_format = unsafe chooseFormat
    unsafe cav_allow_worker_callbacks(context)
    unsafe try AVError.check(cavcodec_open2(context, codec, nil))
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = unsafe raw
    unsafe cavcodec_free_context(&context)
    var packet: UnsafeMutablePointer<AVPacket>? = unsafe packet
    unsafe cav_packet_free(&packet)
  }

  private static func apply(
    _ settings: CodecSettings, to context: UnsafeMutablePointer<AVCodecContext>
  ) throws(AVError) {
    if !settings.extradata.isEmpty {
      guard let size = Int32(exactly: settings.extradata.count),
        let extradata = unsafe cav_mallocz(settings.extradata.count + Int(CAV_INPUT_PADDING))
      else { throw .outOfMemory }
      unsafe settings.extradata.withUnsafeBytes {
        if let base = $0.baseAddress { unsafe extradata.copyMemory(from: base, byteCount: $0.count) }
      }
      unsafe context.pointee.extradata = unsafe extradata.assumingMemoryBound(to: UInt8.self)
      unsafe context.pointee.extradata_size = size
    }
    unsafe context.pointee.thread_count = Int32(clamping: settings.effectiveThreadCount)
    unsafe context.pointee.thread_type =
      (settings.useFrameThreads ? FF_THREAD_FRAME : 0) | (settings.useSliceThreads ? FF_THREAD_SLICE : 0)
    // Damaged frames come out flagged rather than not at all, so that every one is accounted for.
    unsafe context.pointee.flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT
    if settings.lowDelay { unsafe context.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY }
    unsafe context.pointee.has_b_frames = Int32(clamping: settings.reorderDepth)
    if settings.expectsDeepestReordering { unsafe context.pointee.strict_std_compliance = FF_COMPLIANCE_STRICT }
    if settings.leavesFilmGrainOut { unsafe cav_leave_film_grain_out(context) }
    unsafe context.pointee.skip_frame = settings.skip.value
    unsafe context.pointee.pkt_timebase = AVRational(num: 1, den: 1)
    // libavcodec's cropping rounds for alignment; the receiver crops exactly.
    unsafe context.pointee.apply_cropping = 0
    // Errors go to the log at debug level only, and to the caller; those logged without this context, nowhere (see
    // `CodecLibrary.filterLog`). `max_pixels` is not set, because libavutil would log
    // larger pictures in a context of its own, at error level: see `chooseFormat`.
    unsafe context.pointee.log_level_offset = AV_LOG_DEBUG - AV_LOG_ERROR
  }

  /// Sends the decoder a packet; it keeps a reference.
  ///
  /// - Throws: `AVError.tryAgain` when frames must be received first, `AVError.endOfFile` after `sendEndOfStream`, any
  ///   other error for what decoding this or an earlier packet met.
  package func send(_ packet: Packet) throws(AVError) {
    unsafe try packet.lend(to: self.packet)
    defer { unsafe cav_packet_unref(self.packet) }
    // Errors do not stop decoding until a picture begins: see `provideFrameBuffer`.
    unsafe raw.pointee.err_recognition &= ~AV_EF_EXPLODE
    try check(unsafe cavcodec_send_packet(raw, self.packet))
    try checkDevice()
  }

  /// As `AVError.check`, for a device's decoder: the stream may still be decoded without the device.
  private func check(_ code: Int32) throws(AVError) {
    guard code < 0, download != nil else {
      try AVError.check(code)
      return
    }
    switch AVError(rawValue: code) {
    case .tryAgain, .endOfFile, .outOfMemory: throw AVError(rawValue: code)
    default:
      try checkDevice()
      throw .hardwareFailed
    }
  }

  /// If the device refuses a picture's first slice, libavcodec begins the picture with its next slice, and reports
  /// nothing.
  private func checkDevice() throws(AVError) {
    switch host.deviceState.load(ordering: .relaxed) {
    case .decodes, .isChosen: return
    case .refuses: throw .hardwareRefused
    case .isBusy: throw .hardwareBusy
    case .hasFailed: throw .hardwareFailed
    }
  }

  /// Begins to drain: everything inside comes out, then end of stream. `flush` makes the decoder usable again.
  package func sendEndOfStream() throws(AVError) {
    try check(unsafe cavcodec_send_packet(raw, nil))
  }

  /// The result of `receive`.
  package enum Reception: Sendable {
    /// The frame was filled.
    case frame
    /// Nothing more until the next packet.
    case needsInput
    /// Nothing more at all.
    case endOfStream
  }

  /// Receives the next frame in presentation order into `frame`, whose earlier content is released.
  package func receive(_ frame: borrowing Frame) throws(AVError) -> Reception {
    let code = unsafe cavcodec_receive_frame(raw, frame.raw)
    if code == AVError.tryAgain.rawValue { return .needsInput }
    if code == AVError.endOfFile.rawValue { return .endOfStream }
    try check(code)
    try checkDevice()
    if let download { try place(frame, by: download) }
    return .frame
  }

  /// Has a picture of the device stay in its memory, or downloads it, as the source of buffers requests.
  private func place(_ frame: borrowing Frame, by download: HardwareDownload) throws(AVError) {
    let placement = exports ? host.source?.placement(timestamp: frame.timestamp) : nil
    guard let placement, placement != .download else { return unsafe try download.replace(frame.raw) }
    let surface = unsafe try ExportedSurface(frame.raw)
    let isDownloaded = placement == .exportAndDownload
    if isDownloaded { unsafe try download.replace(frame.raw) }
    guard let surface, let owner = host.source?.owner(of: surface, samples: isDownloaded ? frame.owner : nil) else {
      exports = false
      if !isDownloaded { unsafe try download.replace(frame.raw) }
      return
    }
    if !isDownloaded { unsafe try ExportedSurface.replace(frame.raw, owner: owner) }
  }

  /// Discards all input and references; the next packet must be a random access point.
  package func flush() {
    unsafe cavcodec_flush_buffers(raw)
    host.pendingFrames.removeAll()
  }

  /// The errors in the pictures that the packet with this timestamp began.
  ///
  /// Call when decoding of the packet has ended, which is `threadDelay` packets after it was sent, and before the
  /// next one is sent; a second call returns none. The frame itself often lacks them: up to libavcodec 60, a frame
  /// thread that outputs what another has decoded copies the flags before the other is done. It also comes too late
  /// for pictures that refer to it and are shown before it. Since 61, frame threads report errors with the frame
  /// only, so this returns none.
  package func takeErrors(timestamp: Int64) -> FrameErrors { host.pendingFrames.takeErrors(timestamp: timestamp) }

  /// Frames that the decoder holds back for reordering, as far as it has found by now (`has_b_frames`).
  package var reorderDepth: Int { unsafe Int(raw.pointee.has_b_frames) }

  /// Packets to send before the first one's frame can come out, because of frame threads.
  package var threadDelay: Int {
    unsafe raw.pointee.active_thread_type & FF_THREAD_FRAME != 0 ? max(0, Int(raw.pointee.thread_count) - 1) : 0
  }

  /// Pictures to skip, starting at the next packet.
  package var skip: CodecSettings.Skip = .none {
    didSet { unsafe raw.pointee.skip_frame = skip.value }
  }
}

/// The object that `AVCodecContext.opaque` points at: not generic, because a C callback needs it.
private final class CallbackHost: Sendable {
  /// nil for libavcodec's own memory.
  let source: (any FrameBufferSource)?
  let pendingFrames = PendingFrames()
  let maximumPixels: Int
  /// The format of the device's frames; nil without a device.
  let frameFormat: AVPixelFormat?
  /// The state of decoding on the device. A device that stops decoding is not tried again: a picture with one refused
  /// slice has come out without that slice.
  let deviceState = Atomic(DeviceState.decodes)

  enum DeviceState: UInt8, AtomicRepresentable {
    case decodes
    /// It is chosen, and nothing is decoded yet.
    case isChosen
    case refuses, isBusy, hasFailed

    var isUsable: Bool { self == .decodes || self == .isChosen }
  }

  init(_ source: (any FrameBufferSource)?, maximumPixels: Int, frameFormat: AVPixelFormat?) {
    self.source = source
    self.maximumPixels = maximumPixels
    self.frameFormat = frameFormat
  }
}

/// `get_format`: called when libavcodec has read the picture size, before it allocates memory for it, on any of its
/// threads.
private let chooseFormat:
  @convention(c) (UnsafeMutablePointer<AVCodecContext>?, UnsafePointer<AVPixelFormat>?) -> AVPixelFormat = {
    context, formats in
    guard let context = unsafe context, let formats = unsafe formats, let opaque = unsafe context.pointee.opaque else {
      return AV_PIX_FMT_NONE
    }
    let host = unsafe Unmanaged<CallbackHost>.fromOpaque(opaque).takeUnretainedValue()
    let (width, height) = unsafe (Int64(context.pointee.coded_width), Int64(context.pointee.coded_height))
    guard width * height <= Int64(host.maximumPixels) else { return AV_PIX_FMT_NONE }
    guard let wanted = host.frameFormat else { return unsafe cavcodec_default_get_format(context, formats) }
    // If the device refuses the stream, libavcodec calls again without the device's format.
    var next = unsafe formats
    let state = host.deviceState.load(ordering: .relaxed)
    while unsafe next.pointee != AV_PIX_FMT_NONE, state.isUsable {
      if unsafe next.pointee == wanted {
        host.deviceState.store(.isChosen, ordering: .relaxed)
        return wanted
      }
      unsafe next += 1
    }
    switch state {
    case .decodes: host.deviceState.store(.refuses, ordering: .relaxed)
    case .isChosen:
      let isListed = unsafe cavcodec_device_decodes(context, wanted) != 0
      host.deviceState.store(isListed ? .isBusy : .refuses, ordering: .relaxed)
    case .refuses, .isBusy, .hasFailed: break
    }
    return AV_PIX_FMT_NONE
  }

/// `get_buffer2`. Runs on any of libavcodec's threads.
private let provideFrameBuffer:
  @convention(c) (UnsafeMutablePointer<AVCodecContext>?, UnsafeMutablePointer<AVFrame>?, Int32) -> Int32 = {
    context, frame, flags in
    guard let context = unsafe context, let frame = unsafe frame, let opaque = unsafe context.pointee.opaque else {
      return AVError.invalidArgument.rawValue
    }
    let host = unsafe Unmanaged<CallbackHost>.fromOpaque(opaque).takeUnretainedValue()
    var width = unsafe frame.pointee.width
    var height = unsafe frame.pointee.height
    // After a refused format libavcodec still continues with the next picture of that size.
    guard Int64(width) * Int64(height) <= Int64(host.maximumPixels) else { return AVError.invalidData.rawValue }
    if let deviceFormat = host.frameFormat {
      guard unsafe frame.pointee.format == deviceFormat.rawValue else { return AVError.hardwareRefused.rawValue }
      guard host.deviceState.load(ordering: .relaxed).isUsable else { return AVError.hardwareFailed.rawValue }
      let code = unsafe cavcodec_default_get_buffer2(context, frame, flags)
      guard code >= 0 else {
        host.deviceState.store(.hasFailed, ordering: .relaxed)
        return code
      }
      host.deviceState.store(.decodes, ordering: .relaxed)
      // After this point, a driver's failure costs a slice; libavcodec would continue without it and report nothing.
      unsafe context.pointee.err_recognition |= AV_EF_EXPLODE
      unsafe host.source?.hasBegun(timestamp: frame.pointee.pts)
      unsafe host.pendingFrames.append(frame)
      return 0
    }
    guard let source = host.source else {
      let code = unsafe cavcodec_default_get_buffer2(context, frame, flags)
      if code >= 0 { unsafe host.pendingFrames.append(frame) }
      return code
    }
    let alignment = unsafe cav_align_dimensions(context, &width, &height)
    let request = unsafe FrameBufferRequest(
      timestamp: frame.pointee.pts, format: FrameFormat(rawValue: frame.pointee.format),
      width: Int(frame.pointee.width), height: Int(frame.pointee.height),
      cropLeft: Int(clamping: frame.pointee.crop_left), cropRight: Int(clamping: frame.pointee.crop_right),
      cropTop: Int(clamping: frame.pointee.crop_top), cropBottom: Int(clamping: frame.pointee.crop_bottom),
      alignedWidth: Int(width), alignedHeight: Int(height), strideAlignment: Int(alignment))
    let buffer: FrameBuffer
    do throws(AVError) {
      unsafe buffer = try source.buffer(for: request)
    } catch {
      return error.rawValue
    }
    do throws(AVError) {
      unsafe try lend(buffer, to: frame)
    } catch {
      return error.rawValue
    }
    unsafe host.pendingFrames.append(frame)
    return 0
  }

/// Has a frame's planes lie in a buffer, which it keeps.
///
/// - Throws: `AVError.invalidArgument` for a buffer without planes, `outOfMemory`.
private func lend(_ buffer: FrameBuffer, to frame: UnsafeMutablePointer<AVFrame>) throws(AVError) {
  guard let first = unsafe buffer.planes.first, unsafe buffer.planes.count <= min(4, buffer.strides.count) else {
    throw .invalidArgument
  }
  let owner = unsafe Unmanaged.passRetained(buffer.owner)
  guard let reference = unsafe cav_buffer_create(first, buffer.byteCount, releaseFrameBuffer, owner.toOpaque()) else {
    unsafe owner.release()
    throw .outOfMemory
  }
  unsafe frame.pointee.buf.0 = unsafe reference
  for index in unsafe buffer.planes.indices {
    unsafe cav_frame_set_plane(frame, Int32(index), buffer.planes[index], buffer.strides[index])
  }
}

extension Frame {
  /// Has an empty frame's planes lie in a buffer.
  func attach(_ buffer: FrameBuffer) throws(AVError) { unsafe try lend(buffer, to: raw) }

  /// A row of a plane whose samples are of two bytes; nil when the frame has no such plane.
  func samples(_ plane: Int, row: Int) -> UnsafeMutablePointer<UInt16>? {
    guard let start = unsafe self.plane(plane) else { return nil }
    // SAFETY: rows of such a plane begin at even addresses.
    return unsafe UnsafeMutableRawPointer(start + row * stride(plane)).assumingMemoryBound(to: UInt16.self)
  }
}

/// Releases what `lend` retained: libavcodec and all frames have released the memory.
private let releaseFrameBuffer: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?) -> Void = {
  opaque, _ in
  guard let opaque = unsafe opaque else { return }
  unsafe Unmanaged<AnyObject>.fromOpaque(opaque).release()
}
