// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// The encoded pictures of a seam, in the form that they have in the copy.
struct SeamEncoding<Codec: SeamSyntax> {
  typealias AccessUnit = MediaOutput.AccessUnit

  let target: Codec.SeamSets
  /// The source's side.
  private(set) var seam: OpenSeam<Codec>
  /// How full the coded picture buffer is in front of them, from 0 to 1.
  let fullness: Double
  /// The access units that they replace, with their times in the copy, in decoding order.
  private let accessUnits: [AccessUnit]
  /// When the source decodes these.
  private let sourceTimes: [Int64]
  /// `nil` for pictures without delays.
  private let delays: [RemovalClock.Delays]?
  private var place: SeamPlace<Codec>
  /// The first slice of a recovery point behind the seam, up to which their numbers might lead.
  private var recoveryPoint: Codec.SliceHeader?
  /// The encoder's parameter sets.
  private var sets = Codec.ParameterSets()
  /// `nil` if bits do not come at a constant rate.
  private var buffer: ConstantBitRate?
  /// For that: when each is removed, and the picture behind them, in seconds since the first.
  private var removals: [Double] = []
  /// How full the buffer is when the one behind the seam is removed, at most, from 0 to 1.
  private var fullnessBehind = 1.0

  /// Begins to encode.
  ///
  /// - Parameters:
  ///   - seam: its access units have been taken.
  ///   - times: of their decoding, ascending.
  ///   - next: the access unit that follows; `nil` at the end of a range.
  ///   - neighbors: entries on both sides of the seam that are copied.
  ///   - number: of the seam, from 0.
  init(
    _ seam: OpenSeam<Codec>, _ target: Codec.SeamSets, _ accessUnits: [AccessUnit], times: [Int64], number: Int,
    before next: AccessUnit?, neighbors: [AccessUnit], _ clock: inout RemovalClock
  ) throws(SeamObstacle) {
    (self.seam, self.target) = (seam, target)
    self.seam.accompanying.sps = target.sps
    fullness = seam.fullness ?? target.settings.initialFullness
    sourceTimes = accessUnits.map(\.decoding)
    self.accessUnits = zip(accessUnits, times).map { accessUnit, time in
      var placed = accessUnit
      placed.decoding = time
      return placed
    }
    place = SeamPlace(count: accessUnits.count, seam: number, neighbors: neighbors.compactMap(seam.header(of:)))
    if let next, next.role.start != .closed, !next.role.isIRAP {
      self.seam.read(next)
      guard Codec.continuation != nil, let header = self.seam.header(of: next) else { throw .recoveryPoint }
      if try self.seam.spsNALUnit(of: next) == target.spsNALUnit {
        // Under such an SPS, it cannot become one.
        guard !target.needsIDRBehind else { throw .recoveryPoint }
        recoveryPoint = header
      }
    }
    let tick = seam.accompanying.sps.flatMap(Codec.delayTick)
    let delays = clock.delays(of: self.accessUnits, tick: tick)
    self.delays = delays.isEmpty ? nil : delays
    guard let sps = seam.accompanying.sps, let tick else { return }
    buffer = Codec.constantBitRate(sps, fullness: fullness)
    guard buffer != nil else { return }
    removals = [0] + delays.dropFirst().map { Double($0.removal) * tick / 1e9 }
    guard let next else {
      removals.append((removals.last ?? 0) + Double(accessUnits.last?.duration ?? 0) / 1e9)
      return
    }
    removals.append(Double(clock.removalCount(of: next, tick: tick) ?? 0) * tick / 1e9)
    var reader = self.seam
    reader.read(next)
    fullnessBehind = reader.bufferFullness(at: next) ?? 1
  }

  /// How many pictures there are.
  var count: Int { accessUnits.count }
  /// When they are shown, ascending.
  var presentations: [Int64] { accessUnits.map(\.presentation) }
  /// When the last one is decoded.
  var lastDecoding: Int64? { accessUnits.last?.decoding }
  /// Whether their numbers lead up to those of a recovery point behind them.
  var leadsToRecoveryPoint: Bool { place.recoveryPoint != nil }

  /// The access unit of the next picture.
  ///
  /// - Parameters:
  ///   - packet: from the encoder.
  ///   - isTopFieldFirst: the order of fields; `nil` if the picture is not interlaced.
  mutating func accessUnit(of packet: Packet, isTopFieldFirst: Bool?) throws(SeamObstacle) -> AccessUnit {
    let number = place.picture
    guard accessUnits.indices.contains(number), accessUnits[number].presentation == packet.timestamp else {
      throw .encoder
    }
    if number == 0 {
      place.isTopFieldFirst = isTopFieldFirst
      if let recoveryPoint, target.leads(to: recoveryPoint, place) { place.recoveryPoint = recoveryPoint }
    }
    var accessUnit = accessUnits[number]
    var source = accessUnit
    source.decoding = sourceTimes[number]
    var nalUnits = seam.accompanying.nalUnits(
      around: try target.slices(of: packet, &sets, place), of: source, fullness: number == 0 ? fullness : nil,
      delays.flatMap { $0.indices.contains(number) ? $0[number] : nil }, isTopFieldFirst: isTopFieldFirst)
    if seam.hasDelimiters { nalUnits.insert(Codec.accessUnitDelimiter(temporalID: 0), at: 0) }
    accessUnit.bytes = try seam.packaged(nalUnits)
    (accessUnit.isKeyframe, accessUnit.role) = (number == 0, AccessUnitRole())
    if number == 0 {
      accessUnit.role.start = .closed
      (accessUnit.role.isIntra, accessUnit.role.isRandomAccess) = (true, true)
      accessUnit.role.parameterSets = seam.sets.nalUnits.filter { !target.nalUnits.contains($0) } + target.nalUnits
      if seam.isInBand { accessUnit.bytes = seam.completed(accessUnit) }
    }
    accessUnit.bytes += try filler(behind: accessUnit.bytes.count, number)
    place.picture += 1
    return accessUnit
  }

  /// Filler data behind a picture, if bits come at a constant rate.
  private mutating func filler(behind byteCount: Int, _ number: Int) throws(SeamObstacle) -> [UInt8] {
    guard buffer != nil, removals.indices.contains(number + 1) else { return [] }
    let seconds = removals[number + 1] - removals[number]
    let wanted = number == count - 1 ? fullnessBehind : 1
    let room = buffer?.remove(byteCount: byteCount, for: seconds, leaving: wanted) ?? 0
    // A start code or a length, the header, one byte of filler and the end.
    return room >= Self.headerSize + 3 ? try seam.packaged([Codec.fillerData(byteCount: room - Self.headerSize)]) : []
  }

  private static var headerSize: Int { 4 }

  /// The parameter sets of the copy behind the pictures.
  var setsBehind: Codec.ParameterSets {
    var sets = seam.sets
    for nalUnit in target.nalUnits { do throws(BitstreamError) { try sets.insert(nalUnit.span) } catch {} }
    return sets
  }
}
