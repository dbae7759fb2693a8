// SPDX-License-Identifier: MPL-2.0

extension H264.PictureParameterSet {
  /// Returns this PPS under another SPS, with which slices are decoded as under its own.
  ///
  /// Scaling lists that the other SPS would change are sent in the PPS: flat lists, if the own SPS has none. The id of
  /// the PPS stays.
  ///
  /// - Parameters:
  ///   - own: the SPS that this PPS was made for.
  ///   - sps: the SPS that it is to refer to.
  /// - Throws: `.unsupported` if the profile of `sps`, or one whose constraints it keeps, lacks CABAC, weighted
  ///   prediction, the 8×8 transform, scaling lists, or separate QP offsets of Cb and Cr, but the PPS needs it. The
  ///   error names the syntax element.
  package func adapted(
    from own: H264.SequenceParameterSet, to sps: H264.SequenceParameterSet
  ) throws(BitstreamError) -> H264.PictureParameterSet {
    var pps = self
    pps.sequenceParameterSetID = sps.id
    if own.scalingLists != sps.scalingLists {
      let lists = resolvedLists(under: own)
      if lists != nil || sps.scalingLists != nil {
        pps.high = high ?? .neutral(self)
        pps.high?.scalingLists = lists ?? flatLists(sps.chromaFormat)
      }
    }
    let constraints: H264.CodingConstraints
    do throws(H264.CodingConstraints.Obstacle) {
      constraints = try H264.CodingConstraints(sps)
    } catch {
      throw BitstreamError(
        .unsupported, error == .separateColourPlanes ? "separate_colour_plane_flag" : "pic_order_cnt_type",
        bitOffset: 0)
    }
    if usesCABAC, !constraints.allowsCABAC { throw Self.lacking("entropy_coding_mode_flag") }
    if usesWeightedPrediction || weightedBipredictionIDC != 0, !constraints.allowsWeightedPrediction {
      throw Self.lacking("weighted_pred_flag")
    }
    guard !constraints.allows8x8Transform, let high = pps.high else { return pps }
    if high.uses8x8Transform { throw Self.lacking("transform_8x8_mode_flag") }
    if high.scalingLists != nil { throw Self.lacking("pic_scaling_matrix_present_flag") }
    if high != .neutral(self) { throw Self.lacking("second_chroma_qp_index_offset") }
    pps.high = nil
    return pps
  }

  private static func lacking(_ element: StaticString) -> BitstreamError {
    BitstreamError(.unsupported, element, bitOffset: 0)
  }

  /// 6 lists of 4×4, and those of 8×8 with the 8×8 transform (7.3.2.2).
  private func listCount(_ chromaFormat: ChromaFormat) -> Int {
    guard high?.uses8x8Transform == true else { return 6 }
    return chromaFormat == .yuv444 ? 12 : 8
  }

  private func flatLists(_ chromaFormat: ChromaFormat) -> [H264.ScalingList] {
    (0..<listCount(chromaFormat)).map { .explicit([UInt8](repeating: 16, count: $0 < 6 ? 16 : 64)) }
  }

  /// The lists that apply under an SPS, without references to it; nil if all are flat.
  private func resolvedLists(under sps: H264.SequenceParameterSet) -> [H264.ScalingList]? {
    guard let lists = high?.scalingLists ?? sps.scalingLists else { return nil }
    return lists.prefix(listCount(sps.chromaFormat)).indices.map { index in
      // The first list of each size, and of each kind of prediction, falls back to the list of the SPS, or else to the
      // default. All others fall back to a list before them (Table 7-2).
      guard lists[index] == .fallback, [0, 3, 6, 7].contains(index) else { return lists[index] }
      guard let sequence = sps.scalingLists, index < sequence.count, sequence[index] != .fallback else {
        return .standard
      }
      return sequence[index]
    }
  }
}

extension H264.PictureParameterSet.High {
  /// The values of a PPS without the elements.
  static func neutral(_ pps: H264.PictureParameterSet) -> Self {
    Self(uses8x8Transform: false, scalingLists: nil, secondChromaQPIndexOffset: pps.chromaQPIndexOffset)
  }
}
