// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import Synchronization
import TestSupport
import Testing

@testable import VideoDecoding

/// The session's stages, each by itself.
@Suite struct StageTests {
  private func packet(_ byteCount: Int, _ timestamp: Int64 = 0) throws -> Packet {
    let bytes = [UInt8](repeating: 1, count: byteCount)
    return try PacketPool().packet(copying: bytes.span, timestamp: timestamp)
  }

  private func record(
    _ index: UInt64, recoveryStart: UInt64? = nil, sequenceStart: UInt64 = 0, isReference: Bool = true,
    referencesSince: UInt64? = nil
  ) -> AccessUnitRecord {
    var record = AccessUnitRecord(
      index: index, tag: index, doNotOutput: false, nalUnitType: 1, isField: false, isRandomAccessPoint: false,
      isReference: isReference, standsAlone: false, sequenceStart: sequenceStart, recoveryStart: recoveryStart,
      start: .marked)
    record.referencesSince = referencesSince
    return record
  }

  private func summary(_ change: (inout AccessUnitSummary) -> Void = { _ in }) -> AccessUnitSummary {
    var summary = AccessUnitSummary()
    summary.isReference = true
    change(&summary)
    return summary
  }

  // MARK: Queues

  @Test func ringQueueKeepsOrderWhileItGrows() {
    var queue = RingQueue<Int>()
    var (next, expected) = (0, 0)
    for round in 0..<50 {
      for _ in 0..<(round % 7) {
        queue.append(next)
        next += 1
      }
      for _ in 0..<(round % 5) where !queue.isEmpty {
        #expect(queue.first == expected && queue[0] == expected)
        #expect(queue.popFirst() == expected)
        expected += 1
      }
      #expect(queue.count == next - expected)
    }
    #expect(queue.count > 16 && queue[queue.count - 1] == next - 1)
    #expect(queue[queue.count] == nil && queue[-1] == nil)
    queue[2] = 1000
    #expect(queue[2] == 1000)
    queue.removeAll()
    #expect(queue.isEmpty && queue.popFirst() == nil && queue.first == nil)
  }

  @Test func pendingAccessUnitsAreFoundByIndex() {
    var pending = PendingAccessUnits()
    for index in [UInt64(5), 6, 9] { pending.append(record(index)) }
    #expect(pending.first?.index == 5 && pending.last?.index == 9 && pending[6]?.index == 6)
    #expect(pending[4] == nil && pending[7] == nil && pending[10] == nil)
    pending.update(6) { $0.isConcealed = true }
    pending.updateAll(after: 5) { $0.hasBothFields = true }
    #expect(pending[6]?.isConcealed == true && pending[9]?.isConcealed == false)
    #expect(
      pending[5]?.hasBothFields == false && pending[6]?.hasBothFields == true && pending[9]?.hasBothFields == true)
    #expect(pending.remove(9)?.index == 9 && pending.remove(9)?.index == nil && pending.last?.index == 6)
    #expect(pending.popFirst()?.index == 5 && pending.popFirst()?.index == 6 && pending.isEmpty)
    pending.append(record(20))
    #expect(pending.first?.index == 20 && pending[20]?.index == 20)
  }

  @Test func startedPicturesAreToldApart() {
    var started = StartedPictures()
    #expect(!started.contains(0))
    started.insert(0)
    started.insert(1025)
    #expect(started.contains(0) && started.contains(1025) && !started.contains(1))
    started.insert(1024)
    #expect(!started.contains(0))
  }

  // MARK: Replay

  @Test func replayBeginsAtTheLatestStartThatIsOut() throws {
    var replay = ReplayBuffer(byteLimit: 1000, countLimit: 100)
    replay.append(try packet(10), index: 0, start: nil)
    #expect(!replay.isUsable)
    replay.append(try packet(10), index: 1, start: .init(parameterSets: [1], reorderDepth: 2))
    replay.append(try packet(10), index: 2, start: nil)
    replay.append(try packet(10), index: 3, start: .init(parameterSets: [3], reorderDepth: 4))
    replay.append(try packet(10), index: 4, start: nil)
    #expect(replay.entries.map(\.index) == [1, 2, 3, 4])
    #expect(replay.start?.parameterSets == [1] && replay.start?.reorderDepth == 2)
    replay.pictureCameOut(1)
    replay.pictureCameOut(2)
    replay.pictureCameOut(4)
    #expect(replay.entries.count == 4)
    replay.pictureCameOut(3)
    #expect(replay.entries.map(\.index) == [3, 4])
    #expect(replay.start?.parameterSets == [3] && replay.start?.reorderDepth == 4)
    replay.removeAll()
    #expect(!replay.isUsable && replay.start == nil)
  }

  @Test func replayIsBounded() throws {
    let start = ReplayBuffer.Start(parameterSets: [], reorderDepth: 0)
    var byCount = ReplayBuffer(byteLimit: 1000, countLimit: 3)
    for index in 0..<3 { byCount.append(try packet(1), index: UInt64(index), start: index == 0 ? start : nil) }
    #expect(byCount.entries.count == 3)
    byCount.append(try packet(1), index: 3, start: nil)
    #expect(!byCount.isUsable)
    var byBytes = ReplayBuffer(byteLimit: 100, countLimit: 100)
    byBytes.append(try packet(60), index: 0, start: start)
    byBytes.append(try packet(40), index: 1, start: start)
    #expect(byBytes.entries.count == 2)
    // Over the limit the youngest start has to do.
    byBytes.append(try packet(1), index: 2, start: nil)
    #expect(byBytes.entries.map(\.index) == [1, 2])
    byBytes.append(try packet(59), index: 3, start: nil)
    #expect(byBytes.entries.count == 3)
    byBytes.append(try packet(1), index: 4, start: nil)
    #expect(!byBytes.isUsable)
  }

  /// A codec that begins at a CRA picture leaves out the pictures that lead it: until these are out, the replay begins at
  /// the start before.
  @Test func replayWaitsForLeadingPictures() throws {
    func buffer() throws -> ReplayBuffer {
      var replay = ReplayBuffer(byteLimit: 1000, countLimit: 100)
      replay.append(try packet(10), index: 0, start: .init(parameterSets: [], reorderDepth: 0))
      replay.append(try packet(10), index: 1, start: nil)
      replay.append(try packet(10), index: 2, start: .init(parameterSets: [], reorderDepth: 0, losesLeading: true))
      return replay
    }
    // The CRA picture is out before what leads it has come, as when the codec is drained.
    var drained = try buffer()
    drained.pictureCameOut(2)
    #expect(drained.entries.map(\.index) == [0, 1, 2])
    drained.append(try packet(10), index: 3, start: nil, isLeading: true)
    #expect(drained.entries.map(\.index) == [0, 1, 2, 3])
    drained.append(try packet(10), index: 4, start: nil)
    #expect(drained.entries.map(\.index) == [2, 3, 4])
    // It comes out in its turn.
    var ordinary = try buffer()
    ordinary.append(try packet(10), index: 3, start: nil, isLeading: true)
    ordinary.append(try packet(10), index: 4, start: nil)
    #expect(ordinary.entries.count == 5)
    ordinary.pictureCameOut(2)
    #expect(ordinary.entries.map(\.index) == [2, 3, 4])
  }

  @Test func aReplayIsDueOnceAfterADrain() throws {
    var replay = ReplayBuffer(byteLimit: 1000, countLimit: 100)
    replay.codecWasDrained()
    let isDueWithoutEntries = replay.takeDue()
    #expect(!isDueWithoutEntries)
    replay.append(try packet(10), index: 0, start: .init(parameterSets: [], reorderDepth: 0))
    replay.codecWasDrained()
    let answers = (replay.takeDue(), replay.takeDue())
    #expect(answers == (true, false))
    replay.codecWasDrained()
    replay.removeAll()
    let isDueAfterRemoval = replay.takeDue()
    #expect(!isDueAfterRemoval)
  }

  // MARK: Damage

  private func referring(
    _ index: UInt64, to pictures: [UInt64], complete: Bool = true, recoveredSince: UInt64? = nil
  ) -> AccessUnitRecord {
    var record = record(index)
    record.references = .init(pictures: pictures, areComplete: complete, kept: pictures + [index])
    record.recoveredSince = recoveredSince
    return record
  }

  @Test func damageFollowsReferences() {
    var damage = DamageTracker()
    func taint(_ record: AccessUnitRecord) -> AccessUnitRecord.Taint {
      var record = record
      damage.admit(&record, summary())
      return record.taint
    }
    #expect(taint(referring(0, to: [])) == .none)
    #expect(taint(referring(2, to: [0], complete: false)) == .tainted && damage.damageEnd == 3)
    #expect(taint(referring(3, to: [2])) == .tainted)
    #expect(taint(referring(4, to: [3, 0])) == .tainted)
    // A recovery that began before the damage does not help, one behind it does.
    #expect(taint(referring(5, to: [4], recoveredSince: 2)) == .tainted)
    #expect(taint(referring(6, to: [5], recoveredSince: 3)) == .none)
    #expect(taint(referring(7, to: [6])) == .none)
    var incomplete = referring(8, to: [7])
    incomplete.isIncomplete = true
    #expect(taint(incomplete) == .tainted && taint(referring(9, to: [7])) == .none)
    // Damage that is noticed late spreads over those that wait, by what they refer to.
    var pending = PendingAccessUnits()
    for next in [referring(11, to: [10]), referring(12, to: [9]), referring(13, to: [11, 12])] { pending.append(next) }
    damage.spread(after: 10, byReferences: true, in: &pending)
    #expect(pending[11]?.taint == .tainted && pending[12]?.taint == AccessUnitRecord.Taint.none)
    #expect(pending[13]?.taint == .tainted && taint(referring(14, to: [13])) == .tainted)
    damage.reset()
    #expect(taint(referring(15, to: [13])) == .none)
  }

  @Test func damageLastsUntilARecoveryThatBeginsBehindIt() {
    var damage = DamageTracker()
    var pending = PendingAccessUnits()
    var clean = record(0)
    damage.admit(&clean, summary())
    #expect(clean.taint == .none && !damage.isTainted)
    var behindGap = record(5)
    damage.admit(&behindGap, summary { $0.followsGap = true })
    #expect(behindGap.taint == .tainted && damage.damageEnd == 5)
    // A recovery that began before the damage does not help.
    #expect(damage.recovery(completedBy: summary { $0.randomAccess = .recoveryPoint(frameCount: 3) }, index: 4) == nil)
    #expect(damage.recovery(completedBy: summary { $0.completesRecovery = true }, index: 6) == 4)
    var early = record(6, recoveryStart: 4)
    damage.admit(&early, summary())
    #expect(early.taint == .tainted)
    // One that begins with the picture behind the gap does, once its picture is out.
    var recovered = record(8, recoveryStart: 5)
    damage.admit(&recovered, summary())
    #expect(recovered.taint == .until(index: 8))
    var idr = record(9, recoveryStart: 9, sequenceStart: 9)
    damage.admit(&idr, summary())
    #expect(idr.taint == .none && !damage.isTainted)
    // Damage that is noticed late spreads over those that wait, up to the next recovery.
    for next in [record(10), record(11, recoveryStart: 11, sequenceStart: 11), record(12)] { pending.append(next) }
    damage.spread(after: 9, in: &pending)
    #expect(pending[10]?.taint == .tainted && pending[11]?.taint == AccessUnitRecord.Taint.none)
    #expect(pending[12]?.taint == AccessUnitRecord.Taint.none)
  }

  @Test func incompletePicturesAreDamagedThemselves() {
    var damage = DamageTracker()
    var unused = record(3, isReference: false)
    damage.admit(
      &unused,
      summary {
        $0.isIncomplete = true
        $0.isReference = false
      })
    #expect(unused.taint == .tainted && !damage.isTainted)
    var used = record(4)
    damage.admit(&used, summary { $0.isIncomplete = true })
    #expect(used.taint == .tainted && damage.isTainted && damage.damageEnd == 5)
    // Known to refer to nothing before the intra picture 5, or to nothing before 4.
    var free = record(6, referencesSince: 5)
    damage.admit(&free, summary())
    #expect(free.taint == .none)
    var bound = record(7, referencesSince: 4)
    damage.admit(&bound, summary())
    #expect(bound.taint == .tainted)
    damage.reset()
    var fresh = record(8)
    damage.admit(&fresh, summary())
    #expect(fresh.taint == .none)
  }

  // MARK: The gate

  private func unit(_ index: UInt64, _ byteCount: Int = 10) throws -> Submission {
    Submission(
      index: index, tag: index, doNotOutput: false, summary: summary(), packet: try packet(byteCount),
      parameterSets: [], isStart: false)
  }

  @Test(arguments: [
    (AccessUnitSummary.RandomAccess.idr, StartGate.Start.marked), (.recoveryPoint(frameCount: 5), .marked),
    (.cra, .marked),
    (.intra, .intra),
  ])
  func gateOpens(_ randomAccess: AccessUnitSummary.RandomAccess, _ start: StartGate.Start) throws {
    var gate = StartGate(SessionConfiguration())
    #expect(gate.start == nil && !gate.isHolding && !gate.isOverdue)
    #expect(gate.admit(summary(), index: 0) == .waits)
    gate.hold(try unit(0), time: nil)
    #expect(gate.isHolding && gate.admit(summary { $0.randomAccess = randomAccess }, index: 1) == .begins)
    #expect(gate.start == start && gate.takeHeld().map(\.index) == [0] && !gate.isHolding)
    // What is shown before the first picture leads it.
    #expect(gate.isLeading(2) && !gate.isLeading(1))
    gate.pictureCameOut(2)
    #expect(gate.isLeading(2))
    gate.pictureCameOut(1)
    #expect(!gate.isLeading(2))
    #expect(gate.admit(summary(), index: 3) == .passes)
    #expect(gate.admit(summary { $0.randomAccess = .idr }, index: 4) == .passes && gate.start == .marked)
    gate.close()
    #expect(gate.start == nil && gate.admit(summary(), index: 5) == .waits)
  }

  @Test func gateIsForced() throws {
    var gate = StartGate(.with { $0.startPatience = .seconds(2) })
    #expect(gate.force().isEmpty && gate.start == nil)
    gate.hold(try unit(0), time: .seconds(7))
    gate.hold(try unit(1), time: .milliseconds(5500))
    gate.hold(try unit(2), time: nil)
    #expect(!gate.isOverdue)
    gate.hold(try unit(3), time: .milliseconds(7500))
    #expect(gate.isOverdue)
    let units = gate.force()
    #expect(units.map(\.index) == [0, 1, 2, 3] && units.map(\.isStart) == [true, false, false, false])
    #expect(gate.start == .forced && !gate.isHolding && !gate.isOverdue)
    // Nothing else is to be waited for in such a stream.
    gate.lose()
    #expect(!gate.isLost && gate.start == .forced)
    gate.close()
    #expect(gate.start == .forced)
    gate.reset()
    #expect(gate.start == nil)
  }

  @Test func gateAfterALoss() {
    var gate = StartGate(SessionConfiguration())
    _ = gate.admit(summary { $0.randomAccess = .idr }, index: 0)
    gate.lose()
    #expect(gate.isLost && gate.admit(summary(), index: 1) == .isLost)
    gate.close()
    gate.reset()
    #expect(gate.isLost)
    #expect(gate.admit(summary { $0.isIntra = true }, index: 2) == .begins && gate.start == .intra && !gate.isLost)
  }

  // MARK: Output

  @Test func noticesAreBounded() {
    var output = SessionOutput()
    for index in 0..<20 {
      output.notify(.codecLost(DecodeError(.malfunction, accessUnitNumber: UInt64(index))))
    }
    var numbers: [UInt64] = []
    while case .codecLost(let error)? = output.nextNotice() { numbers += [error.accessUnitNumber ?? 0] }
    #expect(numbers == Array(4..<20))
  }

  @Test func codecsAreComparedByHowFarTheyCame() throws {
    let plan = FaultPlan()
    let settings = CodecSettings(codec: .h264)
    let bridge = PictureBridge(allocator: nil, layout: .native)
    var (one, other) = (
      RunningCodec(try plan.opener(settings, bridge)), RunningCodec(try plan.opener(settings, bridge))
    )
    #expect(one.isAsFar(as: other))
    other.youngest = 3
    #expect(!one.isAsFar(as: other) && other.isAsFar(as: one))
    one.youngest = 3
    #expect(one.isAsFar(as: other))
    one.youngest = 2
    #expect(!one.isAsFar(as: other))
  }

  // MARK: Memory

  @Test func pictureMemoryIsRecycled() throws {
    let pool = PicturePool()
    var address: UInt?
    do {
      let block = try #require(pool.block(byteCount: 4096))
      unsafe block.start[0] = 7
      address = unsafe UInt(bitPattern: block.start)
    }
    let again = try #require(pool.block(byteCount: 4096))
    #expect(unsafe UInt(bitPattern: again.start) == address && again.start[0] == 7)
    // One that is in use is not given twice, and new memory is zero.
    let second = try #require(pool.block(byteCount: 4096))
    #expect(unsafe UInt(bitPattern: second.start) != address && second.start[0] == 0)
    let other = try #require(pool.block(byteCount: 64))
    #expect(other.byteCount == 64)
  }

  /// Forty blocks are kept; what is above goes back to the system.
  @Test func pictureMemoryIsKeptUpToALimit() throws {
    let pool = PicturePool()
    do {
      var blocks: [PicturePool.Block] = []
      for _ in 0..<41 { blocks.append(try #require(pool.block(byteCount: 256))) }
      for block in blocks { unsafe block.start[0] = 9 }
      blocks.removeAll()
    }
    var blocks: [PicturePool.Block] = []
    for _ in 0..<41 { blocks.append(try #require(pool.block(byteCount: 256))) }
    let recycled = blocks.count { unsafe $0.start[0] == 9 }
    #expect(recycled == 40)
  }

  @Test func allocatorsMissesAreCounted() throws {
    let units = try mediaAccessUnits("clip.h264")
    let configuration = SessionConfiguration.threadings[0]
    let refusing = TestAllocator { $0 % 3 == 1 ? nil : 0 }
    let session = try makeSession(units, configuration, allocator: refusing)
    var run = Run()
    try session.run(units, into: &run)
    let requests = refusing.requests.load(ordering: .relaxed)
    #expect(session.statistics.allocatorMisses == UInt64((requests + 1) / 3))
    #expect(run.frames.filter { $0.token == nil }.count == (requests + 1) / 3)
    let without = try makeSession(units, configuration)
    var other = Run()
    try without.run(units, into: &other)
    #expect(without.statistics.allocatorMisses == 0)
  }

  // MARK: Statistics

  @Test(arguments: [true, false]) func corruptPicturesAreCounted(_ outputCorrupt: Bool) throws {
    var units = try mediaAccessUnits("open-gop.h264")
    let configuration = SessionConfiguration.with {
      $0.threadType = .none
      $0.outputCorrupt = outputCorrupt
    }
    let halved = try #require(units.indices.first { $0 > 15 && isReference(units[$0]) && units[$0].count > 200 })
    units[halved].removeLast(units[halved].count / 2)
    let session = try makeSession(units, configuration)
    var run = Run()
    try session.run(units, into: &run)
    let damaged = outputCorrupt ? run.frames.count { $0.isCorrupt } : run.drops.count { $0 == .corrupt }
    #expect(damaged > 0 && session.statistics.corrupted == UInt64(damaged))
    #expect(session.statistics.concealed == 1)
    #expect(session.statistics.output == UInt64(run.frames.count))
    #expect(session.statistics.dropped == UInt64(run.drops.count))
    if !outputCorrupt { #expect(run.frames.allSatisfy { !$0.isCorrupt }) }
  }

  // MARK: Parameter sets that libavcodec must not see

  @Test(arguments: [
    (16, 16, false), (16384, 16128, false), (16384, 16129, true), (16330, 16129, true), (16320, 16129, false),
    (1 << 27, 16, true),
  ])
  func addressing(_ width: Int, _ height: Int, _ exceeds: Bool) {
    #expect(RefusedParameterSets.exceedsAddressing(VideoSize(width: width, height: height)) == exceeds)
  }

  @Test func refusedSetsBecomeFillerData() throws {
    let units = try mediaAccessUnits("clip.h264")
    var inspector = H264AccessUnitInspector(lengthSize: nil)
    let first = units[0]
    #expect(inspector.inspect(first.span, index: 0).patches == [])
    var large = [UInt8]()
    var place = 0
    var nalUnits = AnnexB.NALUnits(first.span)
    while let nalUnit = nalUnits.next() {
      var bytes = Array(first[nalUnit.range])
      if bytes[0] & 31 == 7 {
        var sps = try H264.SequenceParameterSet(nalUnit: bytes.span)
        sps.widthInMacroblocks = 2000
        sps.heightInMapUnits = 2000
        bytes = sps.nalUnit()
        place = large.count + 4
      }
      large += [0, 0, 0, 1] + bytes
    }
    #expect(inspector.inspect(large.span, index: 1).patches == [PacketPool.Patch(offset: place, byte: 12)])
    // Again: nothing has changed, and it is still not to be seen.
    #expect(inspector.inspect(large.span, index: 1).patches == [PacketPool.Patch(offset: place, byte: 12)])
    let copied = try PacketPool().packet(
      copying: large.span, prefix: [9, 9], timestamp: 0, patches: [PacketPool.Patch(offset: place, byte: 12)])
    #expect(copied.byteCount == large.count + 2)
    for index in large.indices { #expect(copied.bytes[index + 2] == (index == place ? 12 : large[index])) }
  }

  /// libavcodec takes a quantiser that no picture can have for a good one: pictures go on with the set that was there.
  @Test func aDamagedSetDoesNotTakeTheGoodOnesPlace() throws {
    var units = try mediaAccessUnits("clip.h264")
    let whole = try decodeAll(units, .with { $0.threadType = .none })
    var writer = BitWriter()
    writer.u(8, 0x68)
    writer.ue(0)
    writer.ue(0)
    writer.u(2, 0b10)
    writer.ue(0)
    writer.ue(0)
    writer.ue(0)
    writer.u(3, 0)
    writer.se(70)
    writer.se(0)
    writer.se(0)
    writer.u(3, 0b100)
    writer.trailingBits()
    units[4] = [0, 0, 0, 1] + writer.bytes + units[4]
    let run = try decodeAll(units, .with { $0.threadType = .none })
    #expect(run.checksums == whole.checksums)
    #expect(run.frames.allSatisfy { !$0.isCorrupt })
  }

  /// libavcodec forgets the PPSs of an SPS that changes; one that is not sent again, or comes damaged, is still good.
  @Test(arguments: ["clip.h264", "clip.h265"], [true, false])
  func picturesGoOnWithThePPSOfAChangedSPS(_ clip: String, _ isDamaged: Bool) throws {
    let stream = try CodedStream(clip)
    let isH265 = clip.hasSuffix("5")
    let whole = try stream.decode(.with { $0.threadType = .none })
    // The level says nothing of the pictures.
    let changed: [[UInt8]] = try H265Stream.nalUnits(stream.units[0]).compactMap { nalUnit in
      switch (isH265, isH265 ? nalUnit[0] >> 1 : nalUnit[0] & 31) {
      case (false, 7):
        var sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
        sps.levelIDC = 51
        return sps.nalUnit()
      case (true, 33):
        var sps = try H265.SequenceParameterSet(nalUnit: nalUnit.span)
        sps.profileTierLevel.levelIDC = 153
        return sps.nalUnit()
      case (false, 8), (true, 34): return isDamaged ? Array(nalUnit.prefix(isH265 ? 3 : 2)) : nil
      default: return nil
      }
    }
    #expect(changed.count == (isDamaged ? 2 : 1))
    var units = stream.units
    // At a picture that begins anew: in the middle of a sequence no SPS may change.
    let start = try #require(
      units.indices.dropFirst().first { index in
        H265Stream.nalUnits(units[index]).contains { isH265 ? 16...21 ~= $0[0] >> 1 : $0[0] & 31 == 5 }
      })
    units[start] = H265Stream.joined(
      changed
        + H265Stream.nalUnits(units[start]).filter { nalUnit in
          isH265 ? !(32...34 ~= nalUnit[0] >> 1) : !(7...8 ~= nalUnit[0] & 31)
        })
    let session = try stream.session(.with { $0.threadType = .none })
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.checksums == whole.checksums)
    #expect(run.frames.allSatisfy { !$0.isCorrupt })
  }

  /// For a VPS that is not what it was, libavcodec gives up the SPS, and with it what the leading pictures of the next CRA
  /// picture refer to; one that is damaged says nothing that they are decoded by.
  @Test func leadingPicturesAreShownBehindAnotherVPS() throws {
    let stream = try CodedStream("open-gop.h265")
    let whole = try stream.decode(.with { $0.threadType = .none })
    let vps = try #require(H265Stream.nalUnits(stream.units[0]).first { $0[0] >> 1 == 32 })
    var units = stream.units
    var changed = 0
    for index in units.indices.dropFirst() {
      let nalUnits = H265Stream.nalUnits(units[index])
      guard nalUnits.contains(where: { $0[0] >> 1 == 21 }) else { continue }
      // Another compatibility flag, and one that is cut off.
      var other = vps
      other[7] ^= 1
      units[index] = H265Stream.joined(
        [changed % 2 == 0 ? other : Array(vps.prefix(9))] + nalUnits.filter { $0[0] >> 1 != 32 })
      changed += 1
    }
    #expect(changed > 2)
    let session = try stream.session(.with { $0.threadType = .none })
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.checksums == whole.checksums)
    #expect(run.frames.allSatisfy { !$0.isCorrupt })
  }

  /// An SPS whose samples libavcodec does not know does not take the good one's place: pictures go on, and are flagged.
  @Test(arguments: ["clip.h264", "clip.h265"]) func picturesOfSamplesThatThereAreNotAreFlagged(_ clip: String) throws {
    let stream = try CodedStream(clip)
    let isH265 = clip.hasSuffix("5")
    var units = stream.units
    let damaged = try H265Stream.nalUnits(units[0]).compactMap { nalUnit -> [UInt8]? in
      switch (isH265, isH265 ? nalUnit[0] >> 1 : nalUnit[0] & 31) {
      case (false, 7):
        var sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
        sps.profile = H264.Profile(idc: 110, constraintFlags: 0)
        sps.chromaBitDepth = 9
        return sps.nalUnit()
      case (true, 33):
        var sps = try H265.SequenceParameterSet(nalUnit: nalUnit.span)
        sps.chromaBitDepth = 9
        return sps.nalUnit()
      default: return nil
      }
    }
    units[4] = H265Stream.joined(damaged) + units[4]
    let session = try stream.session(.with { $0.threadType = .none })
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.frames.contains { $0.tag == 4 && $0.isCorrupt })
    #expect(run.accounts(for: units.count))
  }

  /// Where there is no other, libavcodec may try a set that cannot be read.
  @Test(arguments: [true, false]) func aSetWithoutANamesakeIsHandedOn(_ hasNamesake: Bool) throws {
    let vps: [UInt8] = [0x40, 1, 0x0C]
    let sps = H265.SequenceParameterSet(
      profileTierLevel: .init(profile: H265.Profile(idc: 1), levelIDC: 63),
      codedSize: VideoSize(width: 64, height: 64)
    ).nalUnit()
    let broken = Array(sps.dropLast(2))
    var inspector = H265AccessUnitInspector(lengthSize: nil, verifiesPictureHash: false)
    if hasNamesake { inspector.insert(parameterSets: [sps]) }
    let unit = H265Stream.joined([vps, broken])
    let place = 4 + vps.count + 4
    let patches = inspector.inspect(unit.span, index: 0).patches.filter { $0.offset >= place }
    #expect(patches == (hasNamesake ? [PacketPool.Patch(offset: place, byte: 38 << 1)] : []))
  }

  // MARK: Errors

  /// Eight bytes a sample, with libavutil's margins, have to fit 31 bits; widths count in steps of 64.
  @Test func sizesBeyondAddressing() throws {
    let largest = VideoSize(width: 16_384, height: 16_128)
    #expect(!RefusedParameterSets.exceedsAddressing(largest))
    #expect(RefusedParameterSets.exceedsAddressing(VideoSize(width: 16_384, height: 16_129)))
    #expect(RefusedParameterSets.exceedsAddressing(VideoSize(width: 16_385, height: 16_128)))
    var format = try FormatDescription(h264ParameterSets: [MinimalStream.sps(), MinimalStream.pps()])
    format.codedSize = largest
    _ = try StreamSetup(format)
    format.codedSize.height += 1
    let error = #expect(throws: DecodeError.self) { _ = try StreamSetup(format) }
    #expect(error?.reason == .invalidFormatDescription)
  }

  @Test(arguments: [
    (DecodeError.Reason.badData, Int32(-12909)), (.unsupportedFeature, -12910), (.malfunction, -12911),
    (.invalidSession, -12903), (.formatChangeNotSupported, -12916), (.invalidFormatDescription, -12712),
    (.decoderNotFound, -12906), (.allocationFailed, -12904), (.invalidArgument, -12902),
  ])
  func statuses(_ reason: DecodeError.Reason, _ status: Int32) { #expect(DecodeError(reason).status == status) }

  @Test func reasonsOfCodes() {
    #expect(DecodeError(losing: .outOfMemory).reason == .allocationFailed)
    #expect(DecodeError(losing: .noDevice).reason == .malfunction)
    #expect(DecodeError(losing: .invalidData).reason == .badData)
    #expect(DecodeError(opening: .invalidData).reason == .invalidFormatDescription)
    #expect(DecodeError(opening: .decoderNotFound).reason == .decoderNotFound)
    #expect(DecodeError(opening: .external).reason == .malfunction)
    for code in [AVError.external, .outOfMemory, .inputOutput, .noDevice, .unknown, .bug, .bug2] {
      #expect(code.meansLostSession)
    }
    for code in [AVError.invalidData, .tryAgain, .endOfFile, .unsupportedFeature, .invalidArgument] {
      #expect(!code.meansLostSession)
    }
  }
}
