// SPDX-License-Identifier: MPL-2.0
import H26x

/// The bytes of a buffer in which start codes are searched for. Slices are nearly all of its bytes.
enum NALUnitSearch {
  /// In all bytes.
  case everywhere
  /// In slices only where start codes are all that separates NAL units.
  case outsideSlices
}

/// The NAL units of a buffer, as far as they can be found.
struct FoundNALUnits<Codec: ElementCodecSyntax>: Sendable {
  /// The NAL units, with the means to write them in another packaging.
  var repackager = Repackager(codec: Codec.codec)
  /// The damage that ended the search early; nil if the whole buffer could be read.
  private(set) var damage: BitstreamError?
  /// Whether the damage may have cost a NAL unit. Padding and other bytes behind the last one do not.
  private(set) var lacksNALUnit = false
  /// Start codes found in a length-prefixed buffer, where none belongs.
  private(set) var misplacedStartCodes = 0

  /// Finds the NAL units of a buffer. Tolerates a byte stream where lengths were expected, and start codes inside
  /// length-prefixed NAL units.
  ///
  /// - Parameters:
  ///   - bytes: the buffer's.
  ///   - packaging: how they are packed.
  ///   - history: of the stream's length-prefixed buffers.
  ///   - search: where start codes are looked for.
  mutating func find(
    in bytes: Span<UInt8>, packaging: NALPackaging, _ history: inout LengthPrefixed.PacketHistory,
    _ search: NALUnitSearch = .everywhere
  ) {
    damage = nil
    lacksNALUnit = false
    misplacedStartCodes = 0
    switch packaging {
    case .annexB:
      repackager.scanAnnexB(bytes)
      if repackager.entries.isEmpty, bytes.count > 0 {
        damage = BitstreamError(.unsupported, "start_code_prefix_one_3bytes", bitOffset: 0)
        lacksNALUnit = true
      }
    case .lengthPrefixed(let size):
      let startCodes = history.judge(bytes, lengthSize: size)
      do throws(BitstreamError) {
        misplacedStartCodes = try repackager.scanPacket(bytes, lengthSize: size, startCodes: startCodes) { type in
          search == .everywhere || !Codec.NALUnitType(rawValue: type).isVCL
        }
      } catch {
        damage = error
        let end = repackager.entries.last?.range.upperBound ?? 0
        lacksNALUnit =
          end == 0 || LengthPrefixed.mayBeTruncatedNALUnit(bytes.extracting(end...), lengthSize: size)
      }
    }
  }

  /// The NAL units with these indices, with offsets that count from byte `origin` of the buffer.
  ///
  /// The damaged bytes follow all NAL units, so they belong to the part with the last of them.
  func part(_ nalUnits: Range<Int>, origin: Int) -> FoundNALUnits {
    var part = self
    part.repackager = repackager.part(nalUnits, origin: origin)
    if nalUnits.upperBound < repackager.entries.count {
      part.damage = nil
      part.lacksNALUnit = false
    }
    if nalUnits.lowerBound > 0 { part.misplacedStartCodes = 0 }
    return part
  }
}
