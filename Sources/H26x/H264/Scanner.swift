// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Cuts an H.264 stream into access units or NAL units.
  public struct Scanner: AccessUnitScanning {
    /// H.264.
    public typealias Codec = H264

    /// The scanner of all codecs.
    public var shared = H26x.AccessUnitScanner<H264>()

    /// Creates a scanner that has seen nothing.
    public init() {}

    /// Looks for an access unit at the start of the data.
    public mutating func next(in bytes: Span<UInt8>, isMarked: Bool, isDraining: Bool) -> ScannerFinding {
      shared.next(in: bytes, isMarked: isMarked, isDraining: isDraining)
    }
    /// Takes the access unit found last, in exchange for one whose memory can be reused.
    public mutating func takeAccessUnit(_ accessUnit: inout ScannedAccessUnit) { shared.takeAccessUnit(&accessUnit) }
    /// Takes the access unit found last; an empty one when it was taken already.
    public mutating func takeAccessUnit() -> ScannedAccessUnit { shared.takeAccessUnit() }
    /// The notices since the last call, 64 at most.
    public mutating func takeNotices() -> [ScannerNotice<NALUnitType>] { shared.takeNotices() }
    /// Stores a parameter set. Returns whether it can be read.
    @discardableResult
    public mutating func store(_ nalUnit: Span<UInt8>) -> Bool { shared.store(nalUnit) }
    /// Forgets the position in the stream, not the parameter sets.
    public mutating func resetPosition() { shared.resetPosition() }
    /// Forgets the parameter sets.
    public mutating func removeParameterSets() { shared.removeParameterSets() }
  }

  /// The findings of ``Scanner`` in an access unit or NAL unit.
  public typealias ScannedAccessUnit = H26x.ScannedAccessUnit<SliceHeader>
  /// The scanner.
  public typealias AccessUnitScanner = Scanner
}
