// SPDX-License-Identifier: MPL-2.0
import CGStreamer
public import CGStreamerAudio
public import GStreamer

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

  /// A description of interleaved audio, with the channels in GStreamer's usual positions. `nil` for an unknown
  /// format, a rate below 1, and for channels that are not 1 to 64.
  public init?(format: AudioFormat, sampleRate: Int, channels: Int) {
    guard format.raw != GST_AUDIO_FORMAT_UNKNOWN, let rate = gint(exactly: sampleRate), rate > 0, 1...64 ~= channels
    else { return nil }
    unsafe raw = GstAudioInfo()
    unsafe gst_audio_info_set_format(&raw, format.raw, rate, gint(channels), nil)
  }

  /// The format of samples.
  public var format: AudioFormat { AudioFormat(unsafe raw.finfo?.pointee.format ?? GST_AUDIO_FORMAT_UNKNOWN) }
  /// Samples a second of each channel.
  public var sampleRate: Int { unsafe Int(raw.rate) }
  /// The number of channels.
  public var channels: Int { unsafe Int(raw.channels) }
  /// Bytes of a frame: a sample of each channel.
  public var frameSize: Int { unsafe Int(raw.bpf) }
  /// Whether samples of all channels alternate, rather than each channel being by itself.
  public var isInterleaved: Bool { unsafe raw.layout == GST_AUDIO_LAYOUT_INTERLEAVED }

  /// The duration of some frames; `nil` without a sample rate.
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
