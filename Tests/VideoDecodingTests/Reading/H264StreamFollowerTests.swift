// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

@Suite struct H264StreamFollowerTests {
  private static let sets = [MinimalStream.sps(), MinimalStream.pps()]

  /// The summaries of access units, one after another.
  private func read(_ units: [[UInt8]]) -> [DecodingSummary] {
    var follower = H264StreamFollower(lengthSize: nil)
    follower.insert(parameterSets: Self.sets)
    var summaries: [DecodingSummary] = []
    for (index, unit) in units.enumerated() { summaries.append(follower.inspect(unit.span, index: UInt64(index))) }
    return summaries
  }

  private func reference(_ frameNumber: UInt32) -> [UInt8] { SmallPicture(frameNumber: frameNumber).accessUnit() }

  /// `frame_num` may stay or go on by one, modulo 16.
  @Test(arguments: [(0, false), (1, false), (2, true), (15, true)] as [(UInt32, Bool)])
  func findsGapsInFrameNumbers(_ frameNumber: UInt32, _ isGap: Bool) {
    let summaries = read([SmallPicture.idr.accessUnit(), reference(frameNumber)])
    #expect(summaries.map(\.followsGap) == [false, isGap])
  }

  @Test(arguments: [(15, false), (0, false), (1, true), (14, true)] as [(UInt32, Bool)])
  func findsGapsAfterFrameNumbersRestart(_ frameNumber: UInt32, _ isGap: Bool) {
    let units = [SmallPicture.idr.accessUnit()] + (1...15).map(reference)
    #expect(read(units + [reference(frameNumber)]).map(\.followsGap) == Array(repeating: false, count: 16) + [isGap])
  }

  /// Pictures that nothing refers to leave no gap where they are missing.
  @Test func reportsOnlyMissingReferencePictures() {
    let unused = SmallPicture(isReference: false, frameNumber: 1).accessUnit()
    let summaries = read([SmallPicture.idr.accessUnit(), unused, unused, reference(1), reference(3), reference(4)])
    #expect(summaries.map(\.followsGap) == [false, false, false, false, true, false])
    #expect(summaries.map(\.isReference) == [true, false, false, true, true, true])
  }

  @Test func reportsNoGapAfterAResetOrAtAnIDRPicture() {
    var follower = H264StreamFollower(lengthSize: nil)
    follower.insert(parameterSets: Self.sets)
    let first = reference(5)
    _ = follower.inspect(first.span, index: 0)
    follower.reset(keepsReferences: true)
    let (other, idr) = (reference(9), SmallPicture.idr.accessUnit())
    #expect(!follower.inspect(other.span, index: 1).followsGap)
    #expect(!follower.inspect(idr.span, index: 2).followsGap)
  }

  /// The frames until a recovery point is reached, and where it is by `frame_num`.
  @Test(arguments: [(0, 0), (1, 1), (3, 3)] as [(UInt32, Int)])
  func recoveryIsCompleteAfterTheSignalledFrames(_ frameCount: UInt32, _ place: Int) {
    let start = SmallPicture(frameNumber: 14).accessUnit(after: [SmallPicture.recoveryPoint(frameCount: frameCount)])
    let summaries = read([start, reference(15), reference(0), reference(1), reference(2)])
    #expect(summaries[0].randomAccess == .recoveryPoint(frameCount: Int(frameCount)))
    #expect(summaries.dropFirst().allSatisfy { $0.randomAccess == .none })
    #expect(summaries.map(\.completesRecovery) == (0..<5).map { $0 == place })
  }

  @Test func aResetEndsARecovery() {
    var follower = H264StreamFollower(lengthSize: nil)
    follower.insert(parameterSets: Self.sets)
    let start = SmallPicture(frameNumber: 1).accessUnit(after: [SmallPicture.recoveryPoint(frameCount: 1)])
    _ = follower.inspect(start.span, index: 0)
    follower.reset(keepsReferences: false)
    let (next, idr) = (reference(2), SmallPicture.idr.accessUnit())
    #expect(!follower.inspect(next.span, index: 1).completesRecovery)
    #expect(follower.inspect(idr.span, index: 2).completesRecovery)
  }

  /// Until the stream has shown a recovery point SEI, pictures of I slices only will do.
  @Test func intraPicturesAreStartsUntilARecoveryPoint() {
    let intra = SmallPicture(isIntra: true).accessUnit()
    let marked = SmallPicture().accessUnit(after: [SmallPicture.recoveryPoint(frameCount: 2)])
    let summaries = read([intra, SmallPicture.idr.accessUnit(), reference(0), intra, marked, intra])
    #expect(
      summaries.map(\.randomAccess) == [.intra, .idr, .none, .intra, .recoveryPoint(frameCount: 2), .none])
    #expect(summaries.map(\.isIntra) == [true, true, false, true, false, true])
  }

  /// The first macroblocks of a picture's slices, in an IDR picture or not. Repeated slices are withheld. A picture is
  /// damaged if its first slice is missing or comes behind others.
  @Test(
    arguments: [
      (false, [0], false, []), (false, [0, 1], false, []), (false, [1], true, []), (false, [2, 3], true, []),
      (false, [1, 0], true, [1]), (false, [0, 0], false, [1]), (false, [0, 2, 1], true, []), (true, [0], false, []),
      (true, [0, 1, 2], false, []), (true, [1, 2], true, []),
      (true, [0, 0], false, [1]), (true, [0, 1, 0], false, [2]), (true, [1, 0], true, [1]),
    ] as [(Bool, [UInt32], Bool, [Int])])
  func withholdsRepeatedSlicesAndFindsMissingOnes(
    _ isIDR: Bool, _ firstMacroblocks: [UInt32], _ isIncomplete: Bool, _ withheld: [Int]
  ) {
    let picture = SmallPicture(isIDR: isIDR, isIntra: true, firstMacroblocks: firstMacroblocks)
    let summary = read([picture.accessUnit()])[0]
    #expect(summary.isIncomplete == isIncomplete)
    let offsets = withheld.map { MinimalStream.annexB(Array(picture.slices[..<$0])).count + 4 }
    #expect(summary.patches == offsets.map { PacketPool.Patch(offset: $0, byte: 12) })
  }

  /// An access unit without a picture, and one whose slice refers to a PPS that there is not.
  @Test func describesUnreadableAccessUnits() {
    let none = MinimalStream.annexB(Self.sets)
    let summaries = read([
      none, SmallPicture(isReference: false, pps: 3).accessUnit(), SmallPicture(isIDR: true, pps: 3).accessUnit(),
      SmallPicture.idr.accessUnit(),
    ])
    #expect(summaries.map(\.nalUnitType) == [nil, 1, 5, 5])
    #expect(summaries.map(\.isReference) == [false, true, true, true])
    #expect(summaries.map(\.changesParameterSets) == [false, false, false, false])
    #expect(summaries.map(\.completesRecovery) == [false, false, false, true])
  }

  /// At a recovery point another SPS begins another sequence; elsewhere it is damage, and at an IDR picture nothing new.
  @Test(arguments: [(true, false, true), (false, false, false), (false, true, false)])
  func anotherSPSAtARecoveryPointBeginsASequence(_ isMarked: Bool, _ isIDR: Bool, _ isSplice: Bool) {
    let other = [MinimalStream.sps(widthInMacroblocks: 4), MinimalStream.pps()]
    let picture = isIDR ? SmallPicture.idr : SmallPicture(frameNumber: 1)
    let unit = picture.accessUnit(after: other + (isMarked ? [SmallPicture.recoveryPoint(frameCount: 0)] : []))
    let summaries = read([SmallPicture.idr.accessUnit(), unit, unit])
    #expect(summaries.map(\.beginsOtherSequence) == [false, isSplice, false])
    #expect(summaries.map(\.changesParameterSets) == [false, true, false])
  }

  @Test func followsReferencesUntilTheyAreForgotten() {
    var follower = H264StreamFollower(lengthSize: nil)
    #expect(follower.followsReferencesFrom == nil)
    follower.followReferences(from: 3)
    #expect(follower.followsReferencesFrom == 3)
    follower.forgetReferences()
    #expect(follower.followsReferencesFrom == nil)
  }

  /// Behind an intra picture, those that refer to it and no further.
  @Test func followsReferencesFromAnIntraPicture() {
    var follower = H264StreamFollower(lengthSize: nil)
    follower.insert(parameterSets: Self.sets)
    func start(_ index: UInt64, _ picture: SmallPicture) -> UInt64? {
      let unit = picture.accessUnit()
      let summary = follower.inspect(unit.span, index: index)
      return follower.referencesStart(of: unit.span, summary)
    }
    let before = start(0, SmallPicture(frameNumber: 1))
    follower.followReferences(from: 1)
    let intra = start(1, SmallPicture(isIntra: true, frameNumber: 2))
    let following = start(2, SmallPicture(frameNumber: 3))
    let idr = start(3, .idr)
    #expect(before == nil && intra == 1 && following == 1 && idr == nil)
    #expect(follower.followsReferencesFrom == nil)
  }

  @Test(arguments: [(nil, [0, 0, 0, 1, 10]), (.two, [0, 1, 10])] as [(NALLengthSize?, [UInt8])])
  func packagesEndsOfSequences(_ lengthSize: NALLengthSize?, _ bytes: [UInt8]) {
    #expect(H264StreamFollower(lengthSize: lengthSize).endOfSequence == bytes)
  }
}
