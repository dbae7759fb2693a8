// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// What inspectors of all codecs do alike: one pass over an access unit, and the parameter sets in force.
struct AccessUnitInspection<Codec: SessionCodec> {
  private(set) var inspector = Codec.Inspector(parameterSets: Codec.ParameterSets())
  let packaging: NALPackaging
  /// All parameter sets in force that libavcodec may see, and stand-ins for those it misses; packaged.
  private(set) var packagedSets: [UInt8] = []
  /// A parameter set has come that libavcodec must not see; it may come again.
  private var hasRefusedSets = false

  init(lengthSize: NALLengthSize?) {
    packaging = lengthSize.map { .lengthPrefixed($0) } ?? .annexB
  }

  /// The next picture need not follow the last one.
  mutating func reset() { inspector.reset() }

  /// Takes up parameter sets that come beside the stream.
  mutating func insert(_ nalUnits: [[UInt8]]) {
    for nalUnit in nalUnits { _ = try? inspector.parameterSets.insert(nalUnit.span) }
    repackage()
  }

  /// Reads an access unit as far as that goes without knowing the pictures before it.
  mutating func inspect(_ accessUnit: Span<UInt8>) -> (info: AccessUnitInfo<Codec>, summary: AccessUnitSummary) {
    let info = inspector.inspect(accessUnit, packaging: packaging, depth: .referenceMarking)
    if info.changesParameterSets { repackage() }
    var summary = AccessUnitSummary()
    if info.hasParameterSets, info.changesParameterSets || info.error != nil || hasRefusedSets {
      summary.patches = patches(for: accessUnit)
    }
    if info.changesParameterSets { summary.standIns = standIns(for: accessUnit) }
    summary.changesParameterSets = info.changesParameterSets
    summary.endsSequence = info.endsSequence
    summary.isIntra = info.isIntra
    return (info, summary)
  }

  /// NAL units one after another, as access units have them; those too long for the size of lengths are left out.
  func packaged(_ nalUnits: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    for nalUnit in nalUnits { try? packaging.append(nalUnit.span, to: &bytes) }
    return bytes
  }

  /// Where an SPS, or a VPS, takes the place of another, libavcodec forgets all that refers to it; by the standard it
  /// stays. What the access unit does not bring again goes in front of it, together with the set that is new, which is
  /// then no change any more.
  private func standIns(for accessUnit: Span<UInt8>) -> [UInt8] {
    let sets = inspector.parameterSets
    guard packagedSets.count <= Self.standInLimit else { return packaged(Codec.standIns(for: sets)) }
    var replaces = false
    var brought: Set<[UInt8]> = []
    for range in packaging.nalUnits(of: accessUnit) {
      let role = Codec.role(of: accessUnit.extracting(range))
      guard role.isParameterSet else { continue }
      if role != .pictureParameterSet { replaces = true }
      var bytes: [UInt8] = []
      try? packaging.append(accessUnit.extracting(range), to: &bytes)
      brought.insert(bytes)
    }
    let isForgotten = { (nalUnit: [UInt8]) in
      [.sequenceParameterSet, .pictureParameterSet].contains(Codec.role(of: nalUnit.span))
        && !brought.contains(packaged([nalUnit]))
    }
    return replaces && sets.nalUnits.contains(where: isForgotten) ? packagedSets : packaged(Codec.standIns(for: sets))
  }

  /// Parameter sets of so many bytes at most go in front of an access unit again: an SPS of 31 bytes is no reason to copy
  /// megabytes.
  private static var standInLimit: Int { 16_384 }

  /// The parameter sets in an access unit that libavcodec must not see: they reach it as filler data.
  private mutating func patches(for accessUnit: Span<UInt8>) -> [PacketPool.Patch] {
    var patches: [PacketPool.Patch] = []
    for range in packaging.nalUnits(of: accessUnit) where isWithheld(accessUnit.extracting(range)) {
      patches.append(PacketPool.Patch(offset: range.lowerBound, byte: Codec.fillerHeader))
    }
    hasRefusedSets = hasRefusedSets || !patches.isEmpty
    return patches
  }

  /// Whether libavcodec is not to have a NAL unit: it refuses it noisily, or would give up for it a parameter set of the
  /// same id that can be read. Without such a namesake it may try.
  private func isWithheld(_ nalUnit: Span<UInt8>) -> Bool {
    guard Codec.role(of: nalUnit).isParameterSet else { return false }
    if Codec.isRefused(nalUnit, sets: inspector.parameterSets) { return true }
    guard inspector.parameterSets.holdsNamesake(of: nalUnit) else { return false }
    var sets = inspector.parameterSets
    do throws(BitstreamError) {
      _ = try sets.insert(nalUnit)
      return false
    } catch {
      return true
    }
  }

  private mutating func repackage() {
    let sets = inspector.parameterSets
    packagedSets = packaged(
      Codec.standIns(for: sets)
        + sets.nalUnits.filter { nalUnit in
          Codec.typesInConfigurationRecord.contains(Codec.NALUnitType(headerByte: nalUnit[0]).rawValue)
            && !Codec.isRefused(nalUnit.span, sets: sets)
        })
  }
}
