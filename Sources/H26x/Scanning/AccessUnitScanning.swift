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

/// A scanner's settings.
public struct ScannerSettings: Sendable, Hashable {
  /// The packaging of the input.
  public var packaging = NALPackaging.annexB
  /// The contents of one buffer of the input.
  public var inputAlignment = ScannerInputAlignment.none
  /// Whether the stream is split into NAL units rather than access units.
  public var cutsNALUnits = false
  /// Whether the NAL units of an access unit are listed in it.
  public var listsNALUnits = false
  /// How far the header of a piece's first slice is read: picture order counts need all of it.
  public var sliceDepth = SliceHeaderDepth.pictureIdentity
  /// Whether slices with an unreadable PPS are pieces anyway: a decoder may be able to read it. So are slices without
  /// a PPS in one piece with an SPS, which may be the only one.
  @usableFromInline package var sparesUnreadablePictureParameterSets = true

  /// Creates settings for Annex B in buffers of any size, split into access units.
  public init() {}
}

/// The contents of one buffer of a scanner's input.
public enum ScannerInputAlignment: Sendable, Hashable {
  /// Any bytes.
  case none
  /// Whole NAL units.
  case nalUnits
  /// One whole access unit.
  case accessUnit
}

/// The finding of a scanner at the start of the data.
public enum ScannerFinding: Sendable, Hashable {
  /// A piece, with its size in bytes, trailing zeros included. ``AccessUnitScanning/takeAccessUnit()`` has it.
  case accessUnit(Int)
  /// Bytes that cannot be part of a NAL unit.
  case garbage(Int)
  /// Bytes of NAL units that cannot be used, such as pictures before the first parameter sets.
  case unusable(Int)
  /// The piece does not end in the data.
  case needsMoreData

  /// Bytes consumed.
  public var size: Int {
    switch self {
    case .accessUnit(let size), .garbage(let size), .unusable(let size): size
    case .needsMoreData: 0
    }
  }
}

/// Something in a stream that may be of interest to the user.
public enum ScannerNotice<NALUnitType: NALUnitTypeSyntax>: Sendable {
  /// A parameter set that is new or changed.
  case parameterSet(NALUnitType, byteCount: Int, ParameterSetChange)
  /// A parameter set that cannot be read.
  case unreadableParameterSet(NALUnitType, byteCount: Int, BitstreamError)
  /// The first NAL unit of a type that only RTP has.
  case foreignType(NALUnitType)
  /// A length that points past the end of a packet, with the number of good bytes before it.
  case badLength(BitstreamError, goodBytes: Int, byteCount: Int)
  /// The stream begins with a random access point whose parameter sets come after it, in a byte stream only.
  case lateParameterSets
  /// The first start codes inside a length-prefixed NAL unit.
  case startCodes
}

/// NAL units that a scanner could not read, by kind.
public struct ScannerErrors: Sendable, Hashable {
  /// Parameter sets that cannot be read.
  public var parameterSets: UInt64 = 0
  /// Slices whose headers cannot be read.
  public var slices: UInt64 = 0
  /// Pieces with slices before the parameter sets that they need.
  public var missingParameterSets: UInt64 = 0
  /// NAL units of types that only RTP has, or truncated after their header.
  public var nalUnits: UInt64 = 0
  /// Lengths that point past the end of a packet.
  public var lengths: UInt64 = 0

  /// Creates counts of 0.
  public init() {}
}

/// The most bytes of an access unit that are collected. They keep a stream in which no access unit ends from filling
/// the memory.
package enum AccessUnitLimits {
  /// Bytes. The largest pictures of the highest levels (8192 × 4320) are 53 MB of 8-bit 4:2:0 before compression.
  @inlinable package static var size: Int { 64 << 20 }
}
