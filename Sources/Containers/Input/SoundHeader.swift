// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

/// The header that each frame of some sound begins with. Transport streams describe such sound nowhere else, and
/// without a decoder libavformat does not read it.
struct SoundHeader: Equatable {
  /// Samples a second.
  let sampleRate: Int
  let channels: Int
  /// Samples of the frame.
  let samples: Int
  /// Bytes of the header if it does not belong to the frame in other containers; 0 if it does.
  let length: Int
  /// The configuration that replaces it in other containers (`AudioSpecificConfig`); empty if they have none.
  let configuration: [UInt8]

  /// libavcodec's names of the codecs that have one.
  static let codecs: Set = ["aac", "aac_latm", "eac3", "mp1", "mp2", "mp3"]

  /// The first header in bytes that may begin within a frame.
  static func first(in bytes: [UInt8], codec: String) -> SoundHeader? {
    let first: UInt8 = codec == "eac3" ? 0x0B : codec == "aac_latm" ? 0x56 : 0xFF
    for start in bytes.indices.prefix(8192) where bytes[start] == first {
      if let header = SoundHeader(Array(bytes[start...].prefix(16)), codec: codec) { return header }
    }
    return nil
  }

  /// Reads the header of a frame; `nil` for another codec and for a header that cannot be read.
  ///
  /// - Parameter codec: libavcodec's name.
  init?(_ bytes: [UInt8], codec: String) {
    switch codec {
    case "aac": self.init(adts: bytes)
    case "aac_latm": self.init(latm: bytes)
    case "eac3": self.init(enhancedAC3: bytes)
    case "mp1", "mp2", "mp3": self.init(mpegAudio: bytes)
    default: return nil
    }
  }

  /// ISO/IEC 14496-3, 1.A.2.2 (ADTS).
  private init?(adts bytes: [UInt8]) {
    guard bytes.count >= 7, bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0 else { return nil }
    let (profile, rate) = (bytes[2] >> 6, Int(bytes[2] >> 2 & 15))
    // 0 announces a configuration within the frame, which few writers use.
    let layout = (bytes[2] & 1) << 2 | bytes[3] >> 6
    let rates = AudioSpecificConfig.rates
    guard rates.indices.contains(rate), layout > 0 else { return nil }
    (sampleRate, channels) = (rates[rate], layout == 7 ? 8 : Int(layout))
    samples = 1024 * (Int(bytes[6] & 3) + 1)
    // protection_absent: without it a check sum follows.
    length = bytes[1] & 1 == 1 ? 7 : 9
    configuration = [(profile + 1) << 3 | UInt8(rate) >> 1, UInt8(rate & 1) << 7 | layout << 3]
  }

  /// ISO/IEC 14496-3, 1.7.2 and 1.7.3 (LOAS and LATM), of one program and one layer. A frame without a configuration
  /// reuses the previous frame's.
  private init?(latm bytes: [UInt8]) {
    guard bytes.count >= 8 else { return nil }
    var reader = BitReader(bytes.span, removesEmulationPrevention: false)
    do throws(BitstreamError) {
      guard try reader.u(11, "syncword") == 0x2B7, try reader.u(13, "audioMuxLengthBytes") > 0,
        try reader.u(3, "useSameStreamMux, audioMuxVersion, allStreamsSameTimeFraming") == 1
      else { return nil }
      let frames = Int(try reader.u(6, "numSubFrames")) + 1
      guard try reader.u(7, "numProgram, numLayer") == 0 else { return nil }
      let description = try AudioSpecificConfig(&reader)
      guard description.objectType < 31, description.channels > 0 else { return nil }
      // Its frames and their times are those without spectral band replication.
      (sampleRate, channels) = (description.coreRate, description.channels)
      samples = description.frameLength * frames
    } catch { return nil }
    (length, configuration) = (0, [])
  }

  /// ETSI TS 102 366, E.1.2.1 and E.1.2.2. Dependent substreams add channels to the first independent one. Their own
  /// headers are not read.
  private init?(enhancedAC3 bytes: [UInt8]) {
    guard bytes.count >= 6, bytes[0] == 0x0B, bytes[1] == 0x77 else { return nil }
    let (type, substream) = (bytes[2] >> 6, bytes[2] >> 3 & 7)
    let size = 2 * (Int(bytes[2] & 7) << 8 + Int(bytes[3]) + 1)
    let (rate, count, mode) = (Int(bytes[4] >> 6), Int(bytes[4] >> 4 & 3), Int(bytes[4] >> 1 & 7))
    let identification = bytes[5] >> 3
    // Streams of other versions have another syntax. The smallest frame of one block and one channel has more bytes.
    guard type == 0 || type == 2, substream == 0, (11...16).contains(identification), size >= 16 else { return nil }
    if rate < 3 {
      (sampleRate, samples) = ([48000, 44100, 32000][rate], 256 * [1, 2, 3, 6][count])
    } else {
      // fscod2 is in the place of numblkscod, and there are six blocks.
      guard count < 3 else { return nil }
      (sampleRate, samples) = ([24000, 22050, 16000][count], 256 * 6)
    }
    channels = [2, 1, 2, 3, 3, 4, 4, 5][mode] + Int(bytes[4] & 1)
    (length, configuration) = (0, [])
  }

  /// ISO/IEC 11172-3, 2.4.2.3, and its lower rates in ISO/IEC 13818-3.
  private init?(mpegAudio bytes: [UInt8]) {
    guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0 else { return nil }
    let (version, rate) = (bytes[1] >> 3 & 3, Int(bytes[2] >> 2 & 3))
    guard version != 1, rate < 3 else { return nil }
    let divisor = version == 3 ? 1 : version == 2 ? 2 : 4
    (sampleRate, channels) = ([44100, 48000, 32000][rate] / divisor, bytes[3] >> 6 == 3 ? 1 : 2)
    // Layer III has half as many at lower rates.
    let layer = bytes[1] >> 1 & 3
    samples = layer == 3 ? 384 : layer == 1 && version != 3 ? 576 : 1152
    (length, configuration) = (0, [])
  }
}
