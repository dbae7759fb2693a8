// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// What libavcodec is opened with, for each codec.
@Suite struct StreamSetupTests {
  private let sets = [MinimalStream.sps(), MinimalStream.pps()]

  private func sps(id: SequenceParameterSetID = 2) -> H265.SequenceParameterSet {
    var sps = H265.SequenceParameterSet(
      profileTierLevel: .init(profile: H265.Profile(idc: 1), levelIDC: 63),
      codedSize: VideoSize(width: 64, height: 64))
    sps.id = id
    sps.videoParameterSetID = 5
    return sps
  }

  @Test func formatDecidesTheSetupOfH264() throws {
    var format = try FormatDescription(h264ParameterSets: sets)
    let setup = try StreamSetup(format)
    #expect(setup.codec == .h264 && setup.nalLengthSize == nil && setup.parameterSets == sets)
    #expect(setup.extradata == MinimalStream.annexB(sets))
    format.nalLengthSize = .two
    let prefixed = try StreamSetup(format)
    #expect(prefixed.nalLengthSize == .two && prefixed.parameterSets == sets)
    // avcC: version, profile and level of the SPS, the length size, and the sets.
    #expect(prefixed.extradata.prefix(6) == [1] + sets[0][1...3] + [0xFD, 0xE1])
  }

  @Test(arguments: [(0, 0, false), (1, 1, true), (15, 15, true), (16, 15, true)])
  func reorderDepthIsSentOrBoundedByTheFormat(_ maximum: Int, _ deepest: Int, _ mayReorder: Bool) throws {
    var format = try FormatDescription(h264ParameterSets: sets)
    format.maximumReorderFrames = maximum
    format.sentReorderFrames = nil
    let unknown = try StreamSetup(format)
    #expect(unknown.reorderDepth == nil && unknown.deepestReordering == deepest && unknown.mayReorder == mayReorder)
    format.sentReorderFrames = 3
    #expect(try StreamSetup(format).reorderDepth == 3)
  }

  /// In H.265 the session itself sorts out what nothing refers to: libavcodec does not know of higher sub-layers.
  /// Several small pictures are worth an exchange with another process, where threads may delay pictures.
  @Test(
    arguments: [(16, 16, 4), (720, 576, 4), (1280, 720, 2), (1920, 1088, 1), (8192, 4320, 1)],
    SessionConfiguration.ThreadType.allCases)
  func sendsSmallPicturesInBatches(
    _ format: (width: Int, height: Int, batchSize: Int), _ type: SessionConfiguration.ThreadType
  ) throws {
    var description = try FormatDescription(h264ParameterSets: sets)
    description.codedSize = VideoSize(width: format.width, height: format.height)
    func batchSize(_ isolation: SessionConfiguration.Isolation, lowDelay: Bool = false) throws -> Int {
      let configuration = SessionConfiguration.with {
        $0.threadType = type
        $0.isolation = isolation
        $0.lowDelay = lowDelay
      }
      return try StreamSetup(description).codecSettings(configuration, skip: .none) { _ in 0 }.batchSize
    }
    let isDelayed = type == .automatic || type == .frame
    #expect(try batchSize(.process(ProcessLimits())) == (isDelayed ? format.batchSize : 0))
    #expect(try batchSize(.process(ProcessLimits()), lowDelay: true) == (type == .frame ? format.batchSize : 0))
    #expect(try batchSize(.none) == 0)
  }

  @Test(arguments: SessionConfiguration.SkipFrames.allCases)
  func h264SessionsSkipWithoutTheCodec(_ skip: SessionConfiguration.SkipFrames) throws {
    let h264 = try StreamSetup(FormatDescription(h264ParameterSets: sets))
    let h265 = try StreamSetup(H265Stream(media: "clip.h265").format)
    #expect(h264.codecSkip(skip) == .none)
    #expect(h265.codecSkip(skip) == (skip == .nonReference ? .none : skip.codecSkip))
    #expect(h265.codec == .h265)
  }

  /// An SPS without its VPS gets one with the same values.
  @Test func aMissingVPSGetsAStandIn() throws {
    var sps = sps()
    sps.subLayerCount = 2
    sps.profileTierLevel.subLayers = [.init()]
    sps.hasNestedTemporalIDs = false
    sps.buffering = [.init(), .init()]
    let sets = try H265.ParameterSets.holding([sps.nalUnit()])
    let standIns = H265.standIns(for: sets)
    #expect(standIns.count == 1)
    let standIn = try #require(standIns.first)
    let vps = try H265.VideoParameterSet(nalUnit: standIn.span)
    #expect(vps.id == 5 && vps.subLayerCount == 2 && !vps.hasNestedTemporalIDs)
    #expect(vps.profileTierLevel.levelIDC == 63 && vps.buffering.count == 2)
    // It is one that libavcodec takes: no second one is needed.
    let complete = try H265.ParameterSets.holding(standIns + [sps.nalUnit()])
    #expect(H265.standIns(for: complete).isEmpty)
  }

  @Test(arguments: [0, 15] as [SequenceParameterSetID]) func everySPSMayGetAStandIn(_ id: SequenceParameterSetID) throws
  {
    let sets = try H265.ParameterSets.holding([sps(id: id).nalUnit()])
    #expect(H265.standIns(for: sets).count == 1)
  }

  /// Only the VPS changes, and only where libavcodec does not take it.
  @Test func replacesOnlyUnusableVPSs() throws {
    var usable = H265.VideoParameterSet(profileTierLevel: sps().profileTierLevel)
    usable.id = 5
    var sets = FormatDescription.ParameterSetBytes()
    sets.sequence = [sps().nalUnit()]
    sets.picture = [H265.PictureParameterSet(id: 0, sequenceParameterSetID: 2).nalUnit()]
    sets.video = [usable.nalUnit()]
    #expect(H265.decodable(sets).video == sets.video)
    sets.video = [[0x40, 1, 0x5C]]
    let decodable = H265.decodable(sets)
    #expect(decodable.video.count == 1)
    let standIn = try #require(decodable.video.first)
    let vps = try H265.VideoParameterSet(nalUnit: standIn.span)
    #expect(vps.id == 5)
    #expect(decodable.sequence == sets.sequence && decodable.picture == sets.picture)
    #expect(H264.decodable(sets).video == sets.video)
  }

  @Test(
    arguments: [
      ([0x40, 1, 0x5C], 5), ([0x40, 1, 0xFC], 15), ([0x40, 1], nil), ([0x42, 1, 0x5C], nil), ([0x40], nil),
    ] as [([UInt8], VideoParameterSetID?)])
  func readsIDsOfVPSs(_ nalUnit: [UInt8], _ id: VideoParameterSetID?) {
    #expect(H265.videoParameterSetID(of: nalUnit.span) == id)
  }

  /// Filler data and the end of a sequence (H.264 Table 7-1, H.265 Table 7-1).
  @Test func nalUnitsThatSessionsWriteHaveTheirTypes() {
    #expect(H264.NALUnitType(headerByte: H264.fillerHeader).rawValue == 12 && H264.endOfSequence == [10])
    #expect(H265.NALUnitType(headerByte: H265.fillerHeader).rawValue == 38 && H265.endOfSequence == [72, 1])
    let sps = sets[0]
    #expect(H264.standIns(for: H264.ParameterSets()).isEmpty)
    #expect(H264.videoParameterSetID(of: sps.span) == nil)
  }
}

extension H265.ParameterSets {
  fileprivate static func holding(_ nalUnits: [[UInt8]]) throws -> H265.ParameterSets {
    var sets = H265.ParameterSets()
    for nalUnit in nalUnits { _ = try sets.insert(nalUnit.span) }
    return sets
  }
}
