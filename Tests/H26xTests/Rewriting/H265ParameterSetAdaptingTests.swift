// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

/// An encoder's parameter sets for pictures that are put into another stream.
@Suite struct H265ParameterSetAdaptingTests {
  private typealias SPS = H265.SequenceParameterSet

  /// An encoder's SPS for a single picture: Main Still Picture, without cropping or VUI.
  private static func encoder() -> SPS {
    var sps = H265Samples.plainSPS()
    sps.profileTierLevel = .init(profile: H265.Profile(idc: 3, constraints: [.onePicture]), levelIDC: 60)
    (sps.id, sps.videoParameterSetID) = (15, 14)
    sps.buffering = [.init(maximumDecodedPictures: 4)]
    sps.log2MaximumPictureOrderCount = 4
    sps.usesStrongIntraSmoothing = true
    return sps
  }

  /// The SPS of a stream with three temporal sub-layers and everything in its VUI.
  private static func stream() -> SPS {
    var sps = H265Samples.plainSPS()
    let profile = H265.Profile(
      idc: 1, isHighTier: true, constraints: [.progressiveSource, .interlacedSource, .frameOnly])
    sps.profileTierLevel = .init(profile: profile, levelIDC: 123)
    sps.profileTierLevel.subLayers = [.init(levelIDC: 90), .init(levelIDC: 93)]
    (sps.subLayerCount, sps.hasNestedTemporalIDs) = (3, false)
    sps.buffering = [2, 3, 6].map {
      SPS.SubLayerBuffering(
        maximumDecodedPictures: $0, maximumReorderPictures: $0 - 2, maximumLatencyIncreasePlus1: 5)
    }
    sps.conformanceWindow = .init(left: 0, right: 1, top: 0, bottom: 3)
    var vui = H265.VUIParameters()
    vui.aspectRatioIDC = 1
    vui.videoSignal = .init(isFullRange: true, colour: .init(primaries: 9, transfer: 16, matrix: 9))
    vui.hasNeutralChroma = true
    vui.isPictureStructurePresent = true
    vui.timing = .init(unitsInTick: 1001, timeScale: 24000)
    vui.timing?.ticksPerPictureOrderCount = 1
    vui.timing?.hrdParameters = H265.HRDParameters(
      common: .init(), subLayers: [.init(pictureRate: .variable(isLowDelay: false))])
    vui.bitstreamRestriction = .init()
    sps.vui = vui
    return sps
  }

  @Test func theSPSSignalsWhatTheStreamSignals() throws {
    let (encoder, stream) = (Self.encoder(), Self.stream())
    let sps = try encoder.adapted(to: stream)
    #expect(try SPS(nalUnit: sps.nalUnit().span) == sps)
    #expect((sps.id, sps.videoParameterSetID) == (15, 14))
    #expect(sps.level == stream.level && sps.profile.idc == 1 && sps.profile.isHighTier)
    #expect(sps.highestBuffering == stream.highestBuffering)
    #expect(sps.cropRectangle == stream.cropRectangle)
    #expect(sps.vui?.videoSignal == stream.vui?.videoSignal && sps.vui?.aspectRatioIDC == 1)
    #expect(sps.frameRate == stream.frameRate)
  }

  /// Slices are decoded as the encoder wrote them.
  @Test func theSPSCodesPicturesLikeTheEncoders() throws {
    var sps = try Self.encoder().adapted(to: Self.stream())
    (sps.buffering, sps.conformanceWindow) = (Self.encoder().buffering, nil)
    #expect(sps.codesPictures(like: Self.encoder()))
  }

  @Test func nothingDemandsBufferingPeriodsOrSubLayers() throws {
    let sps = try Self.encoder().adapted(to: Self.stream())
    #expect(sps.subLayerCount == 1 && sps.hasNestedTemporalIDs)
    #expect(sps.profileTierLevel.subLayers.isEmpty && sps.buffering.count == 1)
    let vui = try #require(sps.vui)
    #expect(vui.isPictureStructurePresent && !vui.hasNeutralChroma && vui.bitstreamRestriction == nil)
    #expect(vui.timing != nil && vui.timing?.hrdParameters == nil && vui.timing?.ticksPerPictureOrderCount == nil)
  }

  /// Only picture timing tells progressive and interlaced pictures apart.
  @Test func progressiveAndInterlacedPicturesNeedPictureTiming() throws {
    let both = try Self.encoder().adapted(to: Self.stream())
    #expect(both.profile.constraints == [.progressiveSource, .interlacedSource, .frameOnly])
    var bare = Self.stream()
    bare.vui?.isPictureStructurePresent = false
    #expect(try Self.encoder().adapted(to: bare).profile.constraints == [.frameOnly])
    // One flag alone demands nothing.
    var progressive = bare
    progressive.profileTierLevel.profile.constraints = [.progressiveSource]
    #expect(try Self.encoder().adapted(to: progressive).profile.constraints == [.progressiveSource])
  }

  @Test func theVPSAgreesWithTheSPS() throws {
    let nalUnit = H265Samples.vps
    var encoder = try H265.VideoParameterSet(nalUnit: nalUnit.span)
    encoder.id = 13
    encoder.timing = .init(unitsInTick: 1, timeScale: 25)
    let sps = try Self.encoder().adapted(to: Self.stream())
    let vps = encoder.adapted(to: sps)
    #expect(try H265.VideoParameterSet(nalUnit: vps.nalUnit().span) == vps)
    #expect(vps.id == 13 && vps.timing == nil)
    #expect(vps.profileTierLevel == sps.profileTierLevel && vps.buffering == sps.buffering)
    #expect(vps.subLayerCount == 1 && vps.hasNestedTemporalIDs)
  }

  @Test func streamsThatCannotHaveThePicturesAreRefused() throws {
    func refusal(
      _ change: (inout SPS) -> Void, encoder: (inout SPS) -> Void = { _ in }
    ) throws(BitstreamError) -> String? {
      var (own, stream) = (Self.encoder(), Self.stream())
      change(&stream)
      encoder(&own)
      do throws(BitstreamError) { _ = try own.adapted(to: stream) } catch {
        #expect(error.reason == .unsupported)
        return error.element.description
      }
      return nil
    }
    #expect(try refusal { _ in } == nil)
    #expect(try refusal { $0.codedSize = VideoSize(width: 264, height: 128) } == "pic_width_in_luma_samples")
    #expect(try refusal { $0.codedSize = VideoSize(width: 256, height: 136) } == "pic_height_in_luma_samples")
    #expect(try refusal { $0.chromaFormat = .yuv422 } == "chroma_format_idc")
    #expect(
      try refusal {
        ($0.chromaFormat, $0.hasSeparateColourPlanes) = (.yuv444, true)
      } encoder: {
        $0.chromaFormat = .yuv444
      } == "separate_colour_plane_flag")
    #expect(try refusal { $0.lumaBitDepth = 10 } == "bit_depth_luma_minus8")
    #expect(try refusal { $0.chromaBitDepth = 10 } == "bit_depth_chroma_minus8")
    #expect(try refusal { $0.profileTierLevel.profile.constraints = .intra } == "general_intra_constraint_flag")
    #expect(try refusal { $0.vui?.isFieldSequence = true } == "field_seq_flag")
    #expect(
      try refusal({ _ in }, encoder: { $0.extensions = H265.SequenceParameterSet.Extensions() })
        == "sps_extension_present_flag")
  }
}
