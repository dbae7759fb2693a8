// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x
import StreamReport

/// Features in the slices of an H.264 stream that some profiles lack, each with the first access unit that uses it.
struct StreamTools {
  /// Coding tools, and other features that profiles exclude.
  private enum Tool: CaseIterable {
    case bSlices, switchingSlices, partitions, arbitraryOrder, sliceGroups, redundantPictures
    case entropyCoding, transform, weighting, interlace, directInference, format, otherThanIDR

    /// The words for an access unit that uses the tool.
    var words: String {
      switch self {
      case .bSlices: "has B slices"
      case .switchingSlices: "has switching slices"
      case .partitions: "has data partitions"
      case .arbitraryOrder: "has slices in arbitrary order"
      case .sliceGroups: "has slice groups"
      case .redundantPictures: "has redundant_pic_cnt_present_flag 1"
      case .entropyCoding: "uses CABAC"
      case .transform: "uses 8x8 transforms or scaling lists"
      case .weighting: "uses weighted prediction"
      case .interlace: "has frame_mbs_only_flag 0"
      case .directInference: "has direct_8x8_inference_flag 0"
      case .format: "is not 4:2:0 with 8 bits"
      case .otherThanIDR: "is not an IDR picture"
      }
    }
  }

  /// How many of a NAL unit's first bytes hold the slice header as far as it is read here.
  static let headerLength = 64

  private var sets = H264.ParameterSets()
  private var uses: [Tool: UInt64] = [:]
  /// The SPS that slices have referred to, each as it first was.
  private var sequences: [H264.SequenceParameterSet] = []

  mutating func add(_ set: ParameterSetRecord) { _ = try? sets.insert(set.nalUnit.bytes.span) }

  /// - Parameter accessUnit: its NAL units have ``headerLength`` bytes.
  mutating func add(_ accessUnit: AccessUnitRecord) {
    var last: H264.SliceHeader?
    for nalUnit in accessUnit.nalUnits {
      if 2...4 ~= nalUnit.type { use(.partitions, true, accessUnit.index) }
      guard nalUnit.slice != nil,
        let slice = try? H264.SliceHeader(nalUnit: nalUnit.bytes.span, parameterSets: sets),
        let sps = sets.sequenceParameterSet(slice.sequenceParameterSetID),
        let pps = sets.pictureParameterSet(slice.pictureParameterSetID)
      else { continue }
      add(slice, after: last, pps, sps, accessUnit.index)
      if slice.redundantPictureCount == 0 { last = slice }
    }
  }

  private mutating func add(
    _ slice: H264.SliceHeader, after last: H264.SliceHeader?, _ pps: H264.PictureParameterSet,
    _ sps: H264.SequenceParameterSet, _ index: UInt64
  ) {
    if !sequences.contains(sps), sequences.count < 64 { sequences.append(sps) }
    use(.bSlices, slice.sliceType == .b, index)
    use(.switchingSlices, slice.sliceType == .sp || slice.sliceType == .si, index)
    use(.otherThanIDR, !slice.isIDR, index)
    if slice.allowsArbitraryOrder, slice.redundantPictureCount == 0, !slice.isField {
      use(.arbitraryOrder, slice.firstMacroblock < last?.firstMacroblock ?? 0, index)
    }
    use(.sliceGroups, pps.sliceGroups != nil, index)
    use(.redundantPictures, pps.isRedundantPictureCountPresent, index)
    use(.entropyCoding, pps.usesCABAC, index)
    use(.weighting, pps.usesWeightedPrediction || pps.weightedBipredictionIDC != 0, index)
    let hasHighTools = pps.high.map { $0.uses8x8Transform || $0.scalingLists != nil } ?? false
    use(.transform, hasHighTools || sps.scalingLists != nil, index)
    use(.interlace, !sps.isFrameOnly, index)
    use(.directInference, !sps.usesDirect8x8Inference, index)
    use(.format, sps.chromaFormat != .yuv420 || max(sps.lumaBitDepth, sps.chromaBitDepth) > 8, index)
  }

  private mutating func use(_ tool: Tool, _ isUsed: Bool, _ index: UInt64) {
    if isUsed, uses[tool] == nil { uses[tool] = index }
  }

  // MARK: Claims

  /// The reason why `constraint_setN_flag` 1 would be false; nil if the stream keeps to it.
  ///
  /// - Parameter set: N.
  func contradiction(ofConstraint set: Int) -> String? {
    for sps in sequences {
      if sps.profile.reservesConstraint(set, levelIDC: sps.levelIDC) {
        let levels = set == 3 && sps.profile.marks1bByConstraint ? " at other levels than 1.1" : ""
        return "constraint_set\(set)_flag 1 is reserved with profile_idc \(sps.profile.idc)\(levels) (H.264 7.4.2.1.1)"
      }
      let (excluded, clause) = Self.excluded(set, sps.profile)
      // If there are several, name the first in the stream.
      let found = Tool.allCases.filter { excluded.contains($0) }.compactMap { tool in uses[tool].map { (tool, $0) } }
      if let (tool, index) = found.min(by: { $0.1 < $1.1 }) {
        return "access unit \(index) \(tool.words), which constraint_set\(set)_flag 1 excludes (\(clause))"
      }
    }
    return nil
  }

  /// The tools that a constraint flag excludes, and the clauses that define it.
  private static func excluded(_ set: Int, _ profile: H264.Profile) -> (tools: [Tool], clause: String) {
    switch set {
    case 0:
      (
        [.bSlices, .switchingSlices, .partitions, .entropyCoding, .transform, .weighting, .interlace, .format],
        "H.264 7.4.2.1.1, A.2.1"
      )
    case 1:
      (
        [.switchingSlices, .partitions, .arbitraryOrder, .sliceGroups, .redundantPictures, .transform, .format],
        "H.264 7.4.2.1.1, A.2.2"
      )
    case 2: ([.entropyCoding, .transform, .directInference, .format], "H.264 7.4.2.1.1, A.2.3")
    case 3:
      switch profile.idc {
      case 100, 110: ([.otherThanIDR], "H.264 7.4.2.1.1, A.2.8")
      case 122: ([.otherThanIDR], "H.264 7.4.2.1.1, A.2.9")
      case 244: ([.otherThanIDR], "H.264 7.4.2.1.1, A.2.10")
      case 44: ([.otherThanIDR], "H.264 7.4.2.1.1, A.2.11")
      default: ([], "")
      }
    case 4 where profile.demandsFramesBySet4: ([.interlace], "H.264 7.4.2.1.1")
    case 5 where profile.forbidsBSlicesBySet5: ([.bSlices], "H.264 7.4.2.1.1")
    default: ([], "")
    }
  }
}
