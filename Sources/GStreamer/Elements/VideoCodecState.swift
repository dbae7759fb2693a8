// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// The format of a codec's input or output, starting at some point of the stream (`GstVideoCodecState`).
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
