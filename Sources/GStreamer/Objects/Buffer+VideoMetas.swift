// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Buffer {
  /// The layout of closed caption data (`GstVideoCaptionType`).
  public enum CaptionFormat: UInt32, Sendable {
    /// CEA-608 byte pairs.
    case cea608Raw = 1
    /// Triplets of field and line, and a CEA-608 byte pair, as in SMPTE S334-1 Annex A.
    case cea608S334
    /// CEA-708 `cc_data` triplets.
    case cea708Raw
    /// A whole Caption Distribution Packet of SMPTE 334-2.
    case cea708Packet
  }

  /// Closed captions that are attached to a buffer.
  public struct ClosedCaptions: Hashable, Sendable {
    /// The layout of the bytes; nil for one that is not known here.
    public var format: CaptionFormat?
    /// The caption data.
    public var bytes: [UInt8]

    /// Closed captions of a layout.
    public init(_ bytes: [UInt8], format: CaptionFormat?) {
      self.format = format
      self.bytes = bytes
    }
  }

  /// The closed captions attached, a meta each.
  public var closedCaptions: [ClosedCaptions] {
    var captions: [ClosedCaptions] = []
    var state: gpointer?
    let kind = gst_video_caption_meta_api_get_type()
    while let meta = unsafe gst_buffer_iterate_meta_filtered(raw, &state, kind) {
      let found = unsafe UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCaptionMeta.self).pointee
      // An element in C may have filled it in by itself.
      let count = unsafe found.data == nil ? 0 : Int(clamping: found.size)
      unsafe captions.append(
        ClosedCaptions(
          [UInt8](UnsafeBufferPointer(start: found.data, count: count)),
          format: CaptionFormat(rawValue: found.caption_type.rawValue)))
    }
    return captions
  }

  private borrowing func hasMeta(_ kind: GType) -> Bool { unsafe gst_buffer_get_n_meta(raw, kind) > 0 }

  /// Whether closed captions are attached.
  public var hasCaptions: Bool { hasMeta(gst_video_caption_meta_api_get_type()) }
  /// Whether an Active Format Description is attached.
  public var hasActiveFormat: Bool { hasMeta(gst_video_afd_meta_api_get_type()) }
  /// Whether bar data is attached.
  public var hasBars: Bool { hasMeta(gst_video_bar_meta_api_get_type()) }
  /// Whether unregistered user data is attached; `false` before GStreamer 1.22.
  public var hasUserData: Bool { unsafe cgst_buffer_has_user_data_unregistered(raw) != 0 }

  /// Attaches closed captions (`GstVideoCaptionMeta`). The bytes are copied; an empty span attaches nothing.
  public mutating func addCaptions(_ bytes: Span<UInt8>, format: CaptionFormat) {
    guard bytes.count > 0 else { return }
    makeWritable()
    unsafe bytes.withUnsafeBufferPointer {
      _ = unsafe gst_buffer_add_video_caption_meta(
        raw, GstVideoCaptionType(rawValue: format.rawValue), $0.baseAddress, gsize($0.count))
    }
  }

  /// Attaches an Active Format Description as ATSC A/53 codes it (`GstVideoAFDMeta`).
  ///
  /// - Parameters:
  ///   - code: `active_format`, 0 to 15.
  ///   - isSecondField: whether it applies to the second field.
  public mutating func addActiveFormat(_ code: UInt8, isSecondField: Bool = false) {
    makeWritable()
    unsafe gst_buffer_add_video_afd_meta(
      raw, isSecondField ? 1 : 0, GST_VIDEO_AFD_SPEC_ATSC_A53, GstVideoAFDValue(rawValue: UInt32(code & 0xF)))
  }

  /// Attaches bar data (`GstVideoBarMeta`).
  ///
  /// - Parameters:
  ///   - isLetterbox: whether the bars are at the top and bottom, rather than left and right.
  ///   - first: last line of the top bar, or last column of the left bar.
  ///   - second: first line of the bottom bar, or first column of the right bar.
  ///   - isSecondField: whether they apply to the second field.
  public mutating func addBars(isLetterbox: Bool, first: UInt32, second: UInt32, isSecondField: Bool = false) {
    makeWritable()
    unsafe gst_buffer_add_video_bar_meta(raw, isSecondField ? 1 : 0, isLetterbox ? 1 : 0, first, second)
  }

  /// Attaches unregistered user data of an SEI message (`GstVideoSEIUserDataUnregisteredMeta`; nothing before GStreamer
  /// 1.22). The bytes are copied; there may be none.
  ///
  /// - Parameters:
  ///   - identifier: the 16 bytes of the UUID; with any other count nothing is attached.
  ///   - bytes: the user data after the UUID.
  public mutating func addUserData(identifier: Span<UInt8>, _ bytes: Span<UInt8>) {
    guard identifier.count == 16 else { return }
    makeWritable()
    unsafe identifier.withUnsafeBufferPointer { identifier in
      unsafe bytes.withUnsafeBufferPointer {
        unsafe cgst_buffer_add_user_data_unregistered(raw, identifier.baseAddress, $0.baseAddress, gsize($0.count))
      }
    }
  }

  /// A SMPTE time code (`GstVideoTimeCodeMeta`).
  public struct TimeCode: Hashable, Sendable {
    /// 0 to 23.
    public var hours: UInt32
    /// 0 to 59.
    public var minutes: UInt32
    /// 0 to 59.
    public var seconds: UInt32
    /// The frame within the second, from 0.
    public var frames: UInt32
    /// Frames a second.
    public var frameRate: Fraction
    /// Whether frame numbers are dropped to keep up with the clock (drop-frame time code).
    public var dropsFrames: Bool
    /// Whether the video is interlaced.
    public var isInterlaced: Bool
    /// The field it belongs to: 0 both, 1 the first, 2 the second.
    public var fieldCount: UInt32

    /// A time code.
    public init(
      hours: UInt32, minutes: UInt32, seconds: UInt32, frames: UInt32, frameRate: Fraction, dropsFrames: Bool = false,
      isInterlaced: Bool = false, fieldCount: UInt32 = 0
    ) {
      self.hours = hours
      self.minutes = minutes
      self.seconds = seconds
      self.frames = frames
      self.frameRate = frameRate
      self.dropsFrames = dropsFrames
      self.isInterlaced = isInterlaced
      self.fieldCount = fieldCount
    }
  }

  /// Attaches a time code, unless it is invalid, such as second 61 or frame 30 of 25: GStreamer's functions would
  /// reject the meta in every element that reads it.
  public mutating func addTimeCode(_ code: TimeCode) {
    guard code.frameRate.numerator > 0, code.frameRate.denominator > 0 else { return }
    var flags = GST_VIDEO_TIME_CODE_FLAGS_NONE.rawValue
    if code.dropsFrames { flags |= GST_VIDEO_TIME_CODE_FLAGS_DROP_FRAME.rawValue }
    if code.isInterlaced { flags |= GST_VIDEO_TIME_CODE_FLAGS_INTERLACED.rawValue }
    var checked = unsafe GstVideoTimeCode()
    unsafe gst_video_time_code_init(
      &checked, guint(code.frameRate.numerator), guint(code.frameRate.denominator), nil,
      GstVideoTimeCodeFlags(rawValue: flags), code.hours, code.minutes, code.seconds, code.frames, code.fieldCount)
    guard unsafe gst_video_time_code_is_valid(&checked) != 0 else { return }
    makeWritable()
    unsafe gst_buffer_add_video_time_code_meta_full(
      raw, guint(code.frameRate.numerator), guint(code.frameRate.denominator), nil,
      GstVideoTimeCodeFlags(rawValue: flags), code.hours, code.minutes, code.seconds, code.frames, code.fieldCount)
  }

  /// The time codes attached.
  public var timeCodes: [TimeCode] {
    var codes: [TimeCode] = []
    var state: gpointer?
    while let meta = unsafe cgst_buffer_iterate_time_codes(raw, &state) {
      let code = unsafe meta.pointee.tc
      let flags = unsafe code.config.flags.rawValue
      unsafe codes.append(
        TimeCode(
          hours: code.hours, minutes: code.minutes, seconds: code.seconds, frames: code.frames,
          frameRate: Fraction(Int32(clamping: code.config.fps_n), Int32(clamping: code.config.fps_d)),
          dropsFrames: flags & GST_VIDEO_TIME_CODE_FLAGS_DROP_FRAME.rawValue != 0,
          isInterlaced: flags & GST_VIDEO_TIME_CODE_FLAGS_INTERLACED.rawValue != 0, fieldCount: code.field_count))
    }
    return codes
  }

  /// Whether a time code is attached.
  public var hasTimeCode: Bool {
    var state: gpointer?
    return unsafe cgst_buffer_iterate_time_codes(raw, &state) != nil
  }
}
