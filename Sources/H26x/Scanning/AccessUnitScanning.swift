// SPDX-License-Identifier: MPL-2.0

/// Splits a byte stream that arrives in buffers of any size, or length-prefixed packets, into access units or NAL
/// units, and lists their contents.
///
/// The caller passes the bytes not consumed yet: the same again, with more after them, after
/// ``ScannerFinding/needsMoreData``; no byte is searched twice. After any other finding the next call begins after
/// its bytes. Parameter sets on the way are stored; boundaries come from the codec's
/// ``VideoCodecSyntax/AccessUnitDetector``. A piece is an access unit, or a NAL unit when those are cut.
public protocol AccessUnitScanning: Sendable {
  /// The codec of the stream.
  associatedtype Codec: VideoCodecSyntax

  /// Creates a scanner that has seen nothing.
  init()
  /// The scanner of all codecs. A stored property, to be read in place: a scanner is large, and a getter in another
  /// module would copy it.
  var shared: AccessUnitScanner<Codec> { get set }

  /// Looks for a piece at the start of the data.
  ///
  /// - Parameters:
  ///   - bytes: the data not consumed yet.
  ///   - isMarked: whether an access unit ends with these bytes.
  ///   - isDraining: whether no more data comes.
  mutating func next(in bytes: Span<UInt8>, isMarked: Bool, isDraining: Bool) -> ScannerFinding
  /// Takes the piece found last, an empty one when it was taken already, in exchange for one whose memory can be
  /// reused.
  mutating func takeAccessUnit(_ accessUnit: inout ScannedAccessUnit<Codec.SliceHeader>)
  /// Takes the piece found last; an empty one when it was taken already.
  mutating func takeAccessUnit() -> ScannedAccessUnit<Codec.SliceHeader>
  /// The notices since the last call, 64 at most.
  mutating func takeNotices() -> [ScannerNotice<Codec.NALUnitType>]
  /// Stores a parameter set, from in band or out of band.
  ///
  /// - Returns: whether it can be read.
  @discardableResult
  mutating func store(_ nalUnit: Span<UInt8>) -> Bool
  /// Forgets the position in the stream: the next data need not continue the data before. Parameter sets and counts
  /// are kept.
  mutating func resetPosition()
  /// Forgets the parameter sets.
  mutating func removeParameterSets()
}

extension AccessUnitScanning {
  /// The finding at the start of the data.
  public typealias Finding = ScannerFinding
  /// The contents of one buffer of the input.
  public typealias InputAlignment = ScannerInputAlignment
  /// NAL units that could not be read, by kind.
  public typealias Errors = ScannerErrors
  /// Something that may be of interest to the user.
  public typealias Notice = ScannerNotice<Codec.NALUnitType>

  /// Bytes that a scanner needs at least: a start code and a header byte.
  package static var minimumInput: Int { 4 }

  /// The caller's settings. A change takes effect with the next piece.
  @inlinable public var settings: ScannerSettings {
    get { shared.settings }
    set { shared.settings = newValue }
  }
  /// The parameter sets so far.
  @inlinable public var parameterSets: Codec.ParameterSets { shared.parameterSets }
  /// The id of the SPS that came last.
  @inlinable package var lastSequenceParameterSetID: SequenceParameterSetID? { shared.lastSequenceParameterSetID }
  /// Parameter sets that were new or changed.
  @inlinable package var parameterSetChanges: UInt64 { shared.parameterSetChanges }
  /// Whether there are an SPS and a PPS. There may be only those of an extension layer, with which no slice header of
  /// the base can be read.
  @inlinable package var hasParameterSets: Bool { shared.hasParameterSets }
  /// NAL units so far, by `nal_unit_type`.
  @inlinable public var nalUnitCounts: InlineArray<64, UInt64> { shared.nalUnitCounts }
  /// Counts of NAL units that could not be read so far.
  @inlinable public var errors: ScannerErrors { shared.errors }
  /// Whether a recovery point SEI message was ever seen.
  @inlinable package var hasSeenRecoveryPoint: Bool { shared.hasSeenRecoveryPoint }
  /// The contents of the access unit so far: when NAL units are cut, of all that came.
  @inlinable package var accessUnitContents: AccessUnitContents { shared.accessUnitContents }
  /// Whether nothing of the next piece was seen yet.
  @inlinable package var isBetweenAccessUnits: Bool { shared.isBetweenAccessUnits }

  /// ``ScannerSettings/packaging``.
  @inlinable public var packaging: NALPackaging {
    get { shared.settings.packaging }
    set { shared.settings.packaging = newValue }
  }
  /// ``ScannerSettings/inputAlignment``.
  @inlinable public var inputAlignment: ScannerInputAlignment {
    get { shared.settings.inputAlignment }
    set { shared.settings.inputAlignment = newValue }
  }
  /// ``ScannerSettings/cutsNALUnits``.
  @inlinable public var cutsNALUnits: Bool {
    get { shared.settings.cutsNALUnits }
    set { shared.settings.cutsNALUnits = newValue }
  }
  /// ``ScannerSettings/listsNALUnits``.
  @inlinable public var listsNALUnits: Bool {
    get { shared.settings.listsNALUnits }
    set { shared.settings.listsNALUnits = newValue }
  }
  /// ``ScannerSettings/sliceDepth``.
  @inlinable public var sliceDepth: SliceHeaderDepth {
    get { shared.settings.sliceDepth }
    set { shared.settings.sliceDepth = newValue }
  }
  /// ``ScannerSettings/sparesUnreadablePictureParameterSets``.
  @inlinable package var sparesUnreadablePictureParameterSets: Bool {
    get { shared.settings.sparesUnreadablePictureParameterSets }
    set { shared.settings.sparesUnreadablePictureParameterSets = newValue }
  }
}
