// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// A stage of a copy between window and sink. It encodes the pictures of seams, and verifies each seam.
///
/// ```
/// copying ──needed or encoded──▶ in a seam ──copied──▶ behind it ──the next entry, or enough──▶ copying
///                                    └─────────────the end of the range──────────────────────────▲
/// ```
///
/// Encoded pictures are an IDR picture and P pictures. Their parameter sets have ids that the source does not use:
///
/// - H.264: the encoder's PPS under the source's own SPS, so that the copy has one format. If that SPS does not serve, a
///   copy of it stands in, and the copied picture behind the seam must be an IDR picture.
/// - H.265: the encoder's own. The copied picture behind a seam activates the source's again, as an IDR or BLA picture.
///
/// A recovery point of H.264 keeps its numbers behind a seam, if those of the encoded pictures can lead up to them.
/// Otherwise, and at the beginning of a range that is exact or behind another, it becomes an IDR picture, from which later
/// pictures are counted.
///
/// In containers with a description of the video, the description has them. Elsewhere, they are in front of the IDR
/// picture.
///
/// A seam leaves only if it shows the pictures of the source. It is decoded as it stands in the copy, with the first
/// copied access units behind it. ``SeamGroup`` holds these access units until then. Number, order and times of pictures must
/// be right, and copied pictures must have the samples of the source: see ``SeamCheck``. Recovery points that become IDR
/// pictures are verified in the same way, and so are intra pictures that promise nothing: see ``SeamProof``.
struct Seam<Codec: SeamSyntax>: SeamMaking {
  private typealias AccessUnit = MediaOutput.AccessUnit

  private let quality: Double
  private let hasStartCodes: Bool
  /// The access units of the open seam; `nil` for none.
  private var open: OpenSeam<Codec>?
  /// Access units that leave together; `nil` for none.
  private var group: SeamGroup<Codec>?
  /// How far the group must be verified if it begins with an entry that promises nothing.
  private var proof: SeamProof<Codec>?
  /// The samples of copied pictures behind such an entry, by the times at which they are shown. Decoding that begins with
  /// the entry must give them again.
  private var samples: [Int64: UInt64] = [:]
  /// The parameter sets of encoded pictures, or the reason for which there are none, by the SPS.
  private var known: [[UInt8]: Result<Codec.SeamSets, SeamObstacle>] = [:]
  /// The last access unit that left, if it is an entry.
  private var lastEntry: MediaOutput.AccessUnit?
  /// In the range.
  private var lastDecoding: Int64?
  /// When the latest picture of the range is shown.
  private var lastPresentation: Int64?
  /// Whether pictures of another range are in front of this one.
  private var isJoined = false
  private var seamCount = 0
  /// Whether the latest pictures of the copy let only an IDR picture follow.
  private var needsIDR = false
  /// Copied pictures behind a seam in front of a recovery point, up to the next IDR picture; `nil` otherwise.
  private var following: (reader: OpenSeam<Codec>, references: any SeamContinuing<Codec>)?
  /// Recovery points that became IDR pictures.
  private var beginningCount = 0
  private var clock = RemovalClock()
  /// Reads the next copied access unit if its removal delay counts from another buffering period than in the source.
  private var recount: OpenSeam<Codec>?
  /// Reads all messages of the range.
  private var messages: OpenSeam<Codec>?
  private(set) var isAtEnd = false
  private(set) var encodedCount = 0
  private(set) var lowestPSNR: Double?
  private(set) var removedOperationCount = 0

  /// - Parameters:
  ///   - quality: of encoded pictures; see `EncoderSettings.quality`.
  ///   - hasStartCodes: whether NAL units of the copy have start codes.
  init(quality: Double, hasStartCodes: Bool) { (self.quality, self.hasStartCodes) = (quality, hasStartCodes) }

  var openObstacle: SeamObstacle? {
    let needsIDR = known.values.contains { (try? $0.get())?.needsIDRBehind ?? false }
    return needsIDR || Codec.continuation == nil ? .recoveryPoint : nil
  }

  func canBeginAnew(with accessUnit: MediaOutput.AccessUnit, _ format: MediaOutput.VideoFormat) -> Bool {
    guard accessUnit.role.start != .closed, !accessUnit.role.isIRAP else { return true }
    guard var references = Codec.continuation else { return false }
    var reader = OpenSeam<Codec>(format, hasStartCodes: hasStartCodes)
    reader.read(accessUnit)
    return references.begin(accessUnit, reader.packaging, reader.sets, number: 0) != nil
  }

  // MARK: The description

  mutating func describe(_ format: inout MediaOutput.VideoFormat) {
    guard !hasStartCodes, !format.allowsInBandParameterSets else { return }
    do throws(BitstreamError) {
      var record = try Codec.ConfigurationRecord(format.configuration.span)
      var sets = Codec.ParameterSets()
      for nalUnit in record.nalUnits where isParameterSet(nalUnit) { try sets.insert(nalUnit.span) }
      for nalUnit in Codec.sequenceParameterSets(of: sets) {
        guard let target = target(nalUnit, sets) else { continue }
        Codec.add(target.nalUnits, to: &record)
        for nalUnit in target.nalUnits { try sets.insert(nalUnit.span) }
      }
      format.configuration = try record.bytes()
    } catch {
      // It stays as it is.
    }
  }

  private func isParameterSet(_ nalUnit: [UInt8]) -> Bool {
    nalUnit.first.map { Codec.NALUnitType(headerByte: $0).isParameterSet } ?? false
  }

  mutating func obstacle(_ format: MediaOutput.VideoFormat, under parameterSets: [[UInt8]]) -> SeamObstacle? {
    var sets = Codec.ParameterSets()
    for nalUnit in parameterSets { do throws(BitstreamError) { try sets.insert(nalUnit.span) } catch {} }
    for nalUnit in Codec.sequenceParameterSets(of: sets) {
      do throws(SeamObstacle) { _ = try found(nalUnit, sets) } catch { return error }
    }
    return nil
  }

  private mutating func target(_ spsNALUnit: [UInt8], _ sets: Codec.ParameterSets) -> Codec.SeamSets? {
    do throws(SeamObstacle) { return try found(spsNALUnit, sets) } catch { return nil }
  }

  /// The parameter sets of pictures that are encoded under an SPS.
  ///
  /// - Parameter sets: the source's.
  private mutating func found(
    _ spsNALUnit: [UInt8], _ sets: Codec.ParameterSets
  ) throws(SeamObstacle) -> Codec.SeamSets {
    if let known = known[spsNALUnit] { return try known.get() }
    let made: Result<Codec.SeamSets, SeamObstacle>
    do throws(SeamObstacle) {
      made = .success(try Codec.SeamSets(spsNALUnit, in: sets, quality: quality))
    } catch { made = .failure(error) }
    known[spsNALUnit] = made
    return try made.get()
  }

  // MARK: Access units

  mutating func take(
    _ accessUnit: MediaOutput.AccessUnit, _ format: MediaOutput.VideoFormat, beginsAnew: Bool
  ) throws(CopyRefusal) -> [MediaOutput.AccessUnit] {
    do throws(SeamObstacle) {
      switch accessUnit.disposition {
      case .copied, .hidden: return try copy(accessUnit, format, beginsAnew: beginsAnew)
      case .needed, .encoded:
        let leaving = try finishGroup(endsCopying: true)
        isAtEnd = lastPresentation != nil
        try continueSeam(accessUnit, format)
        return leaving
      }
    } catch { throw .seam(error) }
  }

  mutating func read(_ accessUnit: MediaOutput.AccessUnit, _ format: MediaOutput.VideoFormat) {
    if let number = messages?.formatNumber, number != accessUnit.format { messages = nil }
    if messages == nil { messages = OpenSeam(format, hasStartCodes: hasStartCodes) }
    guard accessUnit.role.start != .none || messages?.hasMessages(accessUnit) == true else { return }
    messages?.read(accessUnit)
    messages?.readMessages(of: accessUnit)
  }

  mutating func finishRange() throws(CopyRefusal) -> [MediaOutput.AccessUnit] {
    do throws(SeamObstacle) {
      let leaving = try finishGroup(endsCopying: true) + finishSeam()
      (lastEntry, lastDecoding, lastPresentation, isJoined, following, samples) = (nil, nil, nil, true, nil, [:])
      (messages, isAtEnd) = (nil, false)
      clock.finishRange()
      return leaving
    } catch { throw .seam(error) }
  }

  // MARK: Copied pictures

  /// Takes a copied access unit. Behind a seam, it is held.
  private mutating func copy(
    _ accessUnit: AccessUnit, _ format: MediaOutput.VideoFormat, beginsAnew: Bool
  ) throws(SeamObstacle) -> [AccessUnit] {
    var leaving: [AccessUnit] = []
    if group?.accepts(accessUnit) == true {
      proof?.take(accessUnit)
      try add(accessUnit, accessUnit)
      return []
    }
    leaving = try finishGroup(endsCopying: accessUnit.role.start == .closed)
    if let seam = open, seam.target != nil, seam.formatNumber != accessUnit.format {
      // They have no parameter sets in common.
      guard !accessUnit.role.isUnproven else { throw .verification }
      leaving += try finishSeam(before: accessUnit)
      leaving.append(try copied(accessUnit, format, isBehindSeam: true, beginsAnew: beginsAnew))
    } else if needsGroup(before: accessUnit, beginsAnew: beginsAnew) {
      if accessUnit.role.isUnproven {
        proof = SeamProof(behind: open ?? OpenSeam(format, hasStartCodes: hasStartCodes))
        proof?.take(accessUnit)
      }
      let isFirst = try !beginGroup(format, beginsAnew: beginsAnew, before: accessUnit)
      try add(accessUnit, isFirst ? completed(accessUnit, format) : accessUnit)
    } else {
      open = nil
      leaving.append(try copied(accessUnit, format, isBehindSeam: false, beginsAnew: beginsAnew))
    }
    return leaving
  }

  /// Whether pictures are encoded in front of a copied access unit, or it must be verified: it promises nothing, or may
  /// become an IDR picture.
  private func needsGroup(before next: AccessUnit, beginsAnew: Bool) -> Bool {
    if open?.target != nil || open != nil && next.role.isUnproven { return true }
    let isBeginning = beginsAnew && lastDecoding == nil && next.role.start == .open && !next.role.isIRAP
    return isBeginning && Codec.continuation != nil
  }

  // MARK: Groups

  /// Begins a group with the access units of the open seam, which it ends.
  ///
  /// - Parameter next: the copied access unit behind it; `nil` at the end of a range.
  /// - Returns: whether access units are decoded in front of `next`.
  private mutating func beginGroup(
    _ format: MediaOutput.VideoFormat, beginsAnew: Bool, before next: AccessUnit?
  ) throws(SeamObstacle) -> Bool {
    var seam = open
    open = nil
    let isNeeded = seam?.target != nil || next?.role.isUnproven == true
    let waiting = isNeeded ? seam?.takeWaiting() ?? [] : []
    var encoding: SeamEncoding<Codec>?
    if let seam, let target = seam.target { encoding = try self.encoding(seam, target, before: next) }
    group = try SeamGroup(
      encoding, seam?.format ?? format, hasStartCodes: hasStartCodes, beginsAnew: beginsAnew, samples)
    for accessUnit in waiting {
      try group?.coder.take(accessUnit)
      try advance()
    }
    return !waiting.isEmpty
  }

  private mutating func encoding(
    _ seam: OpenSeam<Codec>, _ target: Codec.SeamSets, before next: AccessUnit?
  ) throws(SeamObstacle) -> SeamEncoding<Codec> {
    let accessUnits = seam.encoded.sorted { $0.presentation < $1.presentation }
    // Copied pictures in front of the seam are shown in front of it.
    if let first = accessUnits.first, let lastPresentation, first.presentation <= lastPresentation {
      throw .verification
    }
    let times = decodingTimes(of: accessUnits.map(\.presentation), before: next, depth: seam.depth ?? 0)
    let encoding = try SeamEncoding(
      seam, target, accessUnits, times: times, number: seamCount, before: next,
      neighbors: [lastEntry, next].compactMap(\.self), &clock)
    seamCount += 1
    (lastEntry, lastDecoding) = (nil, encoding.lastDecoding)
    return encoding
  }

  /// Adds a copied access unit to the group.
  ///
  /// - Parameter complete: the same with all parameter sets if decoding begins with it.
  private mutating func add(_ accessUnit: AccessUnit, _ complete: AccessUnit) throws(SeamObstacle) {
    try group?.coder.copy(complete)
    group?.add(accessUnit)
    try advance()
  }

  /// Takes encoded pictures and copied access units into the copy, as far as they are known.
  private mutating func advance() throws(SeamObstacle) {
    guard var group else { return }
    // A copy of it would be costly.
    self.group = nil
    let coder = group.coder
    for packet in coder.takePackets() {
      let next = try group.encoding?.accessUnit(of: packet, isTopFieldFirst: coder.isTopFieldFirst)
      guard let accessUnit = next else { throw .encoder }
      group.check.take(accessUnit)
      group.leaving.append(accessUnit)
      group.encodedCount += 1
      clock.remove(accessUnit)
    }
    if coder.hasEncoded {
      if let encoding = group.encoding { try finish(encoding, group) }
      group.encoding = nil
      for source in group.waiting {
        let isFirst = group.leaving.count == group.encodedCount
        let accessUnit = try copied(
          source, group.format, isBehindSeam: isFirst && group.encodedCount > 0, beginsAnew: group.beginsAnew)
        group.leaving.append(accessUnit)
        guard group.leaving.count - group.encodedCount <= coder.copiedCount else { continue }
        group.check.take(group.leaving.count == 1 ? completed(accessUnit, group.format) : accessUnit)
      }
      group.waiting = []
    }
    self.group = group
  }

  /// Takes the end of the encoded pictures.
  private mutating func finish(
    _ encoding: SeamEncoding<Codec>, _ group: SeamGroup<Codec>
  ) throws(SeamObstacle) {
    guard group.encodedCount == encoding.count else { throw .encoder }
    encodedCount += group.encodedCount
    recount = OpenSeam(group.format, hasStartCodes: hasStartCodes)
    needsIDR = encoding.target.needsIDRBehind
    guard encoding.leadsToRecoveryPoint, var references = Codec.continuation else { return }
    let (packaging, sets) = (encoding.seam.packaging, encoding.setsBehind)
    for accessUnit in group.leaving { _ = try references.next(accessUnit, packaging, sets) }
    following = (encoding.seam, references)
  }

  /// Verifies the group.
  ///
  /// - Parameter endsCopying: whether no picture follows that may refer to those in front of the seam.
  /// - Returns: its access units.
  private mutating func finishGroup(endsCopying: Bool) throws(SeamObstacle) -> [AccessUnit] {
    guard let coder = group?.coder else { return [] }
    let pictures = try coder.finish()
    try advance()
    guard let group else { return [] }
    let proof = proof
    (self.group, self.proof) = (nil, nil)
    // Access units that are copied as they are need no check.
    guard group.encodedCount > 0 || following != nil else { return group.leaving }
    guard group.check.passes(pictures, accessUnitCount: group.encodedCount + coder.copiedCount) else {
      throw .verification
    }
    if let psnr = group.check.lowestPSNR { lowestPSNR = min(lowestPSNR ?? psnr, psnr) }
    if let proof {
      let isWhole = endsCopying && coder.copiedCount == group.copiedCount
      guard isWhole || coder.copiedCount >= proof.neededCount ?? .max else { throw .verification }
      for picture in pictures { samples[picture.presentation] = picture.checksum }
    }
    return group.leaving
  }

  /// Verifies the open seam without access units behind it.
  ///
  /// - Parameter next: the access unit that follows; `nil` at the end of a range.
  /// - Returns: its encoded pictures.
  private mutating func finishSeam(before next: AccessUnit? = nil) throws(SeamObstacle) -> [AccessUnit] {
    guard let seam = open, seam.target != nil else {
      open = nil
      return []
    }
    _ = try beginGroup(seam.format, beginsAnew: true, before: next)
    return try finishGroup(endsCopying: true)
  }

  /// An access unit with the parameter sets that it lacks, so decoding can begin with it.
  private func completed(_ accessUnit: AccessUnit, _ format: MediaOutput.VideoFormat) -> AccessUnit {
    var complete = accessUnit
    complete.bytes = OpenSeam<Codec>(format, hasStartCodes: hasStartCodes).completed(accessUnit)
    return complete
  }

  /// An access unit that leaves as it is, or with the numbers that it must have in the copy.
  private mutating func copied(
    _ accessUnit: AccessUnit, _ format: MediaOutput.VideoFormat, isBehindSeam: Bool, beginsAnew: Bool
  ) throws(SeamObstacle) -> AccessUnit {
    if accessUnit.role.start == .closed { following = nil }
    var leaving = try continued(accessUnit, format, isBehindSeam: isBehindSeam, beginsAnew: beginsAnew)
    needsIDR = false
    // Nothing promises that decoding can begin with it.
    if leaving.role.isUnproven, leaving.role.start == .open { leaving.role.start = .none }
    if isJoined, lastDecoding == nil { recount = OpenSeam(format, hasStartCodes: hasStartCodes) }
    leaving.bytes = recounted(leaving)
    if clock.isAtStart {
      var reader = OpenSeam<Codec>(format, hasStartCodes: hasStartCodes)
      reader.read(accessUnit)
      clock.begin(fullness: reader.bufferFullness(at: accessUnit))
    }
    if !accessUnit.role.isSecondField { lastEntry = accessUnit.role.start == .closed ? accessUnit : nil }
    lastDecoding = max(lastDecoding ?? .min, accessUnit.decoding)
    lastPresentation = max(lastPresentation ?? .min, accessUnit.presentation)
    clock.take(accessUnit)
    return leaving
  }

  /// An access unit, if it is the first one behind another buffering period than in the source: with a removal delay that
  /// counts from there (D.2.3).
  private mutating func recounted(_ accessUnit: AccessUnit) -> [UInt8] {
    guard var reader = recount else { return accessUnit.bytes }
    recount = nil
    reader.read(accessUnit)
    guard let sps = reader.sequenceParameterSet(of: accessUnit), let tick = Codec.delayTick(sps),
      let count = clock.removalCount(of: accessUnit, tick: tick)
    else { return accessUnit.bytes }
    return reader.counting(UInt32(truncatingIfNeeded: count), sps, accessUnit.bytes)
  }

  /// An access unit behind those that left. An IRAP picture or a recovery point begins a coded video sequence if others
  /// than the source's are in front of it.
  private mutating func continued(
    _ accessUnit: AccessUnit, _ format: MediaOutput.VideoFormat, isBehindSeam: Bool, beginsAnew: Bool
  ) throws(SeamObstacle) -> AccessUnit {
    if following != nil { return try followed(accessUnit) }
    let isBeginning = accessUnit.role.start == .open && (isBehindSeam || beginsAnew && lastDecoding == nil)
    if !accessUnit.role.isIRAP, isBeginning || needsIDR && accessUnit.role.start != .closed {
      let beginning = beginning(accessUnit, format)
      let isRequired = isBehindSeam || needsIDR || accessUnit.role.isUnproven
      guard beginning != nil || !isRequired else { throw .recoveryPoint }
      return beginning ?? accessUnit
    }
    guard accessUnit.role.isIRAP, isBehindSeam || isJoined && lastDecoding == nil else { return accessUnit }
    var reader = OpenSeam<Codec>(format, hasStartCodes: hasStartCodes)
    reader.read(accessUnit)
    if let beginning = reader.beginningSequence(accessUnit) { return beginning }
    guard !isBehindSeam else { throw .damage }
    return accessUnit
  }

  /// A recovery point as an IDR picture; `nil` if it cannot be one.
  private mutating func beginning(_ accessUnit: AccessUnit, _ format: MediaOutput.VideoFormat) -> AccessUnit? {
    guard var references = Codec.continuation else { return nil }
    var (reader, beginning) = (OpenSeam<Codec>(format, hasStartCodes: hasStartCodes), accessUnit)
    reader.read(accessUnit)
    let bytes = references.begin(accessUnit, reader.packaging, reader.sets, number: beginningCount)
    guard let bytes else { return nil }
    (beginning.bytes, beginning.role.start, beginning.isRenumbered) = (bytes, .closed, true)
    // Messages of earlier pictures apply to this picture, too: it was a part of their sequence.
    let lasting = messages?.accompanying.lasting.messages(
      at: accessUnit.presentation, decoding: accessUnit.decoding)
    do throws(SeamObstacle) { beginning.bytes = try reader.adding(lasting ?? [], to: bytes) } catch { return nil }
    beginningCount += 1
    following = (reader, references)
    return beginning
  }

  /// A copied access unit behind a seam in front of a recovery point.
  private mutating func followed(_ accessUnit: AccessUnit) throws(SeamObstacle) -> AccessUnit {
    guard var (reader, references) = following else { return accessUnit }
    following = nil
    reader.read(accessUnit)
    var copied = accessUnit
    if let (bytes, count) = try references.next(accessUnit, reader.packaging, reader.sets) {
      copied.bytes = bytes
      removedOperationCount += count
    }
    following = (reader, references)
    return copied
  }

  private mutating func continueSeam(
    _ accessUnit: AccessUnit, _ format: MediaOutput.VideoFormat
  ) throws(SeamObstacle) {
    if open == nil {
      open = OpenSeam(format, hasStartCodes: hasStartCodes)
      if let messages { open?.accompanying.lasting = messages.accompanying.lasting }
    }
    guard var seam = open else { return }
    // A copy of it would be costly.
    open = nil
    seam.read(accessUnit)
    guard !seam.hasLayers else { throw .unsupported("it has several layers") }
    if accessUnit.disposition == .encoded, let spsNALUnit = try seam.spsNALUnit(of: accessUnit) {
      if let target = seam.target {
        guard target.spsNALUnit == spsNALUnit else { throw .formatChange }
      } else {
        let target = try found(spsNALUnit, seam.sets)
        seam.target = target
        let sps = seam.sequenceParameterSet(of: accessUnit)
        let isConstant = sps.flatMap { Codec.constantBitRate($0, fullness: 0) } != nil
        seam.fullness = target.settings.rateLimit.map {
          clock.fullness(
            at: accessUnit.presentation &- (seam.depth ?? 0), presentation: accessUnit.presentation, $0,
            usual: target.settings.initialFullness, isConstant: isConstant)
        }
      }
    }
    seam.take(accessUnit)
    open = seam
  }

  /// Decoding times that ascend, and lie between those of the neighbors.
  ///
  /// - Parameters:
  ///   - presentations: ascending.
  ///   - depth: how much earlier the source decodes an entry than it shows it.
  private func decodingTimes(of presentations: [Int64], before next: AccessUnit?, depth: Int64) -> [Int64] {
    guard let first = presentations.first else { return [] }
    let delay = next.map { $0.presentation &- $0.decoding } ?? depth
    // Pictures of the seam are shown behind those that are copied in front of it.
    let room = lastDecoding.map { first.subtractingReportingOverflow($0).partialValue } ?? 0
    let step = max(room / (Int64(presentations.count) + 1), 1)
    var last = lastDecoding
    return presentations.map { presentation in
      let time = max(presentation &- delay, last.map { $0 &+ step } ?? .min)
      last = min(time, presentation)
      return min(time, presentation)
    }
  }
}
