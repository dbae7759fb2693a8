// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// The session's record of access units that a made-up codec has started: their references, and the damage they are
/// decoded from.
@Suite struct DecodingOrderTests {
  private let script = CodecScript()

  private func session() throws -> DecompressionSession {
    try DecompressionSession(
      format: FormatDescription(h264ParameterSets: [MinimalStream.sps(), MinimalStream.pps()]),
      configuration: .with { $0.threadType = .none }, allocator: nil, openCodec: script.opener)
  }

  private func decode(_ pictures: [SmallPicture], in session: DecompressionSession) throws {
    for picture in pictures { try session.decode(picture.accessUnit(), tag: session.core.input.nextIndex) }
  }

  private func taints(_ session: DecompressionSession) -> [LedgerEntry.Taint?] {
    (0..<session.core.input.nextIndex).map { session.core.ledger[$0]?.taint }
  }

  /// Where decoding begins at an intra picture, what refers to it and no further is correct; another intra picture
  /// begins nothing new until something is lost.
  @Test func followsReferencesFromTheFirstIntraPicture() throws {
    let session = try session()
    let intra = SmallPicture(isIntra: true)
    try decode([intra, SmallPicture(frameNumber: 1), SmallPicture(isIntra: true, frameNumber: 2)], in: session)
    #expect(session.core.input.followsReferencesFrom == 0 && session.core.gate.start == .intra)
    #expect((0..<3).map { session.core.ledger[$0]?.referencesSince } == [0, 0, 0])
    #expect(taints(session) == [LedgerEntry.Taint.none, LedgerEntry.Taint.none, LedgerEntry.Taint.none])
    // frame_num 3 is missing.
    try decode([SmallPicture(frameNumber: 4), SmallPicture(isIntra: true, frameNumber: 5)], in: session)
    #expect(session.core.ledger[3]?.taint == .tainted && session.core.ledger.damage.damageEnd == 3)
    #expect(session.core.input.followsReferencesFrom == 4 && session.core.ledger[4]?.referencesSince == 4)
    // An IDR picture needs no following.
    try decode([.idr], in: session)
    #expect(
      session.core.input.followsReferencesFrom == nil && session.core.ledger[5]?.taint == LedgerEntry.Taint.none)
  }

  /// Without damage no references are followed.
  @Test func followsNoReferencesAfterAnIDRPicture() throws {
    let session = try session()
    try decode([.idr, SmallPicture(isIntra: true, frameNumber: 1), SmallPicture(frameNumber: 2)], in: session)
    #expect(session.core.input.followsReferencesFrom == nil && session.core.ledger[1]?.referencesSince == nil)
    #expect((0..<3).map { session.core.ledger[$0].map { $0.summary.randomAccess != .none } } == [true, true, false])
    #expect((0..<3).map { session.core.ledger[$0]?.standsAlone } == [true, true, true])
    #expect((0..<3).map { session.core.ledger[$0]?.recoveryStart } == [0, nil, nil])
  }

  /// Begun in the middle, everything is damaged up to an IDR picture.
  @Test func picturesOfAForcedStartAreDamaged() throws {
    let session = try session()
    try session.decode(SmallPicture().accessUnit().span, tag: 0, time: .zero)
    #expect(script.indices().isEmpty && session.nextNotice() == nil)
    try session.decode(SmallPicture(frameNumber: 1).accessUnit().span, tag: 1, time: .seconds(10))
    #expect(session.nextNotice() == .beganWithoutRandomAccessPoint && script.indices() == [0, 1])
    try decode([SmallPicture(frameNumber: 2), .idr, SmallPicture(frameNumber: 1)], in: session)
    #expect(
      taints(session) == [.tainted, .tainted, .tainted, LedgerEntry.Taint.none, LedgerEntry.Taint.none])
    #expect((0..<5).map { session.core.ledger[$0]?.standsAlone } == [false, false, false, true, true])
    #expect((0..<5).map { session.core.ledger[$0]?.sequenceStart } == [0, 0, 0, 3, 3])
  }

  /// Errors that the codec finds in a reference picture spread to later pictures, up to an IDR picture. Errors in a
  /// picture that nothing refers to do not spread.
  @Test(arguments: [true, false]) func errorsInReferencePicturesSpread(_ isReference: Bool) throws {
    script.errors = { $0 == 1 ? .concealment : [] }
    let session = try session()
    try decode(
      [
        .idr, SmallPicture(isReference: isReference, frameNumber: 1), SmallPicture(frameNumber: isReference ? 2 : 1),
        .idr,
      ], in: session)
    #expect((0..<4).map { session.core.ledger[$0]?.isConcealed } == [false, true, false, false])
    #expect(session.core.ledger[2]?.taint == (isReference ? .tainted : LedgerEntry.Taint.none))
    #expect(session.core.ledger[3]?.taint == LedgerEntry.Taint.none)
  }

  /// An error when pictures are fetched is an access unit's fault, or the fault of a lost codec.
  @Test(
    arguments: [(AVError.invalidData, 0), (.external, 1), (.outOfMemory, 1), (.unsupportedFeature, 0)]
      as [(AVError, UInt64)])
  func receiveErrorsBelongToAnAccessUnitOrTheCodec(_ error: AVError, _ restarts: UInt64) throws {
    script.threadDelay = 3
    script.begins = { $0 == 0 }
    script.receive = { opening, time in opening == 0 && time == 1 ? error : nil }
    let session = try session()
    try decode([.idr, SmallPicture(frameNumber: 1)], in: session)
    #expect(session.statistics.restarts == restarts && session.statistics.replayed == restarts)
    #expect(script.settings.count == (restarts == 0 ? 1 : 2))
    // The access unit whose decoding ended has failed. Its result comes in its turn, because its picture was started.
    #expect(session.core.ledger[0]?.error == (restarts == 0 ? error : nil))
    #expect(session.statistics.lastError?.libavcodecCode == error.rawValue)
  }
}
