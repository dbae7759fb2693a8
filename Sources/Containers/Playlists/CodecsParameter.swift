// SPDX-License-Identifier: MPL-2.0
import AVFormat
import H26x
import StreamReport

/// The names of codecs in playlists and media types (RFC 6381, 3.3): `avc1.64001F`, `hvc1.2.4.L153.B0`, `mp4a.40.2`.
enum CodecsParameter {
  /// The name of a video; `nil` if its description cannot be read.
  static func name(of video: MP4.VisualSampleDescription) -> String? {
    let coding = video.coding.name
    if ["dvh1", "dvhe", "dva1", "dvav"].contains(coding) {
      return video.dolbyVision.map { name(of: $0, coding: coding) }
    }
    do throws(BitstreamError) {
      switch video.coding.videoCodec {
      case .h264:
        // ISO/IEC 14496-15, E.2.
        let record = try H264.DecoderConfigurationRecord(video.configuration.span)
        let bytes = [record.profile.idc, record.profile.constraintFlags, record.levelIDC]
        return "\(coding).\(Text.hexadecimal(bytes[...]).uppercased())"
      case .h265:
        let record = try H265.DecoderConfigurationRecord(video.configuration.span)
        return "\(coding).\(name(of: record.profile, levelIDC: record.levelIDC))"
      case nil: return nil
      }
    } catch { return nil }
  }

  /// Profile, compatibility, tier, level and constraints of H.265 (ISO/IEC 14496-15, E.3).
  private static func name(of profile: H265.Profile, levelIDC: UInt8) -> String {
    let space = ["", "A", "B", "C"][Int(profile.space & 3)]
    // The flag of profile 0 is the lowest bit here.
    let compatibility = (0..<32 as Range<UInt32>).reduce(0 as UInt32) { reversed, bit in
      reversed | (profile.compatibilityFlags >> (31 - bit) & 1) << bit
    }
    var name = "\(space)\(profile.idc).\(String(compatibility, radix: 16, uppercase: true))"
    name += ".\(profile.isHighTier ? "H" : "L")\(levelIDC)"
    var constraints = [40, 32, 24, 16, 8, 0].map { UInt8(truncatingIfNeeded: profile.constraints.rawValue >> $0) }
    while constraints.last == 0 { constraints.removeLast() }
    return constraints.reduce(name) { "\($0).\(String($1, radix: 16, uppercase: true))" }
  }

  /// The name of Dolby Vision (Dolby Vision Streams within the HTTP Live Streaming format, 2): `dvh1.05.06`.
  private static func name(of record: DolbyVision.Configuration, coding: String) -> String {
    func two(_ number: UInt8) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(coding).\(two(record.profile)).\(two(record.level))"
  }

  /// The name of Dolby Vision in a video that other players can show too, with the brand of its base layer; `nil` for
  /// other videos.
  static func supplementalName(of video: MP4.VisualSampleDescription) -> String? {
    guard ["hvc1", "hev1"].contains(video.coding.name), let record = video.dolbyVision, record.profile == 8 else {
      return nil
    }
    let name = name(of: record, coding: video.coding == FourCharacterCode("hvc1") ? "dvh1" : "dvhe")
    switch record.compatibilityID {
    case 1: return "\(name)/db1p"
    case 4: return "\(name)/db4h"
    default: return nil
    }
  }

  /// The name of sound; `nil` if playlists have none for its codec.
  static func name(of sound: StreamDescription) -> String? {
    switch sound.codecName {
    case "aac": "mp4a.40.\(AudioSpecificConfig(sound.extradata)?.objectType ?? 2)"
    // The object type of layer 3.
    case "mp3": "mp4a.40.34"
    case "ac3": "ac-3"
    case "eac3": "ec-3"
    case "flac": "fLaC"
    case "opus": "Opus"
    case "alac": "alac"
    default: nil
    }
  }
}
