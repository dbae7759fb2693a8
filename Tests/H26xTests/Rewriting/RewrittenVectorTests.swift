// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// Every slice of the byte streams among the vectors, and every parameter set.
@Suite struct RewrittenVectorTests {
  private static let h264 = TestScope.rows(Vectors.rows(codec: "h264", container: "annexb"), usually: 12)
  private static let h265 = TestScope.rows(Vectors.rows(codec: "hevc", container: "annexb"), usually: 8)

  @Test(.enabled(if: Vectors.isAvailable), arguments: h264)
  func otherIDsChangeNothingElseInH264(_ row: Vectors.Row) throws {
    let identifiers = ParameterSetIdentifiers.reversed(lastPicture: 255, lastSequence: 31)
    var (same, there, back) = (
      H264.SliceRewriter(from: .init(), to: .init()),
      H264.SliceRewriter(from: .init(), to: .init(), identifiers: identifiers),
      H264.SliceRewriter(from: .init(), to: .init(), identifiers: identifiers)
    )
    for unit in nalUnits(try Vectors.bytes(row.file)) {
      let type = H264.NALUnitType(headerByte: unit[0])
      if type.isParameterSet {
        let moved = try H264.rewritten(parameterSet: unit.span, identifiers)
        #expect(try H264.rewritten(parameterSet: unit.span, .init()) == unit)
        #expect(try H264.rewritten(parameterSet: moved.span, identifiers) == unit)
        // One of the files has a set that cannot be read.
        guard (try? same.source.insert(unit.span)) != nil else { continue }
        try same.target.insert(unit.span)
        (there.source, back.target) = (same.source, same.source)
        try there.target.insert(moved.span)
        back.source = there.target
      } else if type.isVCL || type.hasSliceHeader {
        let moved: [UInt8]
        do throws(BitstreamError) {
          moved = try there.rewritten(unit)
        } catch {
          // Slices without parameter sets, and those of SVC.
          #expect(error.reason == .missingParameterSet || error.reason == .unsupported && type == .sliceExtension)
          continue
        }
        try #require(try same.rewritten(unit) == unit)
        try #require(try back.rewritten(moved) == unit)
        guard type.hasSliceHeader else { continue }
        let (before, after) = try (syntax(of: unit, there.source), syntax(of: moved, there.target))
        let id = try #require(before.first { $0.name == "pic_parameter_set_id" }).value
        try #require(after == before.replacing("pic_parameter_set_id", 255 - id))
      }
    }
  }

  @Test(.enabled(if: Vectors.isAvailable), arguments: h265)
  func otherIDsChangeNothingElseInH265(_ row: Vectors.Row) throws {
    let identifiers = ParameterSetIdentifiers.reversed(lastPicture: 63, lastSequence: 15)
    var same = H265.SliceSegmentRewriter(from: .init())
    var there = H265.SliceSegmentRewriter(from: .init(), identifiers: identifiers)
    var back = H265.SliceSegmentRewriter(from: .init(), identifiers: identifiers)
    for unit in nalUnits(try Vectors.bytes(row.file)) {
      let type = H265.NALUnitType(headerByte: unit[0])
      if type.isParameterSet {
        let moved = try H265.rewritten(parameterSet: unit.span, identifiers)
        #expect(try H265.rewritten(parameterSet: unit.span, .init()) == unit)
        #expect(try H265.rewritten(parameterSet: moved.span, identifiers) == unit)
        try same.source.insert(unit.span)
        there.source = same.source
        try back.source.insert(moved.span)
      } else if type.isSlice {
        let moved: [UInt8]
        do throws(BitstreamError) {
          moved = try there.rewritten(unit)
        } catch {
          #expect(error.reason == .missingParameterSet)
          continue
        }
        try #require(try same.rewritten(unit) == unit)
        try #require(try back.rewritten(moved) == unit)
        let (before, after) = try (syntax(of: unit, there.source), syntax(of: moved, back.source))
        let id = try #require(before.first { $0.name == "slice_pic_parameter_set_id" }).value
        try #require(after == before.replacing("slice_pic_parameter_set_id", 63 - id))
      }
    }
  }
}
