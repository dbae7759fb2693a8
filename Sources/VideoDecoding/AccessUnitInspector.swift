// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// Reads of each access unit what the session decides by, and keeps the parameter sets in force.
struct AccessUnitInspector {
  private var inspector = H264.AccessUnitInspector()
  private let packaging: NALPackaging
  /// All parameter sets in force, packaged as access units are. Shared, not copied, by all who remember it.
  private(set) var parameterSets: [UInt8] = []
  /// `PrevRefFrameNum` (H.264 7.4.3); nil after a start from nothing.
  private var previousReferenceNumber: UInt32?
  /// `frame_num` of the picture at which the last recovery point is reached.
  private var recoveryNumber: UInt32?
  /// What the pictures since the last random access point are coded with.
  private var sequence: H264.SequenceParameterSet?
  /// The stream marks its random access points by recovery point SEI: pictures of intra slices alone are none then.
  private var marksRecoveryPoints = false
  /// Which references are there, where decoding began, or goes on after damage, at an intra picture.
  private var references = H264.ReferenceAvailability()
  /// Where references are followed from; nil when they are not.
  private(set) var followsReferencesFrom: UInt64?
  /// A parameter set has come that libavcodec must not see; it may come again.
  private var hasRefusedSets = false

  init(lengthSize: NALLengthSize?) {
    packaging = lengthSize.map { .lengthPrefixed($0) } ?? .annexB
  }

  /// References are forgotten: the next picture need not follow the last one.
  mutating func reset() {
    inspector.reset()
    previousReferenceNumber = nil
    recoveryNumber = nil
  }

  /// Pictures before the next one cannot be referred to any more.
  mutating func forgetReferences() { followsReferencesFrom = nil }

  /// Follows references from intra picture `index` on, which is the next one.
  mutating func followReferences(from index: UInt64) {
    references = H264.ReferenceAvailability()
    followsReferencesFrom = index
  }

  /// Takes the next picture, in decoding order and once only.
  ///
  /// - Returns: the access unit before which it refers to nothing; nil where that is not known.
  mutating func referencesStart(of unit: Submission) -> UInt64? {
    if unit.summary.randomAccess == .idr { followsReferencesFrom = nil }
    guard let since = followsReferencesFrom, unit.summary.nalUnitType != nil else { return nil }
    let isWhole = references.next(
      unit.packet.bytes, packaging: packaging, isSecondField: unit.summary.isSecondField,
      parameterSets: inspector.parameterSets)
    return isWhole ? since : nil
  }

  /// Takes up parameter sets that come beside the stream. Those that cannot be read are left out.
  mutating func insert(parameterSets nalUnits: [[UInt8]]) {
    for nalUnit in nalUnits { _ = try? inspector.parameterSets.insert(nalUnit.span) }
    repackage()
  }

  /// Reads an access unit. What cannot be read is left out: libavcodec has the last word on it.
  mutating func inspect(_ accessUnit: Span<UInt8>) -> AccessUnitSummary {
    let info = inspector.inspect(accessUnit, packaging: packaging, depth: .referenceMarking)
    if info.changesParameterSets { repackage() }
    var summary = AccessUnitSummary()
    if info.hasParameterSets, info.changesParameterSets || info.error != nil || hasRefusedSets {
      summary.patches = patches(for: accessUnit)
    }
    if info.hasPicture {
      let type: H264.NALUnitType = info.randomAccess == .idr ? .idrSlice : .slice
      summary.nalUnitType = (info.slice?.nalUnitType ?? type).rawValue
    }
    summary.isIntra = info.isIntra
    summary.isSecondField = info.isSecondField
    switch info.randomAccess {
    case .none: break
    // libavcodec goes by the first slice, should slices of another picture have got in behind it.
    case .idr where info.slice == nil || info.slice?.nalUnitType == .idrSlice: summary.randomAccess = .idr
    case .idr, .irap: break
    case .recoveryPoint(let point):
      summary.randomAccess = .recoveryPoint(frameCount: Int(point.frameCount))
      marksRecoveryPoints = true
    }
    if summary.randomAccess == .none && info.isIntra && !marksRecoveryPoints { summary.randomAccess = .intra }
    guard let slice = info.slice else {
      // What cannot be read may be referred to.
      summary.isReference = info.hasPicture
      return summary
    }
    follow(slice, &summary)
    // Arbitrary slice order is legal, so all slices are asked; nearly always the first one answers.
    if slice.firstMacroblock != 0 { summary.isIncomplete = !hasFirstSlice(accessUnit) }
    return summary
  }

  private func hasFirstSlice(_ accessUnit: Span<UInt8>) -> Bool {
    for range in packaging.nalUnits(of: accessUnit)
    where H264.SliceHeader.startsAtFirstMacroblock(accessUnit.extracting(range)) == true {
      return true
    }
    return false
  }

  /// The parameter sets in an access unit that libavcodec must not see.
  private mutating func patches(for accessUnit: Span<UInt8>) -> [PacketPool.Patch] {
    var patches: [PacketPool.Patch] = []
    for range in packaging.nalUnits(of: accessUnit) {
      if let patch = RefusedParameterSets.patch(accessUnit, range, sets: inspector.parameterSets) {
        patches.append(patch)
      }
    }
    hasRefusedSets = hasRefusedSets || !patches.isEmpty
    return patches
  }

  private mutating func follow(_ slice: H264.SliceHeader, _ summary: inout AccessUnitSummary) {
    summary.isField = slice.isField
    summary.isReference = slice.isReference
    guard let sps = inspector.parameterSets.sequenceParameterSet(slice.sequenceParameterSetID) else { return }
    if summary.randomAccess.isMarked || sequence == nil {
      // Not asked at other pictures: a damaged SPS that is put right before the next point ends nothing.
      if let sequence, !slice.isIDR { summary.beginsOtherSequence = !sps.codesPictures(like: sequence) }
      sequence = sps
    }
    let mask: UInt32 = (1 << UInt32(sps.log2MaximumFrameNumber)) - 1
    if case .recoveryPoint(let frameCount) = summary.randomAccess {
      recoveryNumber = (slice.frameNumber &+ UInt32(clamping: frameCount)) & mask
    }
    if slice.isIDR || recoveryNumber == slice.frameNumber {
      summary.completesRecovery = true
      recoveryNumber = nil
    }
    if let previous = previousReferenceNumber, !slice.isIDR, !sps.allowsFrameNumberGaps {
      summary.followsGap = slice.frameNumber != previous && slice.frameNumber != (previous + 1) & mask
    }
    if slice.isReference { previousReferenceNumber = slice.resetsPictureOrderCount ? 0 : slice.frameNumber }
  }

  private mutating func repackage() {
    let sets = inspector.parameterSets
    var bytes: [UInt8] = []
    for nalUnit in sets.sequenceParameterSetNALUnits + sets.extensionNALUnits + sets.pictureParameterSetNALUnits
    where !RefusedParameterSets.isRefused(nalUnit.span, sets: sets) {
      switch packaging {
      case .annexB:
        bytes.append(contentsOf: [0, 0, 0, 1])
      case .lengthPrefixed(let size):
        guard nalUnit.count <= size.maximumNALUnitLength else { continue }
        for index in (0..<size.byteCount).reversed() {
          bytes.append(UInt8(truncatingIfNeeded: nalUnit.count >> (8 * index)))
        }
      }
      bytes.append(contentsOf: nalUnit)
    }
    parameterSets = bytes
  }
}
