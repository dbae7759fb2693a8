// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// An access unit that changes nothing for later access units. It is no random access point, has nothing in front but
/// a delimiter and SEI, and does not end the sequence.
///
/// It is looked at up to its first slice, which ends the search for start codes: the slices are nearly all of its
/// bytes.
enum PlainPicture<Codec: RepackCodec> {
  /// Whether a buffer is one; false when it cannot be read.
  static func isIn(_ buffer: borrowing Buffer, _ packaging: NALPackaging?) -> Bool {
    guard let packaging else { return false }
    do throws(FlowError) {
      let map = try buffer.map()
      return holds(map.bytes, packaging: packaging)
    } catch { return false }
  }

  /// Whether an access unit is one. False for one that is damaged, as far as that is noticed.
  static func holds(_ bytes: Span<UInt8>, packaging: NALPackaging) -> Bool {
    switch packaging {
    case .annexB: holds(annexB: bytes)
    case .lengthPrefixed(let size): holds(bytes, size)
    }
  }

  private static func holds(annexB bytes: Span<UInt8>) -> Bool {
    var front: Int?
    var offset = 0
    while let prefix = AnnexB.startCode(in: bytes, from: offset), prefix + 3 < bytes.count {
      if let start = front.take(), concernsOthers(bytes.extracting(start..<prefix)) { return false }
      offset = prefix + 3
      // No header is two zero bytes: an empty NAL unit, which a start code follows.
      if bytes[offset] == 0, offset + 1 >= bytes.count || bytes[offset + 1] == 0 { return false }
      let type = Codec.NALUnitType(headerByte: bytes[offset])
      if type.isVCL { return !type.isRandomAccessPoint && !mayEndSequence(bytes, from: offset) }
      front = offset
    }
    return false
  }

  private static func holds(_ bytes: Span<UInt8>, _ lengthSize: NALLengthSize) -> Bool {
    var units = LengthPrefixed.NALUnits(bytes, lengthSize: lengthSize)
    var hasSlice = false
    do throws(BitstreamError) {
      while let range = try units.next() {
        let type = Codec.NALUnitType(headerByte: bytes[range.lowerBound])
        // A start code in the place of a length is a length of 1.
        guard range.count > 1, type.isVCL ? !type.isRandomAccessPoint : !hasSlice else { return false }
        hasSlice = hasSlice || type.isVCL
        guard !type.isVCL else { continue }
        let nalUnit = bytes.extracting(range)
        if concernsOthers(nalUnit) || AnnexB.startCode(in: nalUnit) != nil { return false }
      }
      return hasSlice
    } catch { return false }
  }

  /// Whether a NAL unit in front of the slices makes the access unit more than a picture.
  private static func concernsOthers(_ nalUnit: Span<UInt8>) -> Bool {
    guard nalUnit.count > 0 else { return true }
    let type = Codec.NALUnitType(headerByte: nalUnit[0])
    guard type.isSEI else { return type != Codec.NALUnitType.accessUnitDelimiter }
    return SEIMessages.hold(.recoveryPoint, nalUnit, headerLength: Codec.nalUnitHeaderLength)
  }

  /// Whether a short NAL unit may stand at the end: end of sequence and end of stream together have 12 bytes at most.
  private static func mayEndSequence(_ bytes: Span<UInt8>, from offset: Int) -> Bool {
    bytes[bytes.count - 1] == 0 || AnnexB.startCode(in: bytes, from: max(offset, bytes.count - 16)) != nil
  }
}
