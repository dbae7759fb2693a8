// SPDX-License-Identifier: MPL-2.0
import CGStreamer
public import CGStreamerAudio
public import GStreamer

/// A raw audio format (`GstAudioFormat`, gst/audio/audio-format.h): how one sample is stored.
@safe public struct AudioFormat: RawRepresentable, Hashable, Sendable {
  /// The `GstAudioFormat`.
  public let rawValue: UInt32
  /// The format of this `GstAudioFormat`.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The format of a name in caps, such as `S16LE`; `nil` when there is none.
  public init?(name: String) {
    let format = unsafe gst_audio_format_from_string(name)
    guard format != GST_AUDIO_FORMAT_UNKNOWN else { return nil }
    rawValue = UInt32(bitPattern: Int32(format.rawValue))
  }

  /// Unsigned, 8 bits.
  public static var u8: Self { Self(GST_AUDIO_FORMAT_U8) }
  /// Signed, 16 bits, little-endian.
  public static var s16: Self { Self(GST_AUDIO_FORMAT_S16LE) }
  /// Signed, 32 bits, little-endian.
  public static var s32: Self { Self(GST_AUDIO_FORMAT_S32LE) }
  /// Floating-point, 32 bits, little-endian, from −1 to 1.
  public static var f32: Self { Self(GST_AUDIO_FORMAT_F32LE) }
  /// Floating-point, 64 bits, little-endian, from −1 to 1.
  public static var f64: Self { Self(GST_AUDIO_FORMAT_F64LE) }

  init(_ format: GstAudioFormat) { rawValue = UInt32(bitPattern: Int32(format.rawValue)) }

  /// The C value; GStreamer does not look up others than its own.
  var raw: GstAudioFormat { unsafe knownName == nil ? GST_AUDIO_FORMAT_UNKNOWN : unchecked }
  private var unchecked: GstAudioFormat { GstAudioFormat(rawValue: numericCast(rawValue)) }

  /// The name in caps; `UNKNOWN` for a value that GStreamer does not have.
  public var name: String { unsafe knownName.map { unsafe String(cString: $0) } ?? "UNKNOWN" }

  private var knownName: UnsafePointer<CChar>? {
    // GStreamer reads its table at any number without a check.
    guard rawValue > GST_AUDIO_FORMAT_ENCODED.rawValue, rawValue <= GST_AUDIO_FORMAT_F64BE.rawValue else { return nil }
    return unsafe gst_audio_format_to_string(unchecked)
  }
}

/// The description of raw audio (`GstAudioInfo`, gst/audio/audio-info.h).
@safe public struct AudioInfo: @unchecked Sendable {
  /// The C object.
  @unsafe public internal(set) var raw: GstAudioInfo

  /// Wraps the C structure.
  @unsafe public init(_ raw: GstAudioInfo) { unsafe self.raw = raw }

  /// The description of fixed `audio/x-raw` caps; `nil` for other caps.
  public init?(_ caps: borrowing Caps) {
    unsafe raw = GstAudioInfo()
    guard unsafe gst_audio_info_from_caps(&raw, caps.raw) != 0 else { return nil }
  }

  /// A description of interleaved audio, with the channels in GStreamer's usual positions; `nil` for an unknown format, a
  /// rate below 1, and for channels that are not 1 to 64.
  public init?(format: AudioFormat, sampleRate: Int, channels: Int) {
    guard format.raw != GST_AUDIO_FORMAT_UNKNOWN, let rate = gint(exactly: sampleRate), rate > 0, 1...64 ~= channels
    else { return nil }
    unsafe raw = GstAudioInfo()
    unsafe gst_audio_info_set_format(&raw, format.raw, rate, gint(channels), nil)
  }

  /// How samples are stored.
  public var format: AudioFormat { AudioFormat(unsafe raw.finfo?.pointee.format ?? GST_AUDIO_FORMAT_UNKNOWN) }
  /// Samples a second of each channel.
  public var sampleRate: Int { unsafe Int(raw.rate) }
  /// The number of channels.
  public var channels: Int { unsafe Int(raw.channels) }
  /// Bytes of a frame, which is a sample of each channel.
  public var frameSize: Int { unsafe Int(raw.bpf) }
  /// Whether samples of all channels alternate, rather than each channel being by itself.
  public var isInterleaved: Bool { unsafe raw.layout == GST_AUDIO_LAYOUT_INTERLEAVED }

  /// How long some frames last; `nil` without a sample rate.
  public func duration(ofFrames count: Int) -> ClockTime? {
    guard sampleRate > 0, count >= 0 else { return nil }
    return .seconds(UInt64(count), times: 1, over: UInt32(clamping: sampleRate))
  }

  /// The caps of this description; empty caps when it is invalid.
  public func caps() -> Caps {
    var copy = unsafe raw
    guard unsafe copy.isValid, let caps = unsafe gst_audio_info_to_caps(&copy) else { return .empty() }
    return unsafe Caps(owning: caps)
  }

  /// Whether the descriptions are equal (`gst_audio_info_is_equal`).
  public func isEqual(to other: AudioInfo) -> Bool {
    var (a, b) = unsafe (raw, other.raw)
    guard unsafe a.isValid && b.isValid else { return unsafe a.isValid == b.isValid }
    return unsafe gst_audio_info_is_equal(&a, &b) != 0
  }
}

extension GstAudioInfo {
  fileprivate var isValid: Bool { unsafe finfo != nil && channels > 0 && rate > 0 && bpf > 0 }
}
