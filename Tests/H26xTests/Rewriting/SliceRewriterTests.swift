// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

/// Single changes of slice headers of H.264.
@Suite struct SliceRewriterTests {
  private typealias Values = H264.SliceHeaderValues

  /// Parameter sets that slices of all kinds can be rewritten from and to.
  private struct Sets {
    var sps: H264.SequenceParameterSet
    var pps: H264.PictureParameterSet

    init() throws {
      sps = try Samples.sps()
      sps.heightInMapUnits = 44
      sps.log2MaximumFrameNumber = 4
      sps.pictureOrderCountType = .leastSignificantBits(log2Maximum: 6)
      pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
      pps.usesWeightedPrediction = false
      pps.weightedBipredictionIDC = 0
      pps.isDeblockingControlPresent = false
      (pps.defaultReferenceCountList0, pps.defaultReferenceCountList1) = (2, 1)
    }

    var store: H264.ParameterSets {
      get throws {
        var sets = H264.ParameterSets()
        try sets.insert(bytes: sps.nalUnit())
        try sets.insert(bytes: pps.nalUnit())
        return sets
      }
    }
  }

  /// A slice for ``Sets``: picture number 7, POC 9, QP of the PPS.
  private func slice(
    type: UInt32 = 1, kind: UInt32 = 0, _ references: (inout BitWriter) -> Void = { $0.u(3, 0) }
  ) throws -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x60 | type)
    for value in [0, kind, 0] { writer.ue(value) }
    writer.u(4, 7)
    if type == 5 { writer.ue(3) }
    writer.u(6, 9)
    references(&writer)
    if kind < 2 { writer.ue(0) }
    writer.se(0)
    while !writer.isByteAligned { writer.flag(true) }
    writer.append([0, 0, 1, 0, 0, 3, 0xFE, 0x80])
    return writer.bytes
  }

  private func rewritten(
    _ slice: [UInt8], _ change: (inout Sets) -> Void = { _ in },
    values changeValues: (inout Values) throws(BitstreamError) -> Void = { _ in }
  ) throws -> [NamedValue] {
    let source = try Sets()
    var target = source
    change(&target)
    let (old, new) = (try source.store, try target.store)
    let moved = try H264.SliceRewriter(from: old, to: new).rewritten(slice, changeValues)
    // The slice data stays.
    let data: [UInt8] = [0, 0, 3, 1, 0, 0, 3, 3, 0xFE, 0x80]
    #expect(Array(moved.suffix(data.count)) == data)
    return try syntax(of: moved, new)
  }

  private func refusal(
    _ slice: [UInt8], _ change: (inout Sets) -> Void, _ changeValues: (inout Values) -> Void = { _ in }
  ) throws -> String {
    let source = try Sets()
    var target = source
    change(&target)
    let rewriter = try H264.SliceRewriter(from: source.store, to: target.store)
    var output: [UInt8] = [1, 2, 3]
    let error = failure { () throws(BitstreamError) in
      try rewriter.append(slice.span, to: &output) { (values: inout Values) throws(BitstreamError) in
        changeValues(&values)
      }
    }
    #expect(output == [1, 2, 3])
    let found = try #require(error)
    return "\(found.reason) \(found.element)"
  }

  /// A P slice's elements with its place in a row, and those that differ.
  private static let elements = [
    "first_mb_in_slice=0", "slice_type=0", "pic_parameter_set_id=0", "frame_num=7", "pic_order_cnt_lsb=9",
    "num_ref_idx_active_override_flag=0", "ref_pic_list_modification_flag_l0=0",
    "adaptive_ref_pic_marking_mode_flag=0", "cabac_init_idc=0", "slice_qp_delta=0",
  ]

  private func expect(
    _ found: [NamedValue], replacing replaced: [String: [String]], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let expected = Self.elements.flatMap { replaced[$0] ?? [$0] }
    #expect(found.map(\.description) == expected, sourceLocation: sourceLocation)
  }

  @Test func valuesChange() throws {
    let slice = try slice()
    expect(try rewritten(slice), replacing: [:])
    expect(try rewritten(slice, values: { $0.frameNumber = 15 }), replacing: ["frame_num=7": ["frame_num=15"]])
    expect(
      try rewritten(slice, values: { $0.pictureOrder = .leastSignificantBits(63, deltaBottom: 0) }),
      replacing: ["pic_order_cnt_lsb=9": ["pic_order_cnt_lsb=63"]])
    expect(
      try rewritten(slice, values: { $0.isTypeOfWholePicture = true }), replacing: ["slice_type=0": ["slice_type=5"]])
    let idr = try self.slice(type: 5, kind: 2) { $0.u(2, 0) }
    let found = try rewritten(
      idr,
      values: { (values: inout Values) throws(BitstreamError) in
        values.idrPictureID = 65535
        values.references.marking = .idr(noOutputOfPriorPictures: true, isLongTerm: true)
      })
    for name in ["idr_pic_id=65535", "no_output_of_prior_pics_flag=1", "long_term_reference_flag=1"] {
      #expect(found.map(\.description).contains(name))
    }
  }

  /// What the PPS does not have as a default any more is sent, and the meaning stays.
  @Test func parameterSetsWithOtherSyntaxKeepTheMeaning() throws {
    let slice = try slice()
    expect(
      try rewritten(slice) { $0.pps.initialQP += 5 }, replacing: ["slice_qp_delta=0": ["slice_qp_delta=-5"]])
    expect(
      try rewritten(slice) { $0.pps.defaultReferenceCountList0 = 3 },
      replacing: [
        "num_ref_idx_active_override_flag=0": ["num_ref_idx_active_override_flag=1", "num_ref_idx_l0_active_minus1=1"]
      ])
    // List 1 is not that of a P slice.
    expect(try rewritten(slice) { $0.pps.defaultReferenceCountList1 = 3 }, replacing: [:])
    expect(
      try rewritten(slice) { $0.pps.isDeblockingControlPresent = true },
      replacing: [
        "slice_qp_delta=0": [
          "slice_qp_delta=0", "disable_deblocking_filter_idc=0", "slice_alpha_c0_offset_div2=0",
          "slice_beta_offset_div2=0",
        ]
      ])
    expect(
      try rewritten(slice, { $0.pps.isDeblockingControlPresent = true }, values: { $0.deblocking.disableIDC = 1 }),
      replacing: ["slice_qp_delta=0": ["slice_qp_delta=0", "disable_deblocking_filter_idc=1"]])
    expect(
      try rewritten(slice) { $0.pps.isRedundantPictureCountPresent = true },
      replacing: ["pic_order_cnt_lsb=9": ["pic_order_cnt_lsb=9", "redundant_pic_cnt=0"]])
    expect(
      try rewritten(slice) { $0.pps.isBottomFieldPictureOrderPresent = true },
      replacing: ["pic_order_cnt_lsb=9": ["pic_order_cnt_lsb=9", "delta_pic_order_cnt_bottom=0"]])
    expect(
      try rewritten(slice) { ($0.sps.isFrameOnly, $0.sps.heightInMapUnits) = (false, 22) },
      replacing: ["frame_num=7": ["frame_num=7", "field_pic_flag=0"]])
    expect(
      try rewritten(
        slice, { $0.sps.pictureOrderCountType = .decodingOrder }, values: { $0.pictureOrder = .decodingOrder }),
      replacing: ["pic_order_cnt_lsb=9": []])
    expect(
      try rewritten(slice) { $0.pps.usesWeightedPrediction = true },
      replacing: [
        "adaptive_ref_pic_marking_mode_flag=0": [
          "luma_log2_weight_denom=0", "chroma_log2_weight_denom=0", "luma_weight_l0_flag=0", "chroma_weight_l0_flag=0",
          "luma_weight_l0_flag=0", "chroma_weight_l0_flag=0", "adaptive_ref_pic_marking_mode_flag=0",
        ]
      ])
    expect(
      try rewritten(slice) {
        $0.sps.log2MaximumFrameNumber = 16
        $0.sps.pictureOrderCountType = .leastSignificantBits(log2Maximum: 16)
        $0.sps.maximumReferenceFrames = 16
        $0.sps.vui = nil
      }, replacing: [:])
  }

  /// A choice that nothing forces to change stays.
  @Test func repeatedDefaultCountsStay() throws {
    let slice = try slice { writer in
      writer.flag(true)
      writer.ue(1)
      writer.u(2, 0)
    }
    let found = try rewritten(slice).map(\.description)
    #expect(found.contains("num_ref_idx_active_override_flag=1") && found.contains("num_ref_idx_l0_active_minus1=1"))
  }

  /// `abs_diff_pic_num_minus1` counts modulo MaxPicNum: 15 repeats a picture while `frame_num` has 4 bits.
  @Test func listModificationsKeepTheirPictures() throws {
    let slice = try slice { writer in
      writer.flag(false)
      writer.flag(true)
      for value: UInt32 in [0, 2, 0, 15, 3] { writer.ue(value) }
      writer.flag(false)
    }
    func steps(_ log2: UInt8) throws -> [Int64] {
      try rewritten(slice) { $0.sps.log2MaximumFrameNumber = log2 }
        .filter { $0.name == "abs_diff_pic_num_minus1" }.map(\.value)
    }
    #expect(try steps(4) == [2, 15])
    #expect(try steps(5) == [2, 31])
    #expect(try steps(16) == [2, 65535])
    // A picture 12 back, then one 9 further back, which is 5 back modulo 16: 7 forward is as good.
    let wrapping = try self.slice { writer in
      writer.flag(false)
      writer.flag(true)
      for value: UInt32 in [0, 11, 0, 8, 3] { writer.ue(value) }
      writer.flag(false)
    }
    let found = try rewritten(wrapping) { $0.sps.log2MaximumFrameNumber = 5 }
    #expect(found.filter { $0.name == "abs_diff_pic_num_minus1" }.map(\.value) == [11, 24])
  }

  @Test func markingOperationsAreRemoved() throws {
    let slice = try slice { writer in
      writer.u(2, 0)
      writer.flag(true)
      for value: UInt32 in [1, 4, 3, 2, 6, 6, 1, 0] { writer.ue(value) }
    }
    func operations(_ isRemoved: @escaping (Int, UInt8) -> Bool) throws -> [Int64] {
      let names = [
        "adaptive_ref_pic_marking_mode_flag", "memory_management_control_operation", "difference_of_pic_nums_minus1",
        "long_term_frame_idx",
      ]
      let found = try rewritten(
        slice,
        values: { (values: inout Values) throws(BitstreamError) in
          values.references.removeOperations { isRemoved($0, $1.code) }
        })
      return found.filter { names.contains($0.name) }.map(\.value)
    }
    #expect(try operations { _, _ in false } == [1, 1, 4, 3, 2, 6, 6, 1, 0])
    #expect(try operations { _, code in code == 3 } == [1, 1, 4, 6, 1, 0])
    #expect(try operations { index, _ in index != 1 } == [1, 3, 2, 6, 0])
    #expect(try operations { _, _ in true } == [0])
  }

  @Test func intraSlicesBecomeThoseOfIDRPictures() throws {
    let sets = try Sets().store
    let rewriter = H264.SliceRewriter(from: sets, to: sets)
    // An operation of memory management is dropped.
    let intra = try slice(kind: 2) { writer in
      writer.flag(true)
      for value: UInt32 in [1, 4, 0] { writer.ue(value) }
    }
    let idr = try rewriter.rewritten(intra) { $0.makeIDR(id: 300) }
    #expect(idr.first == 0x65)
    let found = try syntax(of: idr, sets).map(\.description)
    let expected = ["frame_num=0", "idr_pic_id=300", "pic_order_cnt_lsb=9", "no_output_of_prior_pics_flag=0"]
    #expect(expected.allSatisfy { found.contains($0) })
    #expect(!found.contains { $0.hasPrefix("memory_management") })
    #expect(idr.suffix(10) == intra.suffix(10))
    let inter = try slice()
    let error = failure { () throws(BitstreamError) in _ = try rewriter.rewritten(inter) { $0.makeIDR(id: 0) } }
    #expect(error?.reason == .unsupported)
  }

  @Test func refusesWhatTheParameterSetsCannotExpress() throws {
    let slice = try slice()
    let rows: [(String, (inout Sets) -> Void, (inout Values) -> Void)] = [
      ("valueOutOfRange frame_num", { _ in }, { $0.frameNumber = 16 }),
      ("valueOutOfRange pic_order_cnt_lsb", { _ in }, { $0.pictureOrder = .leastSignificantBits(64, deltaBottom: 0) }),
      (
        "unsupported delta_pic_order_cnt_bottom", { _ in },
        { $0.pictureOrder = .leastSignificantBits(0, deltaBottom: 1) }
      ),
      ("unsupported pic_order_cnt_type", { _ in }, { $0.pictureOrder = .decodingOrder }),
      ("unsupported pic_order_cnt_type", { $0.sps.pictureOrderCountType = .decodingOrder }, { _ in }),
      ("unsupported redundant_pic_cnt", { _ in }, { $0.redundantPictureCount = 1 }),
      (
        "valueOutOfRange redundant_pic_cnt", { $0.pps.isRedundantPictureCountPresent = true },
        { $0.redundantPictureCount = 128 }
      ),
      ("unsupported deblocking_filter_control_present_flag", { _ in }, { $0.deblocking.disableIDC = 1 }),
      (
        "valueOutOfRange disable_deblocking_filter_idc", { $0.pps.isDeblockingControlPresent = true },
        { $0.deblocking.disableIDC = 3 }
      ),
      (
        "valueOutOfRange slice_beta_offset_div2", { $0.pps.isDeblockingControlPresent = true },
        { $0.deblocking.betaOffsetDiv2 = 7 }
      ),
      ("valueOutOfRange dec_ref_pic_marking", { _ in }, { $0.references.marking = nil }),
      (
        "valueOutOfRange dec_ref_pic_marking", { _ in },
        { $0.references.marking = .idr(noOutputOfPriorPictures: false, isLongTerm: false) }
      ),
      ("missingParameterSet pic_parameter_set_id", { $0.pps.id = 1 }, { _ in }),
      ("missingParameterSet pic_parameter_set_id", { _ in }, { $0.pictureParameterSetID = 255 }),
      ("unsupported entropy_coding_mode_flag", { $0.pps.usesCABAC = false }, { _ in }),
      ("unsupported transform_8x8_mode_flag", { $0.pps.high?.uses8x8Transform.toggle() }, { _ in }),
      ("unsupported chroma_qp_index_offset", { $0.pps.chromaQPIndexOffset -= 1 }, { _ in }),
      ("unsupported second_chroma_qp_index_offset", { $0.pps.high?.secondChromaQPIndexOffset -= 1 }, { _ in }),
      ("unsupported constrained_intra_pred_flag", { $0.pps.usesConstrainedIntraPrediction.toggle() }, { _ in }),
      ("unsupported num_slice_groups_minus1", { $0.pps.sliceGroups = .init(count: 2, map: .dispersed) }, { _ in }),
      ("unsupported pic_width_in_mbs_minus1", { $0.sps.widthInMacroblocks -= 1 }, { _ in }),
      ("unsupported pic_height_in_map_units_minus1", { $0.sps.heightInMapUnits += 1 }, { _ in }),
      ("unsupported chroma_format_idc", { $0.sps.chromaFormat = .yuv422 }, { _ in }),
      ("unsupported bit_depth_luma_minus8", { $0.sps.lumaBitDepth = 9 }, { _ in }),
      ("unsupported bit_depth_chroma_minus8", { $0.sps.chromaBitDepth = 9 }, { _ in }),
      ("unsupported qpprime_y_zero_transform_bypass_flag", { $0.sps.bypassesTransformAtZero = true }, { _ in }),
      (
        "unsupported mb_adaptive_frame_field_flag",
        {
          ($0.sps.isFrameOnly, $0.sps.isMacroblockAdaptiveFrameField, $0.sps.heightInMapUnits) = (false, true, 22)
        }, { _ in }
      ),
    ]
    for (expected, change, changeValues) in rows { #expect(try refusal(slice, change, changeValues) == expected) }
    #expect(try refusal(slice) { $0.sps.maximumReferenceFrames -= 1 } == "unsupported max_num_ref_frames")
    let intra = try self.slice(kind: 2) { $0.u(1, 0) }
    #expect(try rewritten(intra) { $0.sps.maximumReferenceFrames -= 1 } == rewritten(intra))
    let b = try self.slice(kind: 1) { $0.u(5, 0) }
    #expect(try refusal(b) { $0.sps.usesDirect8x8Inference.toggle() } == "unsupported direct_8x8_inference_flag")
    #expect(try refusal(b) { $0.pps.weightedBipredictionIDC = 2 } == "unsupported weighted_bipred_idc")
  }

  /// A table of weights can be left out only if it has none.
  @Test func weightsAreNotLost() throws {
    var source = try Sets()
    source.pps.usesWeightedPrediction = true
    let target = try Sets()
    for hasWeight in [false, true] {
      let slice = try slice { writer in
        writer.u(2, 0)
        writer.ue(5)
        writer.ue(4)
        writer.flag(hasWeight)
        if hasWeight { for value: Int32 in [3, -4] { writer.se(value) } }
        writer.u(3, 0)
        writer.flag(false)
      }
      let (old, new) = (try source.store, try target.store)
      let rewriter = H264.SliceRewriter(from: old, to: new)
      if hasWeight {
        let error = failure { () throws(BitstreamError) in _ = try rewriter.rewritten(slice) }
        #expect(error?.element.description == "weighted_pred_flag")
      } else {
        expect(try syntax(of: rewriter.rewritten(slice), new), replacing: [:])
      }
    }
  }

  /// Other slices: partitions B and C, and those that cannot be rewritten.
  @Test func otherNALUnitsStayOrAreErrors() throws {
    let sets = try Sets().store
    let rewriter = H264.SliceRewriter(from: sets, to: sets)
    for unit in [[0x43, 0x88, 0x80], [0x44, 1]] as [[UInt8]] { #expect(try rewriter.rewritten(unit) == unit) }
    for (unit, reason) in [
      ([], .truncated), ([0x67, 1], .wrongNALUnitType), ([0xE1, 0], .forbiddenBitSet),
      // svc_extension_flag and avc_3d_extension_flag.
      ([0x74, 0x80, 0, 7, 0x88, 0x84, 0x80, 0x80], .unsupported), ([0x75, 0x80, 0, 0x88, 0x84, 0x80], .unsupported),
    ] as [([UInt8], BitstreamError.Reason)] {
      #expect(failure { () throws(BitstreamError) in _ = try rewriter.rewritten(unit) }?.reason == reason)
    }
  }
}
