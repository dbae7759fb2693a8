// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct H265SliceRewriterTests {
  private typealias Rewriter = H265.SliceSegmentRewriter

  @Test func craPicturesBecomeBLAPictures() throws {
    let sets = try H265Samples.store()
    let rewriter = Rewriter(from: sets)
    let cra = H265Samples.slice(.cra, count: 77)
    let before = try syntax(of: cra, sets)
    for type in [H265.NALUnitType.blaWithLeading, .blaWithRADL, .blaWithoutLeading, .cra] {
      for discards in [nil, false, true] as [Bool?] {
        let moved = try rewriter.rewritten(cra, .init(type: type, discardsPriorPictures: discards))
        #expect(H265.NALUnitType(headerByte: moved[0]) == type)
        #expect(moved.count == cra.count)
        let expected = before.replacing("no_output_of_prior_pics_flag", discards == true ? 1 : 0)
        #expect(try syntax(of: moved, sets) == expected)
        let back = Rewriter.Change(type: .cra, discardsPriorPictures: false)
        #expect(try rewriter.rewritten(moved, back) == cra)
      }
    }
  }

  /// IDR pictures have no picture order count in the header, and only IRAP pictures have the flag.
  @Test func otherKindsOfPicturesAreRefused() throws {
    let rewriter = try Rewriter(from: H265Samples.store())
    for (old, new) in [
      (.cra, .idrWithRADL), (.idrWithRADL, .cra), (.cra, .trailingR), (.trailingR, .blaWithLeading),
      (.trailingR, .videoParameterSet), (.cra, H265.NALUnitType(rawValue: 22)),
    ] as [(H265.NALUnitType, H265.NALUnitType)] {
      let slice = H265Samples.slice(old, count: 3)
      var output: [UInt8] = [7]
      let error = failure { () throws(BitstreamError) in
        try rewriter.append(slice.span, to: &output, .init(type: new))
      }
      #expect(error == BitstreamError(.unsupported, "nal_unit_type", bitOffset: 1))
      #expect(output == [7])
    }
    let trailing = H265Samples.slice(.trailingN, count: 3)
    #expect(try rewriter.rewritten(trailing, .init(type: .trailingR)) == [2] + trailing.dropFirst())
    #expect(
      try rewriter.rewritten(H265Samples.slice(.idrWithRADL), .init(type: .idrWithoutLeading))[0] == 20 << 1)
  }

  /// The id moves the rest of the header, but not the data, whose bytes the entry points count.
  @Test(arguments: [false, true]) func entryPointsAndDataStay(_ isDependent: Bool) throws {
    var pps = H265.PictureParameterSet(id: 0, sequenceParameterSetID: 0)
    pps.allowsDependentSlices = true
    pps.usesWavefronts = true
    pps.isSliceHeaderExtensionPresent = true
    let source = try H265Samples.store(H265Samples.plainSPS(), pps)
    for offset: UInt32 in [0, 1, 2, 3, 255] {
      for id: UInt8 in [1, 2, 6, 14, 62, 63] {
        var writer = BitWriter()
        H265.NALUnitHeader(type: .trailingR).write(to: &writer)
        writer.flag(false)
        writer.ue(0)
        writer.flag(isDependent)
        writer.u(5, 8)
        if !isDependent {
          writer.ue(2)
          writer.u(8, 9)
          writer.flag(false)
          for value: UInt32 in [0, 0] { writer.ue(value) }
          writer.se(0)
          // slice_loop_filter_across_slices_enabled_flag and others are absent.
        }
        writer.ue(2)
        writer.ue(7)
        for _ in 0..<2 { writer.u(8, offset) }
        writer.ue(3)
        for byte: UInt32 in [0, 0, 1] { writer.u(8, byte) }
        writer.trailingBits()
        let data: [UInt8] = [0, 0, 3, 1, 0, 0, 3, 0, 0, 3, 2, 0x80, 0, 0, 3]
        let slice = writer.bytes + data
        pps.id = .init(id)
        let target = try H265Samples.store(H265Samples.plainSPS(), pps)
        let moved = try Rewriter(from: source, identifiers: .init(picture: [0: id])).rewritten(slice)
        #expect(Array(moved.suffix(data.count)) == data)
        let (old, new) = try (
          H265.CodedSliceHeader(nalUnit: slice.span, parameterSets: source),
          H265.CodedSliceHeader(nalUnit: moved.span, parameterSets: target)
        )
        #expect(new.header.pictureParameterSetID == .init(id) && new.header.isDependent == isDependent)
        #expect(new.end.dataByteOffset == moved.count - data.count)
        #expect(new.end.entryPointCount == 2 && new.end.headerExtensionLength == 3)
        var (first, second) = try (old.end.entryPointReader(slice.span), new.end.entryPointReader(moved.span))
        for _ in 0..<2 {
          let (before, after) = try (old.end.entryPoint(&first), new.end.entryPoint(&second))
          #expect(before == after)
        }
        let back = Rewriter(from: target, identifiers: .init(picture: [id: 0]))
        #expect(try back.rewritten(moved) == slice)
      }
    }
  }

  @Test func otherLayersAndIDsAreErrors() throws {
    let sets = try H265Samples.store()
    let layer = H265Samples.slice(.trailingR, count: 1, layerID: 1)
    let error = failure { () throws(BitstreamError) in _ = try Rewriter(from: sets).rewritten(layer) }
    #expect(error == BitstreamError(.unsupported, "nuh_layer_id", bitOffset: 7))
    let beyond = Rewriter(from: sets, identifiers: .init(picture: [0: 64]))
    let range = failure { () throws(BitstreamError) in _ = try beyond.rewritten(H265Samples.slice(.idrWithRADL)) }
    #expect(range?.reason == .valueOutOfRange && range?.element.description == "slice_pic_parameter_set_id")
    let missing = failure { () throws(BitstreamError) in
      _ = try Rewriter(from: .init()).rewritten(H265Samples.slice(.idrWithRADL))
    }
    #expect(missing?.reason == .missingParameterSet)
  }
}
