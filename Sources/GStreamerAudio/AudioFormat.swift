// SPDX-License-Identifier: MPL-2.0
import CGStreamerAudio

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
  /// Floating-point, 32 bits, little-endian, from −1 to 1.
  public static var f32: Self { Self(GST_AUDIO_FORMAT_F32LE) }

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
