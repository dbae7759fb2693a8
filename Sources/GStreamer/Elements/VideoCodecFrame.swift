// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A frame in a video codec's base class, from input to output (`GstVideoCodecFrame`), with one owned reference.
@safe public struct VideoCodecFrame: ~Copyable, @unsafe OwnedObject {
  @unsafe let raw: UnsafeMutablePointer<GstVideoCodecFrame>

  /// Takes over one reference.
  @unsafe public init(owning raw: UnsafeMutablePointer<GstVideoCodecFrame>) { unsafe self.raw = raw }
  deinit { unsafe gst_video_codec_frame_unref(raw) }

  /// Gives the reference to the caller.
  @unsafe public consuming func take() -> UnsafeMutablePointer<GstVideoCodecFrame> {
    let raw = unsafe raw
    discard self
    return unsafe raw
  }

  /// The number that the base class gave the frame, for `frame(number:)`.
  public var systemFrameNumber: UInt32 { unsafe raw.pointee.system_frame_number }
  /// Presentation timestamp.
  public var pts: ClockTime? {
    get { unsafe ClockTime(raw: UInt64(raw.pointee.pts)) }
    nonmutating set { unsafe raw.pointee.pts = GstClockTime(newValue.raw) }
  }
  /// Decoding timestamp. An encoder that reorders pictures sets it; by default the base class makes it of the PTS.
  public var dts: ClockTime? {
    get { unsafe ClockTime(raw: UInt64(raw.pointee.dts)) }
    nonmutating set { unsafe raw.pointee.dts = GstClockTime(newValue.raw) }
  }
  /// How long the picture is shown.
  public var duration: ClockTime? {
    get { unsafe ClockTime(raw: UInt64(raw.pointee.duration)) }
    nonmutating set { unsafe raw.pointee.duration = GstClockTime(newValue.raw) }
  }

  /// Whether the frame is a random access point.
  public var isSyncPoint: Bool {
    get { unsafe cgst_video_codec_frame_is_sync_point(raw) != 0 }
    nonmutating set { unsafe cgst_video_codec_frame_set_sync_point(raw, newValue ? 1 : 0) }
  }

  /// Whether an encoder is to make a keyframe of it: somebody downstream, or the application, requested one.
  public var isKeyframeRequested: Bool {
    unsafe raw.pointee.flags & GST_VIDEO_CODEC_FRAME_FLAG_FORCE_KEYFRAME.rawValue != 0
  }

  /// Whether the frame is to be decoded but not shown.
  public var isDecodeOnly: Bool {
    unsafe raw.pointee.flags & GST_VIDEO_CODEC_FRAME_FLAG_DECODE_ONLY.rawValue != 0
  }

  /// Flags of the input buffer.
  public var inputFlags: Buffer.Flags { withInput { $0.flags } ?? [] }

  /// Calls a function with the input buffer; returns `nil` when there is none.
  public func withInput<Result: ~Copyable, Failure: Error>(
    _ body: (borrowing Buffer) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let input = unsafe raw.pointee.input_buffer else { return nil }
    return try unsafe Buffer.lending(input, body)
  }

  /// Changes the input buffer, for instance its metas.
  public func modifyInput(_ body: (inout Buffer) -> Void) {
    guard let input = unsafe raw.pointee.input_buffer else { return }
    var buffer = unsafe Buffer(owning: input)
    body(&buffer)
    unsafe raw.pointee.input_buffer = buffer.take()
  }

  /// Sets the output buffer.
  public func setOutput(_ buffer: consuming Buffer) {
    if let old = unsafe raw.pointee.output_buffer { unsafe unref(old) }
    unsafe raw.pointee.output_buffer = unsafe buffer.take()
  }

  /// Removes the output buffer.
  func clearOutput() {
    if let old = unsafe raw.pointee.output_buffer { unsafe unref(old) }
    unsafe raw.pointee.output_buffer = nil
  }

  /// Changes the output buffer, if there is one.
  public func modifyOutput(_ body: (inout Buffer) -> Void) {
    guard let output = unsafe raw.pointee.output_buffer else { return }
    var buffer = unsafe Buffer(owning: output)
    body(&buffer)
    unsafe raw.pointee.output_buffer = buffer.take()
  }
}

/// The format of a codec's input or output from some point of the stream on (`GstVideoCodecState`).
@safe public struct VideoCodecState: ~Copyable, @unsafe OwnedObject {
  @unsafe let raw: UnsafeMutablePointer<GstVideoCodecState>

  /// Takes over one reference.
  @unsafe public init(owning raw: UnsafeMutablePointer<GstVideoCodecState>) { unsafe self.raw = raw }
  deinit { unsafe gst_video_codec_state_unref(raw) }

  /// Gives the reference to the caller.
  @unsafe public consuming func take() -> UnsafeMutablePointer<GstVideoCodecState> {
    let raw = unsafe raw
    discard self
    return unsafe raw
  }

  /// Format, size and colorimetry; for encoded input as far as the caps have them.
  public var info: VideoInfo {
    var info = unsafe VideoInfo(raw.pointee.info)
    // From 1.26 on, GStreamer sets it from caps of raw video only.
    if unsafe info.raw.chroma_site == GST_VIDEO_CHROMA_SITE_UNKNOWN, let caps = unsafe raw.pointee.caps,
      let structure = unsafe gst_caps_get_structure(caps, 0),
      let site = unsafe gst_structure_get_string(structure, "chroma-site")
    {
      unsafe info.raw.chroma_site = gst_video_chroma_site_from_string(site)
    }
    return info
  }

  /// The input's caps.
  public var caps: Caps? {
    unsafe Caps.retaining(optional: raw.pointee.caps)
  }

  /// The input's `codec_data`.
  public var codecData: Buffer? {
    unsafe Buffer.retaining(optional: raw.pointee.codec_data)
  }

  /// Changes the description of the output, beyond format and size: aspect ratio, colorimetry, interlacing, frame rate.
  public func modifyInfo(_ body: (inout VideoInfo) -> Void) {
    var info = info
    body(&info)
    unsafe raw.pointee.info = info.raw
  }

  /// Sets the output's caps, for fields that `info` lacks; without this they are made from `info`.
  public func setCaps(_ caps: consuming Caps) {
    if let old = unsafe raw.pointee.caps { unsafe unref(old) }
    unsafe raw.pointee.caps = unsafe caps.take()
  }

  /// Another owner of the same state.
  public borrowing func share() -> VideoCodecState { unsafe VideoCodecState(owning: gst_video_codec_state_ref(raw)) }
}
