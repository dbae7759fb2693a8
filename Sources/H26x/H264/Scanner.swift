// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Cuts an H.264 stream into access units or NAL units.
  public struct Scanner: AccessUnitScanning {
    /// H.264.
    public typealias Codec = H264

    private var scanner = H26x.AccessUnitScanner<H264>()

    /// Creates a scanner that has seen nothing.
    public init() {}

    /// What the caller wants.
    public var settings: ScannerSettings {
      get { scanner.settings }
      set { scanner.settings = newValue }
    }
    /// The parameter sets so far.
    public var parameterSets: ParameterSets { scanner.parameterSets }
    /// The SPS that came last.
    public var lastSequenceParameterSetID: UInt8? { scanner.lastSequenceParameterSetID }
    /// Times that a parameter set was new or not what it was before.
    public var parameterSetChanges: UInt64 { scanner.parameterSetChanges }
    /// Whether there are parameter sets of both kinds.
    public var hasParameterSets: Bool { scanner.hasParameterSets }
    /// NAL units so far, by `nal_unit_type`.
    public var nalUnitCounts: InlineArray<64, UInt64> { scanner.nalUnitCounts }
    /// What could not be read so far.
    public var errors: ScannerErrors { scanner.errors }
    /// Whether a recovery point SEI message was ever seen.
    public var hasSeenRecoveryPoint: Bool { scanner.hasSeenRecoveryPoint }
    /// What is inside the access unit so far.
    public var accessUnitContents: AccessUnitContents {
      get { scanner.accessUnitContents }
      set { scanner.accessUnitContents = newValue }
    }
    /// Whether nothing of the next unit was seen yet.
    public var isBetweenAccessUnits: Bool { scanner.isBetweenAccessUnits }

    /// Looks for a unit at the start of the data.
    public mutating func next(in bytes: Span<UInt8>, isMarked: Bool, isDraining: Bool) -> ScannerFinding {
      scanner.next(in: bytes, isMarked: isMarked, isDraining: isDraining)
    }
    /// Takes the unit that was found last, in exchange for one whose memory can be used again.
    public mutating func takeAccessUnit(_ unit: inout ScannedAccessUnit) { scanner.takeAccessUnit(&unit) }
    /// The unit that was found last; an empty one when it was taken already.
    public mutating func takeAccessUnit() -> ScannedAccessUnit { scanner.takeAccessUnit() }
    /// What there is to tell since the last call, 64 notices at most.
    public mutating func takeNotices() -> [ScannerNotice<NALUnitType>] { scanner.takeNotices() }
    /// Keeps a parameter set. Answers whether it can be read.
    @discardableResult
    public mutating func store(_ nalUnit: Span<UInt8>) -> Bool { scanner.store(nalUnit) }
    /// Forgets the position in the stream, not the parameter sets.
    public mutating func resetPosition() { scanner.resetPosition() }
    /// Forgets the parameter sets.
    public mutating func removeParameterSets() { scanner.removeParameterSets() }
  }

  /// What ``Scanner`` found out about an access unit or NAL unit.
  public typealias ScannedAccessUnit = H26x.ScannedAccessUnit<SliceHeader>
  /// The scanner.
  public typealias AccessUnitScanner = Scanner
}
