// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// The part that the followers of all codecs share: the parameter sets so far, and the sets that libavcodec must get.
struct AccessUnitInspection<Codec: SessionCodec> {
  /// The parameter sets up to the last access unit.
  private(set) var parameterSets = Codec.ParameterSets()
  /// The parameter sets' change count at the last access unit; nil before the first.
  private var generation: UInt64?
  /// Reads access units for which the session's user has not done so.
  private var reader: Codec.Inspector?
  private var display = DisplayTracker()
  let packaging: NALPackaging
  /// All parameter sets that are passed to libavcodec, and stand-ins for missing ones; packaged.
  private(set) var packagedSets: [UInt8] = []
  /// The ids of the VPS among them.
  private var videoParameterSetIDs: Set<VideoParameterSetID> = []
  /// A parameter set was withheld from libavcodec, and may come again.
  private var hasWithheldSets = false

  init(lengthSize: NALLengthSize?) { packaging = NALPackaging(lengthSize: lengthSize) }

  /// Takes parameter sets from outside the stream.
  mutating func insert(_ nalUnits: [[UInt8]]) {
    for nalUnit in nalUnits { _ = try? parameterSets.insert(nalUnit.span) }
    reader?.insert(nalUnits)
    repackage()
  }

  /// Reads an access unit.
  mutating func read(_ accessUnit: Span<UInt8>) -> AccessUnitDescription {
    var reader = self.reader.take() ?? Codec.Inspector(parameterSets: parameterSets)
    defer { self.reader = reader }
    return Codec.describe(accessUnit, packaging: packaging, with: &reader, &display)
  }

  /// Takes the contents of the next access unit, as far as they do not depend on the pictures before it.
  mutating func take(
    _ accessUnit: Span<UInt8>, _ info: AccessUnitInfo<Codec>, _ sets: Codec.ParameterSets
  ) -> DecodingSummary {
    // Code that reads ahead of the session may have met a parameter set before.
    let isChanged = info.changesParameterSets || generation.map { $0 != info.parameterSetGeneration } ?? false
    if isChanged || generation == nil { parameterSets = sets }
    generation = info.parameterSetGeneration
    var summary = DecodingSummary()
    if info.hasParameterSets, isChanged || info.error != nil || hasWithheldSets {
      summary.patches = patches(for: accessUnit)
    }
    if isChanged {
      summary.standIns = standIns(for: accessUnit)
      repackage()
    }
    summary.changesParameterSets = isChanged
    summary.endsSequence = info.endsSequence
    summary.isIntra = info.isIntra
    return summary
  }

  /// NAL units, packaged in the access units' format. Drops NAL units that are too long for the length prefix.
  func packaged(_ nalUnits: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    for nalUnit in nalUnits { try? packaging.append(nalUnit.span, to: &bytes) }
    return bytes
  }

  /// Whether two access units have the same slices, byte for byte.
  func hasSameSlices(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
    let (ranges, others) = (slices(of: one), slices(of: other))
    return ranges.count == others.count
      && zip(ranges, others).allSatisfy { range, otherRange in
        range.count == otherRange.count
          && zip(range, otherRange).allSatisfy { one[$0] == other[$1] }
      }
  }

  private func slices(of accessUnit: Span<UInt8>) -> [Range<Int>] {
    packaging.nalUnits(of: accessUnit).filter { range in
      !range.isEmpty && Codec.NALUnitType(headerByte: accessUnit[range.lowerBound]).isVCL
    }
  }

  /// The parameter sets that libavcodec needs in front of an access unit that changes parameter sets. These are a VPS
  /// if libavcodec has none, and the sets that it forgets.
  ///
  /// When an SPS replaces another, libavcodec forgets the PPSs that refer to it; in the Recommendations they stay.
  /// Those that the access unit does not repeat go in front of it, together with the SPS, which then changes nothing.
  private func standIns(for accessUnit: Span<UInt8>) -> [UInt8] {
    let isKnown = { (nalUnit: [UInt8]) in
      Codec.videoParameterSetID(of: nalUnit.span).map(videoParameterSetIDs.contains) ?? false
    }
    let sets = setsInForce.filter { !isKnown($0) }
    var replaces = false
    var brought: Set<[UInt8]> = []
    for range in packaging.nalUnits(of: accessUnit) {
      let role = Codec.role(of: accessUnit.extracting(range))
      if role == .sequenceParameterSet { replaces = true }
      guard role == .pictureParameterSet else { continue }
      var bytes: [UInt8] = []
      try? packaging.append(accessUnit.extracting(range), to: &bytes)
      brought.insert(bytes)
    }
    let isForgotten = { (nalUnit: [UInt8]) in
      Codec.role(of: nalUnit.span) == .pictureParameterSet && !brought.contains(packaged([nalUnit]))
    }
    let repeatsAll =
      replaces && sets.reduce(0, { $0 + $1.count }) <= Self.standInLimit && sets.contains(where: isForgotten)
    return packaged(repeatsAll ? sets : Codec.standIns(for: parameterSets).filter { !isKnown($0) })
  }

  /// Bytes of parameter sets at most that are repeated in front of an access unit: an SPS of 31 bytes is no reason to
  /// copy megabytes.
  private static var standInLimit: Int { 16_384 }

  /// The parameter sets in an access unit that are withheld from libavcodec: they reach it as filler data.
  private mutating func patches(for accessUnit: Span<UInt8>) -> [PacketPool.Patch] {
    var patches: [PacketPool.Patch] = []
    for range in packaging.nalUnits(of: accessUnit) where isWithheld(accessUnit.extracting(range)) {
      patches.append(PacketPool.Patch(offset: range.lowerBound, byte: Codec.fillerHeader))
    }
    hasWithheldSets = hasWithheldSets || !patches.isEmpty
    return patches
  }

  /// Whether a NAL unit is withheld from libavcodec: one that it refuses noisily, or an unreadable one that would
  /// replace a readable parameter set with the same id. A VPS that changes would make it forget all that refers to it,
  /// and so the references of the next pictures, although decoding needs nothing of a VPS.
  private func isWithheld(_ nalUnit: Span<UInt8>) -> Bool {
    guard Codec.role(of: nalUnit).isParameterSet else { return false }
    if let id = Codec.videoParameterSetID(of: nalUnit), videoParameterSetIDs.contains(id) { return true }
    if Codec.isRefused(nalUnit, sets: parameterSets) { return true }
    guard parameterSets.holdsSet(withIDOf: nalUnit) else { return false }
    var sets = parameterSets
    do throws(BitstreamError) {
      _ = try sets.insert(nalUnit)
      return false
    } catch {
      return true
    }
  }

  /// The parameter sets of ``packagedSets``, not packaged.
  private var setsInForce: [[UInt8]] {
    let sets = parameterSets
    return Codec.standIns(for: sets)
      + sets.nalUnits.filter { nalUnit in
        Codec.typesInConfigurationRecord.contains(Codec.NALUnitType(headerByte: nalUnit[0]).rawValue)
          && !Codec.isRefused(nalUnit.span, sets: sets)
      }
  }

  private mutating func repackage() {
    let sets = setsInForce
    packagedSets = packaged(sets)
    videoParameterSetIDs = Set(sets.compactMap { Codec.videoParameterSetID(of: $0.span) })
  }
}
