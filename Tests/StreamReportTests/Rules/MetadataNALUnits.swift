// SPDX-License-Identifier: MPL-2.0
import H26x

/// Captions and dynamic metadata for test streams.
enum MetadataNALUnits {
  /// An RPU of profile 8, without mapping.
  static let rpu: [UInt8] = {
    var header = DolbyVision.Header(profile: 1, sequence: .init())
    header.previousMappingID = 0
    return (try? DolbyVision.RPU(header: header, mapping: nil, displayManagement: nil).nalUnit()) ?? []
  }()

  /// The same in H.264, where it is of profile 9.
  static let rpuOfH264: [UInt8] = [28] + rpu.dropFirst(2)

  /// Another bit in the last byte of the CRC, in front of 0x80.
  static let damagedRPU: [UInt8] = {
    var damaged = rpu
    damaged[damaged.count - 2] ^= 0x40
    return damaged
  }()

  private static func sei(_ userData: RegisteredUserData, header: [UInt8] = [0x4E, 0x01]) -> [UInt8] {
    seiNALUnit([(type: .userDataRegistered, payload: userData.payload)], header: header)
  }

  static let hdr10Plus: [UInt8] = (try? HDR10PlusMetadata().userData()).map { sei($0) } ?? []

  /// ST 2086.
  static let masteringDisplay: [UInt8] = seiNALUnit(
    [(type: .masteringDisplayColourVolume, payload: [UInt8](repeating: 1, count: 24))], header: [0x4E, 0x01])

  /// HDR10+ of another version.
  static let laterHDR10Plus = sei(RegisteredUserData(countryCode: 0xB5, data: [0x00, 0x3C, 0x00, 0x01, 0x04, 9]))

  /// `cc_data()` that ends before its second triplet.
  static let damagedCaptions: [UInt8] = {
    let data = CaptionMessage.standardPrefix + [0xC2, 0xFF, 0xFC, 0x94, 0x20, 0xFC]
    return sei(RegisteredUserData(countryCode: 0xB5, data: data))
  }()

  /// Captions without the byte that ends `cc_data()`.
  static let captionsWithoutMarker = sei(
    RegisteredUserData(countryCode: 0xB5, data: CaptionMessage.standardPrefix + [0xC1, 0xFF, 0xFC, 0x94, 0x20]))

  /// Captions of a picture.
  static func captions(_ triplets: [CaptionTriplet], header: [UInt8] = [0x4E, 0x01]) -> [UInt8] {
    (try? CaptionMessage(CaptionData(triplets)).userData()).map { sei($0, header: header) } ?? []
  }

  /// A picture of H.264 with `count` triplets.
  static func captioned(count: Int, vui: ((inout BitWriter) -> Void)?) -> TestStream {
    let padding = [CaptionTriplet](repeating: CaptionTriplet(.packetData, isValid: false, 0, 0), count: count)
    var stream = TestStream(.init(vui: vui))
    stream.nalUnits.insert(captions(padding, header: [6]), at: 2)
    return stream
  }

  /// Pictures, each with a pair of CTA-608 and every other one shown before the one in front of it.
  ///
  /// - Parameter inDecodingOrder: whether the pairs have this order.
  static func captioned(inDecodingOrder: Bool) -> H265TestStream {
    // The pictures' places in presentation order: 0, 2, 1, 4, 3 and so on.
    let places = [0] + (0..<20).map { $0 & 1 == 0 ? $0 + 2 : $0 }
    var stream = H265TestStream()
    for (number, place) in places.enumerated() {
      let pair = UInt8(truncatingIfNeeded: (inDecodingOrder ? number : place) / 2)
      let message = captions([CaptionTriplet(.field1, 0x14, 0x40 + pair)])
      if number == 0 {
        stream.nalUnits.insert(message, at: 3)
        continue
      }
      let order = UInt32(place)
      // The first picture stays the only reference.
      let type: H265.NALUnitType = number & 1 == 0 ? .trailingN : .trailingR
      stream = stream.adding(message, H265TestStream.slice(.init(type: type, order: order, references: [order])))
    }
    return stream
  }

  /// A file with a record, whose pictures have RPUs.
  static func file(
    _ record: DolbyVision.Configuration, vui: ((inout BitWriter) -> Void)? = nil
  ) -> MP4TestFile {
    var file = MP4TestFile(TestStream(.init(vui: vui)).adding(.init(frameNumber: 1, order: 2)))
    file.samples = file.samples.map { $0 + MP4TestFile.prefixed(rpuOfH264) }
    file.dolbyVision = record
    return file
  }
}
