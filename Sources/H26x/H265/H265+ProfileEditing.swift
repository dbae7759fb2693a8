// SPDX-License-Identifier: MPL-2.0

extension H265.SourceConstraint {
  /// Its place among the flags.
  fileprivate var flag: H265.Profile.Constraints {
    switch self {
    case .progressiveSource: .progressiveSource
    case .interlacedSource: .interlacedSource
    case .nonPacked: .nonPacked
    case .frameOnly: .frameOnly
    }
  }
}

extension H265.ProfileTierLevel {
  /// Changes a flag of the whole stream, and therefore of its lower sub-layers.
  mutating func setConstraint(_ constraint: H265.SourceConstraint, _ value: Bool) {
    guard value else {
      profile.constraints.remove(constraint.flag)
      return
    }
    profile.constraints.insert(constraint.flag)
    for index in subLayers.indices { subLayers[index].profile?.constraints.insert(constraint.flag) }
  }

  /// Changes `general_profile_compatibility_flag[ j ]`.
  ///
  /// - Throws: `.forbiddenCombination` for the profile itself, and for one whose constraints are others than those of
  ///   the Main profiles.
  mutating func setCompatibility(with idc: UInt8, _ value: Bool) throws(StreamEditError) {
    guard idc < 32 else {
      throw StreamEditError(
        .valueOutOfRange, "general_profile_compatibility_flag", Int64(idc), "there are 32 of them",
        clause: "H.265 7.4.4")
    }
    let flag: UInt32 = 0x8000_0000 >> UInt32(idc)
    guard (profile.compatibilityFlags & flag != 0) != value else { return }
    guard value else {
      guard idc != profile.idc else {
        throw StreamEditError(
          .forbiddenCombination, "general_profile_compatibility_flag", 0, "is 1 for general_profile_idc",
          clause: "H.265 7.4.4")
      }
      profile.compatibilityFlags &= ~flag
      return
    }
    guard 1...2 ~= idc, 1...3 ~= profile.idc else {
      throw StreamEditError(
        .forbiddenCombination, "general_profile_compatibility_flag", Int64(idc),
        "only streams of the Main profiles can be made compatible, and only with Main and Main 10",
        clause: "H.265 A.3")
    }
    profile.compatibilityFlags |= flag
  }
}

extension H265.SequenceParameterSet {
  /// Checks the claims of compatible profiles and constraint flags against the set, if edits have changed it.
  func checkProfile(of original: Self) throws(StreamEditError) {
    let (new, old) = (profileTierLevel.profile, original.profileTierLevel.profile)
    let added = new.compatibilityFlags & ~old.compatibilityFlags
    let depth = max(lumaBitDepth, chromaBitDepth)
    for (idc, limit) in [(1, 8), (2, 10)] as [(UInt32, UInt8)] where added & (0x8000_0000 >> idc) != 0 {
      guard chromaFormat == .yuv420, depth <= limit else {
        throw StreamEditError(
          .forbiddenCombination, "general_profile_compatibility_flag", Int64(idc),
          "needs 4:2:0 with 8 bits for Main, 10 at most for Main 10", clause: "H.265 A.3.2, A.3.3")
      }
    }
    guard new.constraints != old.constraints else { return }
    guard !new.constraints.contains(.frameOnly) || !isFieldSequence else {
      throw StreamEditError(
        .forbiddenCombination, "general_frame_only_constraint_flag", 1, "needs field_seq_flag 0",
        clause: "H.265 7.4.4")
    }
    let scan: H265.Profile.Constraints = [.progressiveSource, .interlacedSource]
    guard new.constraints.intersection(scan) != old.constraints.intersection(scan) else { return }
    // source_scan_type has a value for each combination, and any value only with both.
    let isTimed = vui?.isPictureStructurePresent ?? false
    guard isTimed == new.constraints.isSuperset(of: scan) else {
      throw StreamEditError(
        .forbiddenCombination, "general_interlaced_source_flag", new.constraints.contains(.interlacedSource) ? 1 : 0,
        isTimed
          ? "contradicts source_scan_type in picture timing, unless both source flags are 1"
          : "both source flags are 1 only with frame_field_info_present_flag 1",
        clause: "H.265 D.3.3, E.3.1")
    }
  }
}
