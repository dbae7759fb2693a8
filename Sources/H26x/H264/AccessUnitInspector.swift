// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// What one pass over an access unit tells.
  public struct AccessUnitInfo: Sendable {
    /// Whether decoding can start here.
    public enum RandomAccess: Sendable, Hashable {
      /// No.
      case none
      /// At once and cleanly.
      case idr
      /// By a recovery point SEI message.
      case recoveryPoint(RecoveryPoint)
    }

    /// Whether decoding can start here.
    public var randomAccess: RandomAccess = .none
    /// Whether there is an SPS, subset SPS or PPS.
    public var hasParameterSets = false
    /// Whether one of them is new or differs from the one with the same id before.
    public var changesParameterSets = false
    /// The first slice of the primary picture that could be read.
    public var slice: SliceHeader?
    /// Whether there is any coded slice (NAL unit types 1 to 5), readable or not.
    public var hasPicture = false
    /// Whether every readable slice of the primary picture is I or SI.
    public var isIntra = false
    /// Whether the picture is the second field of the frame that the access unit before began.
    public var isSecondField = false
    /// Whether other pictures refer to this one.
    public var isReference: Bool { slice?.isReference ?? false }
    /// The places of the SEI NAL units, to be read by ``SEIMessages`` where wanted.
    public var seiRanges: [Range<Int>] = []
    /// The number of NAL units.
    public var nalUnitCount = 0
    /// Whether it ends the coded video sequence or the stream.
    public var endsSequence = false
    /// The first thing that could not be read. The rest was read all the same.
    public var error: BitstreamError?
  }

  /// Looks at access units one by one and keeps what the next one needs: parameter sets and the field before.
  public struct AccessUnitInspector: Sendable {
    /// The parameter sets received so far. In-band ones are taken in by ``inspect(_:packaging:depth:)``.
    public var parameterSets: ParameterSets
    private var openField: SliceHeader?

    /// Creates an inspector, with the parameter sets from out of band if there are any.
    public init(parameterSets: ParameterSets = ParameterSets()) { self.parameterSets = parameterSets }

    /// Forgets the picture before, as after a seek. Parameter sets are kept.
    public mutating func reset() { openField = nil }

    /// Looks at one access unit.
    ///
    /// - Parameters:
    ///   - bytes: the whole access unit.
    ///   - packaging: how its NAL units are packed.
    ///   - depth: how far to read the first slice header.
    /// - Returns: what it holds. Nothing is thrown: damage is told in ``AccessUnitInfo/error``.
    public mutating func inspect(
      _ bytes: Span<UInt8>, packaging: NALPackaging, depth: SliceHeader.Depth = .pictureIdentity
    ) -> AccessUnitInfo {
      var info = AccessUnitInfo()
      switch packaging {
      case .annexB:
        var units = AnnexB.NALUnits(bytes)
        while let unit = units.next() { visit(bytes, unit.range, depth, &info) }
      case .lengthPrefixed(let size):
        var units = LengthPrefixed.NALUnits(bytes, lengthSize: size)
        do throws(BitstreamError) {
          while let range = try units.next() { visit(bytes, range, depth, &info) }
        } catch {
          if info.error == nil { info.error = error }
        }
      }
      if let slice = info.slice { pair(slice, &info) }
      return info
    }

    private mutating func visit(
      _ bytes: Span<UInt8>, _ range: Range<Int>, _ depth: SliceHeader.Depth, _ info: inout AccessUnitInfo
    ) {
      let unit = bytes.extracting(range)
      info.nalUnitCount += 1
      do throws(BitstreamError) {
        switch NALUnitType(rawValue: unit[0]) {
        case .slice, .idrSlice, .slicePartitionA:
          info.hasPicture = true
          try visitSlice(unit, depth, &info)
        case .slicePartitionB, .slicePartitionC:
          info.hasPicture = true
        case .sei:
          info.seiRanges.append(range)
          try visitSEI(unit, &info)
        case .sequenceParameterSet, .pictureParameterSet, .subsetSequenceParameterSet,
          .sequenceParameterSetExtension:
          info.hasParameterSets = true
          if try parameterSets.insert(unit) != .unchanged { info.changesParameterSets = true }
        case .endOfSequence, .endOfStream:
          info.endsSequence = true
        default:
          break
        }
      } catch {
        if info.error == nil { info.error = error }
      }
    }

    private func visitSlice(
      _ unit: Span<UInt8>, _ depth: SliceHeader.Depth, _ info: inout AccessUnitInfo
    ) throws(BitstreamError) {
      if NALUnitType(rawValue: unit[0]) == .idrSlice { info.randomAccess = .idr }
      // Only the first slice is asked for more than its type.
      let slice = try SliceHeader(
        nalUnit: unit, parameterSets: parameterSets, depth: info.slice == nil ? depth : .pictureIdentity)
      guard slice.redundantPictureCount == 0 else { return }
      if info.slice == nil {
        info.slice = slice
        info.isIntra = slice.sliceType.isIntra
      } else if !slice.sliceType.isIntra {
        info.isIntra = false
      }
    }

    private func visitSEI(_ unit: Span<UInt8>, _ info: inout AccessUnitInfo) throws(BitstreamError) {
      guard case .none = info.randomAccess else { return }
      var messages = SEIMessages(unit)
      while let message = try messages.next() {
        if message.type == .recoveryPoint { info.randomAccess = .recoveryPoint(try RecoveryPoint(message)) }
      }
    }

    /// A complementary field pair (3.30, 3.31): opposite parity, the same `frame_num`, one right after the other, and
    /// the second neither IDR nor a reference behind a field that is none.
    private mutating func pair(_ slice: SliceHeader, _ info: inout AccessUnitInfo) {
      guard slice.isField else {
        openField = nil
        return
      }
      if let first = openField, first.isBottomField != slice.isBottomField, first.frameNumber == slice.frameNumber,
        !slice.isIDR, first.isReference || !slice.isReference
      {
        info.isSecondField = true
        openField = nil
      } else {
        openField = slice
      }
    }
  }
}
