// SPDX-License-Identifier: MPL-2.0
import H26x

/// The configuration of AAC (ISO/IEC 14496-3, 1.6.2.1).
struct AudioSpecificConfig: Equatable {
  /// `audioObjectType`: 2 for AAC-LC, 5 and 29 for HE-AAC whose configuration says so first.
  let objectType: Int
  /// Samples a second, of spectral band replication if it is signaled.
  private(set) var sampleRate: Int
  /// Channels; 0 if the syntax behind it, or the sound itself, has them.
  let channels: Int

  /// - Returns: `nil` if it cannot be read.
  init?(_ bytes: [UInt8]) {
    var reader = BitReader(bytes.span, removesEmulationPrevention: false)
    do throws(BitstreamError) {
      objectType = try Self.objectType(&reader)
      sampleRate = try Self.sampleRate(&reader)
      let layout = Int(try reader.u(4, "channelConfiguration"))
      channels = Self.channels.indices.contains(layout) ? Self.channels[layout] : 0
      var coreType = objectType
      if objectType == Self.bandReplication || objectType == Self.parametricStereo {
        sampleRate = try Self.sampleRate(&reader)
        coreType = try Self.objectType(&reader)
      }
      guard sampleRate > 0 else { return nil }
      guard coreType == objectType else { return }
    } catch { return nil }
    if let extended = Self.extendedRate(&reader) { sampleRate = extended }
  }

  private static let (bandReplication, parametricStereo) = (5, 29)

  /// The numbers of channels by `channelConfiguration` (table 1.19).
  private static let channels = [0, 1, 2, 3, 4, 5, 6, 8, 0, 0, 0, 7, 8, 24, 8]

  private static func objectType(_ reader: inout BitReader) throws(BitstreamError) -> Int {
    let type = Int(try reader.u(5, "audioObjectType"))
    return type == 31 ? 32 + Int(try reader.u(6, "audioObjectTypeExt")) : type
  }

  /// - Returns: 0 for a reserved index.
  private static func sampleRate(_ reader: inout BitReader) throws(BitstreamError) -> Int {
    let index = Int(try reader.u(4, "samplingFrequencyIndex"))
    if index == 15 { return Int(try reader.u(24, "samplingFrequency")) }
    return SoundHeader.rates.indices.contains(index) ? SoundHeader.rates[index] : 0
  }

  /// The rate of spectral band replication that is signaled behind a configuration without a core coder and an
  /// extension (1.6.6.1).
  private static func extendedRate(_ reader: inout BitReader) -> Int? {
    do throws(BitstreamError) {
      // frameLengthFlag, dependsOnCoreCoder, extensionFlag, and syncExtensionType.
      guard try reader.u(3, "GASpecificConfig") & 3 == 0, try reader.u(11, "syncExtensionType") == 0x2B7,
        try objectType(&reader) == bandReplication, try reader.flag("sbrPresentFlag")
      else { return nil }
      let rate = try sampleRate(&reader)
      return rate > 0 ? rate : nil
    } catch { return nil }
  }
}
