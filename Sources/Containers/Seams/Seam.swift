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
/// - H.264: the encoder's PPS under the source's own SPS, so that the copy has one format.
/// - H.265: the encoder's own. The copied picture behind a seam activates the source's again, as an IDR or BLA picture.
///
/// A recovery point of H.264 keeps its numbers behind a seam, if those of the encoded pictures can lead up to them.
/// Otherwise, and at the beginning of an exact range, it becomes an IDR picture, from which later pictures are counted.
///
/// In containers with a description of the video, the description has them. Elsewhere, they are in front of the IDR
/// picture.
///
/// A seam leaves only if it shows the pictures of the source. It is decoded as it stands in the copy, with the first
/// copied access units behind it, which are held until then. Number, order and times of pictures must be right, and
/// copied pictures must have the samples of the source: see ``SeamCheck``. Recovery points that become IDR pictures are
/// verified in the same way, and so are intra pictures that promise nothing: see ``SeamProof``.
struct Seam<Codec: SeamSyntax>: SeamMaking {
  private typealias AccessUnit = MediaOutput.AccessUnit

  private let quality: Double
  private let hasStartCodes: Bool
  /// The access units of the open seam; `nil` for none.
  private var open: OpenSeam<Codec>?
  /// The copied access units behind the open seam; `nil` while they have not begun.
  private var group: SeamGroup?
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
  /// Copied pictures behind a seam in front of a recovery point, up to the next IDR picture; `nil` otherwise.
  private var following: (reader: OpenSeam<Codec>, references: any SeamContinuing<Codec>)?
  /// Recovery points that became IDR pictures.
  private var beginningCount = 0
  private var clock = RemovalClock()
  private(set) var encodedCount = 0
  private(set) var lowestPSNR: Double?
  private(set) var removedOperationCount = 0

  /// - Parameters:
  ///   - quality: of encoded pictures; see `EncoderSettings.quality`.
  ///   - hasStartCodes: whether NAL units of the copy have start codes.
  init(quality: Double, hasStartCodes: Bool) { (self.quality, self.hasStartCodes) = (quality, hasStartCodes) }

  var openObstacle: SeamObstacle? { Codec.continuation == nil ? .recoveryPoint : nil }

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
    _ accessUnit: MediaOutput.AccessUnit, _ format: MediaOutput.VideoFormat, isExact: Bool
  ) throws(CopyRefusal) -> [MediaOutput.AccessUnit] {
    do throws(SeamObstacle) {
      switch accessUnit.disposition {
      case .copied, .hidden: return try copy(accessUnit, format, isExact: isExact)
      case .needed, .encoded:
        let leaving = try finishGroup(endsCopying: true)
        try continueSeam(accessUnit, format)
        return leaving
      }
    } catch { throw .seam(error) }
  }

  mutating func finishRange() throws(CopyRefusal) -> [MediaOutput.AccessUnit] {
    do throws(SeamObstacle) {
      let leaving = try finishGroup(endsCopying: true) + finishSeam()
      (lastEntry, lastDecoding, lastPresentation, isJoined, following, samples) = (nil, nil, nil, true, nil, [:])
      clock.finishRange()
      return leaving
    } catch { throw .seam(error) }
  }

  // MARK: Copied pictures

  /// Takes a copied access unit. Behind a seam, it is held.
  private mutating func copy(
    _ accessUnit: AccessUnit, _ format: MediaOutput.VideoFormat, isExact: Bool
  ) throws(SeamObstacle) -> [AccessUnit] {
    var leaving: [AccessUnit] = []
    if group != nil {
      guard try group?.take(accessUnit) == false else {
        proof?.take(accessUnit)
        return []
      }
      leaving = try finishGroup(endsCopying: accessUnit.role.start == .closed)
    }
    if let seam = open, seam.coder != nil, seam.formatNumber != accessUnit.format {
      // They have no parameter sets in common.
      guard !accessUnit.role.isUnproven else { throw .verification }
      leaving += try finishSeam(before: accessUnit)
      leaving.append(try copied(accessUnit, format, isBehindSeam: true, isExact: isExact))
    } else if let coder = try coder(before: accessUnit, format, isExact: isExact) {
      var first = accessUnit
      if open?.coder == nil { first = completed(first, format) }
      if accessUnit.role.isUnproven {
        proof = SeamProof(behind: open ?? OpenSeam(format, hasStartCodes: hasStartCodes))
        proof?.take(accessUnit)
      }
      try coder.copy(first)
      group = SeamGroup(accessUnit, format, isExact: isExact, coder)
    } else {
      open = nil
      leaving.append(try copied(accessUnit, format, isBehindSeam: false, isExact: isExact))
    }
    return leaving
  }

  /// The decoder of the open seam, or another one if a recovery point may become an IDR picture; `nil` if there is
  /// nothing to verify.
  private mutating func coder(
    before next: AccessUnit, _ format: MediaOutput.VideoFormat, isExact: Bool
  ) throws(SeamObstacle) -> SeamCoder? {
    if next.role.isUnproven { try open?.decodeWaiting() }
    if let coder = open?.coder { return coder }
    let isBeginning = isExact && lastDecoding == nil && next.role.start == .open && !next.role.isIRAP
    guard isBeginning, Codec.continuation != nil else { return nil }
    return try SeamCoder(nil, format, hasStartCodes: hasStartCodes)
  }

  /// Verifies the open seam with the access units behind it.
  ///
  /// - Parameter endsCopying: whether no picture follows that may refer to those in front of the seam.
  /// - Returns: all of them.
  private mutating func finishGroup(endsCopying: Bool) throws(SeamObstacle) -> [AccessUnit] {
    guard let group, let first = group.accessUnits.first else { return [] }
    let proof = proof
    (self.group, self.proof) = (nil, nil)
    let pictures = try group.coder.finish()
    var leaving = try close(pictures.encoded, before: first)
    let encodedCount = leaving.count
    for accessUnit in group.accessUnits {
      let isBehindSeam = encodedCount > 0 && leaving.count == encodedCount
      leaving.append(try copied(accessUnit, group.format, isBehindSeam: isBehindSeam, isExact: group.isExact))
    }
    // Access units that are copied as they are need no check.
    guard encodedCount > 0 || following != nil else { return leaving }
    var written = leaving.prefix(encodedCount + pictures.copiedCount)
    if encodedCount == 0, !written.isEmpty { written[0] = completed(written[0], group.format) }
    try verify(written, group.format, pictures.check)
    if let proof {
      let isWhole = endsCopying && pictures.copiedCount == group.accessUnits.count
      guard isWhole || pictures.copiedCount >= proof.neededCount ?? .max else { throw .verification }
      for picture in pictures.check.pictures { samples[picture.presentation] = picture.checksum }
    }
    return leaving
  }

  /// An access unit with the parameter sets that it lacks, so decoding can begin with it.
  private func completed(_ accessUnit: AccessUnit, _ format: MediaOutput.VideoFormat) -> AccessUnit {
    var complete = accessUnit
    complete.bytes = OpenSeam<Codec>(format, hasStartCodes: hasStartCodes).completed(accessUnit)
    return complete
  }

  /// Verifies the open seam without access units behind it.
  ///
  /// - Parameter next: the access unit that follows; `nil` at the end of a range.
  /// - Returns: its encoded pictures.
  private mutating func finishSeam(before next: AccessUnit? = nil) throws(SeamObstacle) -> [AccessUnit] {
    guard let seam = open, let pictures = try seam.coder?.finish() else {
      open = nil
      return []
    }
    let leaving = try close(pictures.encoded, before: next)
    try verify(leaving[...], seam.format, pictures.check)
    return leaving
  }

  private func verify(
    _ written: ArraySlice<AccessUnit>, _ format: MediaOutput.VideoFormat, _ check: SeamCheck
  ) throws(SeamObstacle) {
    guard check.passes(written, format, hasStartCodes: hasStartCodes) else { throw .verification }
  }

  /// An access unit that leaves as it is, or with the numbers that it must have in the copy.
  private mutating func copied(
    _ accessUnit: AccessUnit, _ format: MediaOutput.VideoFormat, isBehindSeam: Bool, isExact: Bool
  ) throws(SeamObstacle) -> AccessUnit {
    if accessUnit.role.start == .closed { following = nil }
    var leaving = try continued(accessUnit, format, isBehindSeam: isBehindSeam, isExact: isExact)
    // Nothing promises that decoding can begin with it.
    if leaving.role.isUnproven, leaving.role.start == .open { leaving.role.start = .none }
    lastEntry = accessUnit.role.start == .closed ? accessUnit : nil
    lastDecoding = max(lastDecoding ?? .min, accessUnit.decoding)
    lastPresentation = max(lastPresentation ?? .min, accessUnit.presentation)
    clock.take(accessUnit)
    return leaving
  }

  /// An access unit behind those that left. An IRAP picture or a recovery point begins a coded video sequence if others
  /// than the source's are in front of it.
  private mutating func continued(
    _ accessUnit: AccessUnit, _ format: MediaOutput.VideoFormat, isBehindSeam: Bool, isExact: Bool
  ) throws(SeamObstacle) -> AccessUnit {
    if following != nil { return try followed(accessUnit) }
    if accessUnit.role.start == .open, !accessUnit.role.isIRAP, isBehindSeam || isExact && lastDecoding == nil {
      let beginning = beginning(accessUnit, format)
      guard beginning != nil || !isBehindSeam && !accessUnit.role.isUnproven else { throw .recoveryPoint }
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
    (beginning.bytes, beginning.role.start) = (bytes, .closed)
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
    if open == nil { open = OpenSeam(format, hasStartCodes: hasStartCodes) }
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
        seam.fullness = target.settings.rateLimit.map {
          clock.fullness(
            at: accessUnit.presentation &- (seam.depth ?? 0), presentation: accessUnit.presentation, $0,
            initial: target.settings.initialFullness)
        }
      }
    }
    try seam.take(accessUnit, samples)
    open = seam
  }

  // MARK: Encoded pictures

  /// Ends the open seam.
  ///
  /// - Parameters:
  ///   - pictures: of the encoder.
  ///   - next: the access unit that follows; `nil` at the end of a range.
  /// - Returns: its encoded pictures, in the copy's form.
  private mutating func close(
    _ pictures: [SeamCoder.Picture], before next: AccessUnit?
  ) throws(SeamObstacle) -> [AccessUnit] {
    guard var seam = open else { return [] }
    open = nil
    guard let target = seam.target, let coder = seam.coder else { return [] }
    // Copied pictures in front of the seam are shown in front of it.
    if let first = pictures.first, let lastPresentation, first.accessUnit.presentation <= lastPresentation {
      throw .verification
    }
    var place = SeamPlace<Codec>(
      count: pictures.count, seam: seamCount, neighbors: [lastEntry, next].compactMap { $0.flatMap(seam.header(of:)) },
      isTopFieldFirst: coder.isTopFieldFirst)
    seamCount += 1
    if let next, next.role.start != .closed, !next.role.isIRAP {
      seam.read(next)
      guard Codec.continuation != nil, let header = seam.header(of: next) else { throw .recoveryPoint }
      let spsNALUnit = try seam.spsNALUnit(of: next)
      if spsNALUnit == target.spsNALUnit, target.leads(to: header, place) { place.recoveryPoint = header }
    }
    let times = decodingTimes(of: pictures.map(\.accessUnit.presentation), before: next, depth: seam.depth ?? 0)
    var accessUnits = pictures.map(\.accessUnit)
    for (number, time) in times.enumerated() { accessUnits[number].decoding = time }
    let delays = clock.delays(of: accessUnits, tick: seam.accompanying.sps.flatMap(Codec.delayTick))
    var (leaving, sets): ([AccessUnit], Codec.ParameterSets) = ([], Codec.ParameterSets())
    for (number, picture) in pictures.enumerated() {
      place.picture = number
      var accessUnit = accessUnits[number]
      var nalUnits = seam.accompanying.nalUnits(
        around: try target.slices(of: picture.packet, &sets, place), presentation: accessUnit.presentation,
        fullness: number == 0 ? seam.fullness ?? target.settings.initialFullness : nil,
        delays.isEmpty ? nil : delays[number], isTopFieldFirst: place.isTopFieldFirst)
      if seam.hasDelimiters { nalUnits.insert(Codec.accessUnitDelimiter(temporalID: 0), at: 0) }
      accessUnit.bytes = try seam.packaged(nalUnits)
      (accessUnit.isKeyframe, accessUnit.role) = (number == 0, AccessUnitRole())
      if number == 0 {
        accessUnit.role.start = .closed
        (accessUnit.role.isIntra, accessUnit.role.isRandomAccess) = (true, true)
        accessUnit.role.parameterSets =
          seam.sets.nalUnits.filter { !target.nalUnits.contains($0) } + target.nalUnits
        if seam.isInBand { accessUnit.bytes = seam.completed(accessUnit) }
      }
      leaving.append(accessUnit)
      clock.remove(accessUnit)
    }
    encodedCount += pictures.count
    if let psnr = coder.lowestPSNR { lowestPSNR = min(lowestPSNR ?? psnr, psnr) }
    if place.recoveryPoint != nil { try follow(leaving, of: seam, target) }
    lastEntry = nil
    lastDecoding = times.last
    return leaving
  }

  /// Begins to follow copied pictures behind encoded ones.
  private mutating func follow(
    _ encoded: [AccessUnit], of seam: OpenSeam<Codec>, _ target: Codec.SeamSets
  ) throws(SeamObstacle) {
    guard var references = Codec.continuation else { return }
    var reader = seam
    reader.endDecoding()
    var sets = reader.sets
    for nalUnit in target.nalUnits { do throws(BitstreamError) { try sets.insert(nalUnit.span) } catch {} }
    for accessUnit in encoded { _ = try references.next(accessUnit, reader.packaging, sets) }
    following = (reader, references)
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
