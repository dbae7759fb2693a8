// SPDX-License-Identifier: MPL-2.0
import H26x

/// Reads of each access unit what the session decides by, and keeps the parameter sets in force.
struct AccessUnitInspector {
  private var sets = H264.ParameterSets()
  private let lengthSize: NALLengthSize?
  /// All parameter sets in force, packaged as access units are. Shared, not copied, by all who remember it.
  private(set) var parameterSets: [UInt8] = []
  /// `PrevRefFrameNum` (7.4.3); nil after a start from nothing.
  private var previousReferenceNumber: UInt32?
  /// `frame_num` of the picture at which the last recovery point is reached.
  private var recoveryNumber: UInt32?

  init(lengthSize: NALLengthSize?) { self.lengthSize = lengthSize }

  /// References are forgotten: the next picture need not follow the last one.
  mutating func reset() {
    previousReferenceNumber = nil
    recoveryNumber = nil
  }

  /// Takes up parameter sets that come beside the stream.
  mutating func insert(parameterSet: Span<UInt8>) {
    if store(parameterSet) { repackage() }
  }

  /// Reads an access unit. What cannot be read is left out: libavcodec has the last word on it.
  mutating func inspect(_ accessUnit: Span<UInt8>) -> AccessUnitSummary {
    var summary = AccessUnitSummary()
    var hasNewSets = false
    if let lengthSize {
      var nalUnits = LengthPrefixed.NALUnits(accessUnit, lengthSize: lengthSize)
      while let range = try? nalUnits.next() {
        inspect(accessUnit.extracting(range), &summary, &hasNewSets)
      }
    } else {
      var nalUnits = AnnexB.NALUnits(accessUnit)
      while let nalUnit = nalUnits.next() {
        inspect(accessUnit.extracting(nalUnit.range), &summary, &hasNewSets)
      }
    }
    if hasNewSets { repackage() }
    return summary
  }

  private mutating func inspect(
    _ nalUnit: Span<UInt8>, _ summary: inout AccessUnitSummary, _ hasNewSets: inout Bool
  ) {
    guard nalUnit.count > 1 else { return }
    let type = H264.NALUnitType(rawValue: nalUnit[0])
    switch type {
    case .sequenceParameterSet, .pictureParameterSet, .sequenceParameterSetExtension:
      if store(nalUnit) { hasNewSets = true }
    case .supplementalEnhancementInformation:
      if let frameCount = recoveryFrameCount(nalUnit), summary.randomAccess == .none {
        summary.randomAccess = .recoveryPoint(frameCount: frameCount)
      }
    case .slice, .idrSlice, .slicePartitionA:
      guard summary.nalUnitType == nil else { return }
      summary.nalUnitType = type.rawValue
      if type == .idrSlice { summary.randomAccess = .instantaneous }
      inspect(slice: nalUnit, &summary)
    default:
      break
    }
  }

  private mutating func inspect(slice nalUnit: Span<UInt8>, _ summary: inout AccessUnitSummary) {
    // The marking syntax lies behind things that may be damaged; the identity alone will do then.
    guard
      let slice = (try? H264.SliceHeader(nalUnit: nalUnit, parameterSets: sets, depth: .referenceMarking))
        ?? (try? H264.SliceHeader(nalUnit: nalUnit, parameterSets: sets)),
      let sps = sets.sequenceParameterSet(slice.sequenceParameterSetID)
    else { return }
    summary.isField = slice.isField
    summary.isIntra = slice.isTypeOfWholePicture && slice.sliceType == .i
    let mask: UInt32 = (1 << UInt32(sps.log2MaximumFrameNumber)) - 1
    if case .recoveryPoint(let frameCount) = summary.randomAccess {
      recoveryNumber = (slice.frameNumber &+ UInt32(clamping: frameCount)) & mask
    }
    if slice.isIDR || recoveryNumber == slice.frameNumber {
      summary.completesRecovery = true
      recoveryNumber = nil
    }
    if let previous = previousReferenceNumber, !slice.isIDR, !sps.allowsFrameNumberGaps {
      let next = (previous + 1) & mask
      summary.followsGap = slice.frameNumber != previous && slice.frameNumber != next
    }
    if slice.isReference { previousReferenceNumber = slice.resetsPictureOrderCount ? 0 : slice.frameNumber }
  }

  private mutating func store(_ nalUnit: Span<UInt8>) -> Bool {
    guard let change = try? sets.insert(nalUnit) else { return false }
    return change != .unchanged
  }

  /// Recovery point SEI (D.1.8), if `nalUnit` has one.
  private func recoveryFrameCount(_ nalUnit: Span<UInt8>) -> Int? {
    var reader = BitReader(nalUnit, from: 1)
    while reader.moreRBSPData() {
      guard let type = try? variableLength(&reader), let size = try? variableLength(&reader) else { return nil }
      if type == 6 { return (try? reader.ue(in: 0...65535, "recovery_frame_cnt")).map(Int.init) }
      guard (try? reader.skip(size * 8, "sei_payload")) != nil else { return nil }
    }
    return nil
  }

  private func variableLength(_ reader: inout BitReader) throws(BitstreamError) -> Int {
    var value = 0
    while value < 1 << 24 {
      let byte = try reader.byte("ff_byte")
      value += Int(byte)
      if byte != 0xFF { break }
    }
    return value
  }

  private mutating func repackage() {
    var bytes: [UInt8] = []
    for nalUnit in sets.sequenceParameterSetNALUnits + sets.extensionNALUnits + sets.pictureParameterSetNALUnits {
      if let lengthSize {
        guard nalUnit.count <= lengthSize.maximumNALUnitLength else { continue }
        for index in (0..<lengthSize.byteCount).reversed() {
          bytes.append(UInt8(truncatingIfNeeded: nalUnit.count >> (8 * index)))
        }
      } else {
        bytes.append(contentsOf: [0, 0, 0, 1])
      }
      bytes.append(contentsOf: nalUnit)
    }
    parameterSets = bytes
  }
}
