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
  /// The display duration of the picture.
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

  /// Whether the frame is decoded but not shown.
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
