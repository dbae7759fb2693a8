// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Cuts an H.265 stream into access units or NAL units.
  public struct Scanner: AccessUnitScanning {
    public typealias Codec = H265

    private var scanner = H26x.AccessUnitScanner<H265>()

    public init() {}

    public var settings: ScannerSettings {
      get { scanner.settings }
      set { scanner.settings = newValue }
    }
    public var parameterSets: ParameterSets { scanner.parameterSets }
    public var lastSequenceParameterSetID: UInt8? { scanner.lastSequenceParameterSetID }
    public var parameterSetChanges: UInt64 { scanner.parameterSetChanges }
    public var hasParameterSets: Bool { scanner.hasParameterSets }
    public var nalUnitCounts: InlineArray<64, UInt64> { scanner.nalUnitCounts }
    public var errors: ScannerErrors { scanner.errors }
    public var hasSeenRecoveryPoint: Bool { scanner.hasSeenRecoveryPoint }
    public var accessUnitContents: AccessUnitContents {
      get { scanner.accessUnitContents }
      set { scanner.accessUnitContents = newValue }
    }
    public var isBetweenAccessUnits: Bool { scanner.isBetweenAccessUnits }

    public mutating func next(in bytes: Span<UInt8>, isMarked: Bool, isDraining: Bool) -> ScannerFinding {
      scanner.next(in: bytes, isMarked: isMarked, isDraining: isDraining)
    }
    public mutating func takeAccessUnit(_ unit: inout ScannedAccessUnit) { scanner.takeAccessUnit(&unit) }
    public mutating func takeAccessUnit() -> ScannedAccessUnit { scanner.takeAccessUnit() }
    public mutating func takeNotices() -> [ScannerNotice<NALUnitType>] { scanner.takeNotices() }
    @discardableResult
    public mutating func store(_ nalUnit: Span<UInt8>) -> Bool { scanner.store(nalUnit) }
    public mutating func resetPosition() { scanner.resetPosition() }
    public mutating func removeParameterSets() { scanner.removeParameterSets() }
  }

  /// What ``Scanner`` found out about an access unit or NAL unit.
  public typealias ScannedAccessUnit = H26x.ScannedAccessUnit<SliceHeader>
  /// The scanner.
  public typealias AccessUnitScanner = Scanner
}
