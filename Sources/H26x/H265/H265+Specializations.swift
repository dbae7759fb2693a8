// SPDX-License-Identifier: MPL-2.0

// The types that other modules call. Each wraps a generic type, which other modules cannot specialize.
extension H265 {
  /// Cuts an H.265 stream into access units or NAL units.
  public struct Scanner: AccessUnitScanning {
    /// H.265.
    public typealias Codec = H265

    /// The scanner of all codecs.
    public var shared = H26x.AccessUnitScanner<H265>()

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

  /// Inspects whole access units of an H.265 stream, one by one.
  public struct Inspector: AccessUnitInspecting {
    /// H.265.
    public typealias Codec = H265

    private var inspector: H26x.AccessUnitInspector<H265>

    /// Creates an inspector, with parameter sets from out of band if there are any.
    public init(parameterSets: ParameterSets = ParameterSets()) {
      inspector = H26x.AccessUnitInspector(parameterSets: parameterSets)
    }

    /// Creates an inspector without parameter sets that follows the stream's format, too.
    ///
    /// - Parameter nalLengthSize: size of the stream's length prefixes; nil for start codes.
    package init(nalLengthSize: NALLengthSize?) {
      inspector = H26x.AccessUnitInspector(nalLengthSize: nalLengthSize)
    }

    /// The parameter sets received so far, including in-band sets.
    public var parameterSets: ParameterSets {
      get { inspector.parameterSets }
      set { inspector.replaceParameterSets(newValue) }
    }
    /// The format of the last access unit; nil until a slice came with its parameter sets.
    package var format: FormatDescription? { inspector.format }
    /// Whether the active SPS has a VUI.
    package var hasVUI: Bool { inspector.hasVUI }
    /// Takes parameter sets from out of band; unreadable sets are ignored.
    public mutating func insert(_ nalUnits: [[UInt8]]) { inspector.insert(nalUnits) }
    /// Forgets the picture before, as after a seek. Parameter sets are kept.
    public mutating func reset() { inspector.reset() }
    /// Inspects one access unit.
    ///
    /// - Parameters:
    ///   - bytes: the whole access unit.
    ///   - packaging: its packaging.
    ///   - depth: how far to read the first slice header.
    /// - Returns: its contents. ``AccessUnitInfo/error`` reports damage.
    public mutating func inspect(
      _ bytes: Span<UInt8>, packaging: NALPackaging, depth: SliceHeaderDepth
    ) -> AccessUnitInfo {
      inspector.inspect(bytes, packaging: packaging, depth: depth)
    }
  }

  /// The findings of ``Inspector`` in an access unit.
  public typealias AccessUnitInfo = H26x.AccessUnitInfo<H265>
  /// The inspector.
  public typealias AccessUnitInspector = Inspector

  /// Times the pictures of a raw H.265 stream.
  package struct Timeline: PresentationTiming {
    /// H.265.
    package typealias Codec = H265

    private var timeline = PresentationTimeline<H265>()

    /// Creates a timeline that begins with the first picture it gets.
    package init() {}

    /// Field periods for which the picture that is read next is shown; nil if unknown.
    package var fieldPeriods: Int? {
      get { timeline.fieldPeriods }
      set { timeline.fieldPeriods = newValue }
    }
    /// Whether a picture may wait for later ones even if the stream sends a reorder depth of 0, to verify that.
    package var mayWait: Bool {
      get { timeline.mayWait }
      set { timeline.mayWait = newValue }
    }
    /// Whether a picture was read whose times were not taken yet.
    package var hasPicture: Bool { timeline.hasPicture }
    /// The end of the last picture so far, in nanoseconds; nil before the first picture.
    package var endOfPictures: UInt64? { timeline.endOfPictures }
    /// Reads a picture that continues the sequence being timed. Returns whether it does.
    package mutating func read(_ slice: SliceSegmentHeader, rate: Ratio?, generation: UInt64) -> Bool {
      timeline.read(slice, rate: rate, generation: generation)
    }
    /// Reads a picture that may begin a sequence. Returns whether enough is known.
    package mutating func read(
      _ slice: SliceSegmentHeader, isContinued: Bool, endsSequence: Bool, rate: Ratio?,
      parameterSets: borrowing ParameterSets, generation: UInt64, lookingAt bytes: Span<UInt8>, from offset: Int,
      isComplete: Bool
    ) -> Bool {
      timeline.read(
        slice, isContinued: isContinued, endsSequence: endsSequence, rate: rate, parameterSets: parameterSets,
        generation: generation, lookingAt: bytes, from: offset, isComplete: isComplete)
    }
    /// The times of the picture that was read last, once.
    package mutating func takeTimes() -> PresentationTimes? { timeline.takeTimes() }
    /// An end of sequence or stream follows the last picture.
    package mutating func endSequence() { timeline.endSequence() }
    /// Moves times so that `time` becomes `other`, both in nanoseconds.
    package mutating func move(_ time: UInt64, to other: UInt64) { timeline.move(time, to: other) }
  }
}

extension H265.Inspector: FormatTracking {}
