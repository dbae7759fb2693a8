// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import Testing

/// Streams with metadata that `clip.h265` does not have.
enum AddedMetadata {
  /// `clip.h265` with NAL units in front of the slices of each picture, and behind them.
  ///
  /// - Parameters:
  ///   - front: the NAL units by the picture's number in decoding order, from 0.
  ///   - behind: as `front`.
  static func clip(
    front: (Int) throws -> [[UInt8]] = { _ in [] }, behind: (Int) throws -> [[UInt8]] = { _ in [] }
  ) throws -> Data {
    let bytes = [UInt8](try Data(contentsOf: Program.media.appending(path: "clip.h265")))
    var (stream, number, hasSlice) = (Data(), -1, false)
    func append(_ nalUnits: [[UInt8]]) { for nalUnit in nalUnits { stream += [0, 0, 0, 1] + nalUnit } }
    for range in NALPackaging.annexB.nalUnits(of: bytes.span) {
      let type = H265.NALUnitType(headerByte: bytes[range.lowerBound])
      let beginsPicture = type.isSlice && bytes[range.lowerBound + 2] & 0x80 != 0
      if hasSlice, !type.isSlice || beginsPicture {
        append(try behind(number))
        hasSlice = false
      }
      if beginsPicture {
        number += 1
        append(try front(number))
      }
      hasSlice = hasSlice || type.isSlice
      append([Array(bytes[range])])
    }
    if hasSlice { append(try behind(number)) }
    return stream
  }

  /// The places in presentation order of the pictures of a stream, in decoding order.
  static func presentationPlaces(_ name: String, in folder: Folder) async throws -> [Int] {
    let run = try await Program.run(["inspect", "--json", name], in: folder.url)
    let orders = try run.text.split(separator: "\n").compactMap { line -> (Int, Int)? in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      guard object?["kind"] as? String == "accessUnit" else { return nil }
      return (try #require(object?["sequence"] as? Int), try #require(object?["poc"] as? Int))
    }
    try #require(!orders.isEmpty, "\(run.said)")
    return orders.map { order in orders.count { $0 < order } }
  }

  /// An RPU without mapping.
  static func rpu(profile: UInt8) throws -> [UInt8] {
    var header = DolbyVision.Header(
      profile: profile == 5 ? 0 : 1, sequence: .init(isBaseLayerFullRange: profile == 5))
    header.previousMappingID = 0
    header.sequence?.layers?.isEnhancementLayerScaled = profile == 7
    header.sequence?.layers?.isResidualDisabled = profile != 7
    let rpu = try DolbyVision.RPU(header: header, mapping: nil, displayManagement: nil).nalUnit()
    try #require(DolbyVision.RPU(nalUnit: rpu.span).profile(.h265) == profile)
    return rpu
  }

  /// An SEI NAL unit of H.265 with registered user data.
  static func sei(_ userData: RegisteredUserData) -> [UInt8] {
    seiNALUnit([(type: .userDataRegistered, payload: userData.payload)], header: [0x4E, 0x01])
  }

  /// Captions.
  static func captions(_ triplets: [CaptionTriplet]) throws -> [UInt8] {
    sei(try CaptionMessage(CaptionData(triplets)).userData())
  }

  /// HDR10+ of profile B.
  static func hdr10Plus() throws -> [UInt8] {
    var window = HDR10PlusMetadata.Window()
    window.averageMaximum = 1234
    window.toneMapping = .init(kneePointX: 100, kneePointY: 200, anchors: [300, 600])
    return sei(try HDR10PlusMetadata(windows: [window], targetedMaximumLuminance: 400).userData())
  }
}
