// SPDX-License-Identifier: MPL-2.0
import H26x

/// Where start codes are looked for in a buffer. Slices are nearly all of its bytes.
enum NALUnitSearch {
  /// In all bytes.
  case everywhere
  /// In slices only where start codes are all that separates NAL units.
  case outsideSlices
  /// Up to the first slice, where nothing but a picture follows that concerns no other: with the slices after it, it
  /// counts as one NAL unit.
  case upToPlainPictures
}

/// The NAL units of a buffer, as far as they can be found.
struct FoundNALUnits<Codec: ElementCodecSyntax>: Sendable {
  /// The NAL units, with the means to write them in another packaging.
  var repackager = Repackager(codec: Codec.codec)
  /// What ended the search early; nil when the whole buffer could be read.
  private(set) var damage: BitstreamError?
  /// Start codes found in a length-prefixed buffer, where none belongs.
  private(set) var misplacedStartCodes = 0

  /// Finds the NAL units of a buffer. Tolerates a byte stream where lengths were expected, and start codes inside
  /// length-prefixed NAL units.
  ///
  /// - Parameters:
  ///   - bytes: the buffer's.
  ///   - packaging: how they are packed.
  ///   - search: where start codes are looked for.
  mutating func find(in bytes: Span<UInt8>, packaging: NALPackaging, _ search: NALUnitSearch = .everywhere) {
    damage = nil
    misplacedStartCodes = 0
    switch packaging {
    case .annexB:
      if search == .upToPlainPictures, let picture = Self.plainPicture(in: bytes) {
        return repackager.scanAnnexB(bytes, rest: picture)
      }
      repackager.scanAnnexB(bytes)
      if repackager.entries.isEmpty, bytes.count > 0 {
        damage = BitstreamError(.unsupported, "start_code_prefix_one_3bytes", bitOffset: 0)
      }
    case .lengthPrefixed(let size):
      do throws(BitstreamError) {
        misplacedStartCodes = try repackager.scanPacket(bytes, lengthSize: size) { type in
          search == .everywhere || !Codec.NALUnitType(rawValue: type).isVCL
        }
      } catch {
        damage = error
      }
    }
  }

  /// The start code of the first slice of an access unit that changes nothing for those after it: no random access
  /// point, with nothing in front but a delimiter and SEI, and without an end of sequence. Nil for any other.
  private static func plainPicture(in bytes: Span<UInt8>) -> Int? {
    var message: Int?
    var offset = 0
    while let prefix = AnnexB.startCode(in: bytes, from: offset), prefix + 3 < bytes.count {
      offset = prefix + 3
      if let start = message.take(),
        SEIMessages.hold(
          .recoveryPoint, bytes.extracting(start..<prefix), headerLength: Codec.nalUnitHeaderLength)
      {
        return nil
      }
      let type = Codec.NALUnitType(headerByte: bytes[offset])
      if type.isVCL { return type.isRandomAccessPoint || mayEndSequence(bytes, from: offset) ? nil : prefix }
      if type.isSEI {
        message = offset
      } else if type != Codec.NALUnitType.accessUnitDelimiter {
        return nil
      }
    }
    return nil
  }

  /// Whether a short NAL unit may stand at the end: end of sequence and end of stream together have 12 bytes at most.
  private static func mayEndSequence(_ bytes: Span<UInt8>, from offset: Int) -> Bool {
    bytes[bytes.count - 1] == 0 || AnnexB.startCode(in: bytes, from: max(offset, bytes.count - 16)) != nil
  }

  /// The NAL units with these indices, with offsets that count from byte `origin` of the buffer.
  ///
  /// The damaged bytes follow all NAL units, so they belong to the part with the last of them.
  func part(_ nalUnits: Range<Int>, origin: Int) -> FoundNALUnits {
    var part = self
    part.repackager = repackager.part(nalUnits, origin: origin)
    if nalUnits.upperBound < repackager.entries.count { part.damage = nil }
    if nalUnits.lowerBound > 0 { part.misplacedStartCodes = 0 }
    return part
  }
}
