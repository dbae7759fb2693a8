// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@Suite struct NALUnitHeaderTests {
  private func header(_ type: UInt8, _ fields: [(bits: Int, value: UInt32)]) throws -> H264.NALUnitHeader {
    var writer = BitWriter(addsEmulationPrevention: false)
    writer.u(8, 0x60 | UInt32(type))
    for field in fields { writer.u(field.bits, field.value) }
    let bytes = writer.bytes
    for end in 0..<bytes.count {
      let error = failure { () throws(BitstreamError) in
        _ = try H264.NALUnitHeader(Array(bytes[..<end]).span)
      }
      #expect(error?.reason == .truncated)
    }
    // A header may be all there is.
    _ = try H264.NALUnitHeader(bytes.span)
    return try H264.NALUnitHeader((bytes + [0x80]).span)
  }

  /// Every field alone, so that a wrong bit position gives a wrong value.
  @Test func readsTheScalableExtension() throws {
    let widths = [1, 6, 1, 3, 4, 3, 1, 1, 1, 2]
    for (index, width) in widths.enumerated() {
      var fields = widths.map { (bits: $0, value: UInt32(0)) }
      fields[index].value = (1 << UInt32(width)) - 1
      let header = try header(14, [(1, 1)] + fields)
      #expect(header.type == .prefix && header.byteCount == 4 && header.referenceIDC == 3)
      guard case .scalable(let found) = header.headerExtension else {
        Issue.record("no SVC extension")
        continue
      }
      let values: [UInt32] = [
        found.isIDR ? 1 : 0, UInt32(found.priorityID), found.noInterLayerPrediction ? 1 : 0,
        UInt32(found.dependencyID), UInt32(found.qualityID), UInt32(found.temporalID),
        found.useReferenceBasePicture ? 1 : 0, found.isDiscardable ? 1 : 0, found.isOutput ? 1 : 0,
      ]
      #expect(values == fields.dropLast().map(\.value))
      #expect(header.isIDR == found.isIDR)
    }
  }

  @Test func readsTheMultiviewExtension() throws {
    let widths = [1, 6, 10, 3, 1, 1, 1]
    for (index, width) in widths.enumerated() {
      var fields = widths.map { (bits: $0, value: UInt32(0)) }
      fields[index].value = (1 << UInt32(width)) - 1
      let header = try header(20, [(1, 0)] + fields)
      #expect(header.type == .sliceExtension && header.byteCount == 4)
      guard case .multiview(let found) = header.headerExtension else {
        Issue.record("no MVC extension")
        continue
      }
      let values: [UInt32] = [
        found.isNonIDR ? 1 : 0, UInt32(found.priorityID), UInt32(found.viewID), UInt32(found.temporalID),
        found.isAnchorPicture ? 1 : 0, found.isInterView ? 1 : 0,
      ]
      #expect(values == fields.dropLast().map(\.value))
      #expect(header.isIDR == !found.isNonIDR)
    }
  }

  /// `nal_unit_header_3davc_extension()` has two bytes; depth slices may have MVC's three bytes too.
  @Test func readsTheDepthExtension() throws {
    let header = try header(21, [(1, 1), (15, 0x1234)])
    #expect(header.byteCount == 3 && header.headerExtension == .depth(0x1234))
    #expect(try self.header(21, [(1, 0), (23, 0)]).byteCount == 4)
    // non_idr_flag is the tenth bit from the end.
    #expect(try self.header(21, [(1, 1), (15, 0)]).isIDR)
    #expect(try !self.header(21, [(1, 1), (15, 0x20)]).isIDR)
  }

  @Test func truncatedExtensionsAreErrors() {
    for (type, element) in [
      (UInt8(14), "svc_extension_flag"), (20, "svc_extension_flag"), (21, "avc_3d_extension_flag"),
    ] {
      let error = failure { () throws(BitstreamError) in _ = try H264.NALUnitHeader([0x60 | type].span) }
      #expect(error?.reason == .truncated && error?.bitOffset == 8 && error?.element.description == element)
    }
  }

  @Test func rolesFollowTable7_1() {
    let roles: [UInt8: NALUnitRole] = [
      1: .slice, 2: .slice, 5: .slice, 3: .slicePart, 4: .slicePart, 19: .slicePart, 20: .layerSlice, 21: .layerSlice,
      6: .sei, 7: .sequenceParameterSet, 8: .pictureParameterSet, 9: .accessUnitDelimiter, 10: .end, 11: .end,
      12: .filler, 13: .sequenceParameterSetExtension, 15: .sequenceParameterSetExtension, 24: .outsideStandard,
      25: .outsideStandard, 26: .outsideStandard, 27: .outsideStandard, 29: .outsideStandard,
    ]
    for type in UInt8(0)..<32 {
      let expected = roles[type] ?? .other
      for importance: UInt8 in [0, 0x60] {
        let nalUnit = [importance | type, 0x88]
        same(H264.role(of: nalUnit.span), expected)
        same(H264.isReference(nalUnit.span), importance != 0)
      }
      let found = H264.NALUnitType(rawValue: type)
      #expect(found.isIDR == (type == 5) && found.isRandomAccessPoint == (type == 5) && !found.isSkippedLeading)
    }
    same(H264.role(of: [UInt8]().span), .other)
    same(H264.isReference([UInt8]().span), false)
    same(H264.startsPicture([0x41, 0x9A].span), true)
    same(H264.startsPicture([0x41, 0x5A].span), false)
    same(H264.startsPicture([0x41].span), nil)
    same(H264.startsPicture([0x67, 0x9A].span), nil)
  }
}
