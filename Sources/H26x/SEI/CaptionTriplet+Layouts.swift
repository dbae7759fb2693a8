// SPDX-License-Identifier: MPL-2.0

// Captions as applications have them beside a picture, in the layouts of GstVideoCaptionType.
extension CaptionTriplet {
  /// Reads the triplets of `cc_data`.
  ///
  /// - Returns: nil if the bytes are not ``limit`` whole triplets at most.
  package static func list(data bytes: [UInt8]) -> [CaptionTriplet]? {
    groups(of: 3, in: bytes)?.map { offset in
      var triplet = CaptionTriplet(.field1, bytes[offset + 1], bytes[offset + 2])
      triplet.header = bytes[offset]
      return triplet
    }
  }

  /// Reads byte pairs of CTA-608, which are of field 1.
  ///
  /// - Returns: nil if the bytes are not ``limit`` whole pairs at most.
  package static func list(pairs bytes: [UInt8]) -> [CaptionTriplet]? {
    groups(of: 2, in: bytes)?.map { CaptionTriplet(.field1, bytes[$0], bytes[$0 + 1]) }
  }

  /// Reads byte pairs of CTA-608 behind a byte with their field and line (SMPTE ST 334-1, Annex A).
  ///
  /// - Returns: nil if the bytes are not ``limit`` whole groups of three at most.
  package static func list(lines bytes: [UInt8]) -> [CaptionTriplet]? {
    groups(of: 3, in: bytes)?.map { offset in
      CaptionTriplet(bytes[offset] & 0x80 != 0 ? .field1 : .field2, bytes[offset + 1], bytes[offset + 2])
    }
  }

  /// Reads the triplets of a Caption Distribution Packet.
  ///
  /// - Returns: nil if the packet is damaged, or has more than ``limit``.
  package static func list(packet bytes: [UInt8]) -> [CaptionTriplet]? {
    do throws(BitstreamError) {
      let packet = try CaptionDistributionPacket(bytes.span)
      let triplets = packet.triplets
      return packet.hasValidChecksum && triplets.count <= limit ? triplets : nil
    } catch {
      return nil
    }
  }

  /// Returns the triplets of several lists for one picture: pairs of CTA-608 in front, and no padding at a list's end.
  package static func joined(_ lists: [[CaptionTriplet]]) -> [CaptionTriplet] {
    let triplets = lists.flatMap { $0.reversed().drop { !$0.isValid }.reversed() }
    return triplets.filter { $0.isPair } + triplets.filter { !$0.isPair }
  }

  /// The offsets of the groups of `size` bytes; nil if the bytes are not ``limit`` whole groups at most.
  private static func groups(of size: Int, in bytes: [UInt8]) -> StrideTo<Int>? {
    guard bytes.count.isMultiple(of: size), bytes.count / size <= limit else { return nil }
    return stride(from: 0, to: bytes.count, by: size)
  }
}

extension SEIMessages {
  /// Whether an SEI NAL unit holds captions. Damaged captions are captions, too.
  package static func holdCaptions(_ nalUnit: Span<UInt8>, headerLength: Int) -> Bool {
    var messages = SEIMessages(nalUnit, headerLength: headerLength)
    do throws(BitstreamError) {
      while let message = try messages.next() {
        if message.type == .userDataRegistered, try RegisteredUserData(message).hasCaptions { return true }
      }
    } catch {
      // The messages before it were read.
    }
    return false
  }
}
