// SPDX-License-Identifier: MPL-2.0
package import H26x

/// The configuration of AAC (ISO/IEC 14496-3, 1.6.2.1).
package struct AudioSpecificConfig: Sendable, Equatable {
  /// `audioObjectType`: 2 for AAC-LC, 5 and 29 for HE-AAC whose configuration says so first.
  package let objectType: Int
  /// Samples a second without spectral band replication.
  package let coreRate: Int
  /// Samples a second, of spectral band replication if it is signaled.
  package private(set) var sampleRate: Int
  /// Channels; 0 if the syntax behind it, or the sound itself, has them.
  package let channels: Int
  /// Samples of a frame without spectral band replication: 1024, or 960.
  package let frameLength: Int

  /// - Returns: `nil` if it cannot be read.
  package init?(_ bytes: [UInt8]) {
    var reader = BitReader(bytes.span, removesEmulationPrevention: false)
    do throws(BitstreamError) { try self.init(&reader) } catch { return nil }
    guard objectType != Self.bandReplication, objectType != Self.parametricStereo else { return }
    if let extended = Self.extendedRate(&reader) { sampleRate = extended }
  }

  /// Reads a configuration up to `frameLengthFlag`, and nothing behind it.
  ///
  /// - Throws: `.valueOutOfRange` for a reserved sampling frequency; `.truncated`.
  package init(_ reader: inout BitReader) throws(BitstreamError) {
    objectType = try Self.objectType(&reader)
    coreRate = try Self.sampleRate(&reader)
    let layout = Int(try reader.u(4, "channelConfiguration"))
    channels = Self.channels.indices.contains(layout) ? Self.channels[layout] : 0
    if objectType == Self.bandReplication || objectType == Self.parametricStereo {
      sampleRate = try Self.sampleRate(&reader)
      _ = try Self.objectType(&reader)
    } else {
      sampleRate = coreRate
    }
    frameLength = try reader.flag("frameLengthFlag") ? 960 : 1024
  }

  private static var bandReplication: Int { 5 }
  private static var parametricStereo: Int { 29 }

  /// The sampling frequencies of AAC by their index (1.6.3.3).
  package static let rates = [
    96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
  ]

  /// The numbers of channels by `channelConfiguration` (table 1.19).
  private static let channels = [0, 1, 2, 3, 4, 5, 6, 8, 0, 0, 0, 7, 8, 24, 8]

  private static func objectType(_ reader: inout BitReader) throws(BitstreamError) -> Int {
    let type = Int(try reader.u(5, "audioObjectType"))
    return type == 31 ? 32 + Int(try reader.u(6, "audioObjectTypeExt")) : type
  }

  private static func sampleRate(_ reader: inout BitReader) throws(BitstreamError) -> Int {
    let index = Int(try reader.u(4, "samplingFrequencyIndex"))
    let rate =
      index == 15 ? Int(try reader.u(24, "samplingFrequency")) : rates.indices.contains(index) ? rates[index] : 0
    guard rate > 0 else {
      throw BitstreamError(.valueOutOfRange, "samplingFrequencyIndex", bitOffset: reader.bitOffset)
    }
    return rate
  }

  /// The rate of spectral band replication that is signaled behind a configuration without a core coder and an
  /// extension (1.6.6.1).
  private static func extendedRate(_ reader: inout BitReader) -> Int? {
    do throws(BitstreamError) {
      guard try reader.u(2, "dependsOnCoreCoder, extensionFlag") == 0,
        try reader.u(11, "syncExtensionType") == 0x2B7, try objectType(&reader) == bandReplication,
        try reader.flag("sbrPresentFlag")
      else { return nil }
      return try sampleRate(&reader)
    } catch { return nil }
  }
}
