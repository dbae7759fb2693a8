// SPDX-License-Identifier: MPL-2.0
import H26x

/// The contents of an access unit, as far as they matter to repackaging, and what the stages have decided about it.
struct RepackedAccessUnit<Codec: RepackCodec> {
  /// There is a slice.
  private(set) var hasPicture = false
  /// The temporal sub-layer of the first slice.
  private(set) var temporalID: UInt8 = 0
  private(set) var isRandomAccessPoint = false
  /// The type of the first slice.
  private var pictureType: Codec.NALUnitType?
  /// It ends the coded video sequence.
  private(set) var hasEnd = false
  private(set) var hasDelimiter = false
  private(set) var hasSEI = false
  /// There is something other than parameter sets and delimiters.
  private(set) var hasOther = false
  /// The parameter sets that stand before the slices and could be read.
  private(set) var parameterSets: [[UInt8]] = []
  /// The new or changed sets among them.
  private(set) var changedParameterSets: [[UInt8]] = []
  /// Parameter sets after the slices: they are meant for the next access unit.
  private(set) var lateParameterSets: [[UInt8]] = []
  private(set) var unreadableParameterSets = 0
  /// A PPS comes before the first SPS, or either before the first VPS.
  private(set) var hasMisplacedSets = false
  private var seenKinds: [NALUnitRole] = []

  /// Start codes found where lengths should be.
  var misplacedStartCodes = 0
  /// The error that kept a part of it from being read.
  var damage: BitstreamError?
  /// Nothing is left of it.
  var isLost = false
  /// NAL units to write in front of it.
  var insertions: [[UInt8]] = []
  /// Its own parameter sets are removed.
  var losesParameterSets = false
  /// `codec_data` may have to change before it.
  var changesCodecData = false

  /// Adds a NAL unit that is no parameter set.
  @inline(__always)
  mutating func add(_ nalUnit: Span<UInt8>, _ role: NALUnitRole, type: UInt8) {
    switch role {
    case .slice, .slicePart:
      if !hasPicture {
        temporalID = Codec.temporalID(of: nalUnit)
        pictureType = Codec.NALUnitType(rawValue: type)
      }
      hasPicture = true
      if Codec.NALUnitType(rawValue: type).isRandomAccessPoint { isRandomAccessPoint = true }
    case .sei:
      hasSEI = true
      hasOther = true
      if !isRandomAccessPoint {
        isRandomAccessPoint = SEIMessages.hold(.recoveryPoint, nalUnit, headerLength: Codec.nalUnitHeaderLength)
      }
    case .suffixSEI:
      hasSEI = true
      hasOther = true
    case .accessUnitDelimiter:
      hasDelimiter = true
    case .end:
      hasEnd = true
      hasOther = true
    default:
      hasOther = true
    }
  }

  /// Adds a parameter set in front of the slices, with what the store made of it.
  mutating func add(
    parameterSet nalUnit: Span<UInt8>, _ role: NALUnitRole, _ insertion: RepackParameterSets<Codec>.Insertion
  ) {
    noteOrder(of: role)
    guard insertion != .unreadable else {
      unreadableParameterSets += 1
      hasOther = true
      return
    }
    parameterSets.append(nalUnit.copied())
    if insertion == .changed { changedParameterSets.append(nalUnit.copied()) }
  }

  /// Adds a parameter set after the slices.
  mutating func add(lateParameterSet nalUnit: Span<UInt8>) { lateParameterSets.append(nalUnit.copied()) }

  /// Whether a coded video sequence begins.
  ///
  /// - Parameter isEnded: whether the previous sequence was ended, so that any random access point begins another.
  func startsSequence(afterEnd isEnded: Bool) -> Bool {
    guard let pictureType else { return false }
    return Codec.startsSequence(pictureType) || isEnded && pictureType.isRandomAccessPoint
  }

  /// Whether there are parameter sets that could be read.
  var hasParameterSets: Bool { !parameterSets.isEmpty || !lateParameterSets.isEmpty }

  /// Nothing but parameter sets, perhaps after a delimiter: they belong to the next picture.
  var isParameterSetsOnly: Bool { !hasPicture && !hasOther && !parameterSets.isEmpty }

  private mutating func noteOrder(of kind: NALUnitRole) {
    let order: [NALUnitRole] = [.videoParameterSet, .sequenceParameterSet, .pictureParameterSet]
    guard let place = order.firstIndex(of: kind), !seenKinds.contains(kind) else { return }
    if order[place...].contains(where: seenKinds.contains) { hasMisplacedSets = true }
    seenKinds.append(kind)
  }
}
