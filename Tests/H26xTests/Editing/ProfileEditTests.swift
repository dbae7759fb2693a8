// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// Compatible profiles and constraint flags of H.265.
@Suite struct ProfileEditTests {
  private func edited<Codec: StreamEditing>(
    _ nalUnit: [UInt8], _ edits: StreamEdit..., as _: Codec.Type
  ) throws -> [UInt8] {
    var editor = StreamEditor<Codec>(edits)
    return nalUnits(try editor.edited([0, 0, 0, 1] + nalUnit))[0]
  }

  private func refusal<Codec: StreamEditing>(
    _ nalUnit: [UInt8], _ edit: StreamEdit, as codec: Codec.Type
  ) -> StreamEditError? {
    do {
      _ = try edited(nalUnit, edit, as: codec)
      return nil
    } catch {
      return error as? StreamEditError
    }
  }

  @Test func setsAndClearsProfileFlagsOfH265() throws {
    for nalUnit in [H265Samples.vps, H265Samples.sps] {
      // Main, which is compatible with Main 10.
      let without = try edited(nalUnit, .compatibleProfile(2, false), as: H265.self)
      #expect(without != nalUnit)
      #expect(try edited(without, .compatibleProfile(2, true), as: H265.self) == nalUnit)
      let packed = try edited(nalUnit, .sourceConstraint(.nonPacked, true), as: H265.self)
      #expect(packed != nalUnit)
      #expect(try edited(packed, .sourceConstraint(.nonPacked, false), as: H265.self) == nalUnit)
    }
    var sps = H265Samples.plainSPS()
    sps.subLayerCount = 2
    sps.profileTierLevel.subLayers = [.init(profile: sps.profile, levelIDC: 93)]
    sps.buffering = [sps.buffering[0], sps.buffering[0]]
    // What holds of all holds of a part.
    let new = try H265.SequenceParameterSet(
      bytes: edited(sps.nalUnit(), .sourceConstraint(.nonPacked, true), as: H265.self))
    #expect(new.profile.constraints == [.progressiveSource, .frameOnly, .nonPacked])
    #expect(new.profileTierLevel.subLayers[0].profile?.constraints == new.profile.constraints)
  }

  @Test func refusesProfilesThatTheSPSContradicts() {
    let plain = H265Samples.plainSPS()
    func refused(
      _ edit: StreamEdit, _ clause: String, _ change: (inout H265.SequenceParameterSet) -> Void = { _ in }
    ) {
      var sps = plain
      change(&sps)
      let error = refusal(sps.nalUnit(), edit, as: H265.self)
      #expect(error?.clause.description == "H.265 \(clause)", "\(edit)")
    }
    refused(.compatibleProfile(1, false), "7.4.4")
    refused(.compatibleProfile(4, true), "A.3")
    refused(.compatibleProfile(3, true), "A.3")
    refused(.compatibleProfile(32, true), "7.4.4")
    refused(.compatibleProfile(1, true), "A.3.2, A.3.3") {
      $0.profileTierLevel.profile = H265.Profile(idc: 2)
      ($0.lumaBitDepth, $0.chromaBitDepth) = (10, 10)
    }
    refused(.sourceConstraint(.frameOnly, true), "7.4.4") {
      $0.profileTierLevel.profile.constraints = []
      $0.vui = H265.VUIParameters()
      $0.vui?.isFieldSequence = true
      $0.vui?.isPictureStructurePresent = true
    }
    refused(.sourceConstraint(.progressiveSource, false), "D.3.3, E.3.1") {
      $0.vui = H265.VUIParameters()
      $0.vui?.isPictureStructurePresent = true
    }
    refused(.sourceConstraint(.interlacedSource, true), "D.3.3, E.3.1")
    #expect(
      refusal(MinimalStream.sps(), .sourceConstraint(.frameOnly, true), as: H264.self)?.reason == .notInCodec)
    #expect(refusal(MinimalStream.sps(), .compatibleProfile(1, true), as: H264.self)?.reason == .notInCodec)
  }
}
