// SPDX-License-Identifier: MPL-2.0

/// Cuts a byte stream that arrives in pieces, or length-prefixed packets, into access units or NAL units, and tells
/// what is inside.
///
/// The caller shows the bytes that are not done with, again and with more behind them as long as the answer is
/// ``ScannerFinding/needsMoreData``; no byte is searched twice. Bytes of any other answer are done with: the next call
/// begins behind them. Parameter sets on the way are kept, boundaries are those of the codec's
/// ``VideoCodecSyntax/AccessUnitDetector``.
public protocol AccessUnitScanning: Sendable {
  /// Whose stream it cuts.
  associatedtype Codec: VideoCodecSyntax

  /// Creates a scanner that has seen nothing.
  init()
  /// What all scanners have in common, for what they found out. A stored property, which is read in place: a scanner is
  /// large, and a getter in another module would get a copy of it for every question.
  var shared: AccessUnitScanner<Codec> { get set }

  /// Looks for a unit at the start of the data.
  ///
  /// - Parameters:
  ///   - bytes: what is not done with.
  ///   - isMarked: whether an access unit is known to end with these bytes.
  ///   - isDraining: whether these bytes are all that comes.
  mutating func next(in bytes: Span<UInt8>, isMarked: Bool, isDraining: Bool) -> ScannerFinding
  /// Takes the unit that was found last, an empty one when it was taken already, in exchange for one whose memory
  /// can be used again.
  mutating func takeAccessUnit(_ unit: inout ScannedAccessUnit<Codec.SliceHeader>)
  /// The unit that was found last; an empty one when it was taken already.
  mutating func takeAccessUnit() -> ScannedAccessUnit<Codec.SliceHeader>
  /// What there is to tell since the last call, 64 notices at most.
  mutating func takeNotices() -> [ScannerNotice<Codec.NALUnitType>]
  /// Keeps a parameter set, from in band or out of it.
  ///
  /// - Returns: whether it can be read.
  @discardableResult
  mutating func store(_ nalUnit: Span<UInt8>) -> Bool
  /// Forgets the position in the stream: what comes next need not follow on what came before. Parameter sets and
  /// counts are kept.
  mutating func resetPosition()
  /// Forgets the parameter sets.
  mutating func removeParameterSets()
}

extension AccessUnitScanning {
  /// What was found at the start of the data.
  public typealias Finding = ScannerFinding
  /// What one piece of the input holds.
  public typealias InputAlignment = ScannerInputAlignment
  /// NAL units that could not be read, by kind.
  public typealias Errors = ScannerErrors
  /// Something that whoever looks after the stream may want to know.
  public typealias Notice = ScannerNotice<Codec.NALUnitType>

  /// Start code and header byte: with less there is nothing to look at.
  package static var minimumInput: Int { 4 }

  /// What the caller wants. A change takes effect with the next unit.
  @inlinable public var settings: ScannerSettings {
    get { shared.settings }
    set { shared.settings = newValue }
  }
  /// The parameter sets so far.
  @inlinable public var parameterSets: Codec.ParameterSets { shared.parameterSets }
  /// The SPS that came last.
  @inlinable package var lastSequenceParameterSetID: UInt8? { shared.lastSequenceParameterSetID }
  /// Times that a parameter set was new or not what it was before.
  @inlinable package var parameterSetChanges: UInt64 { shared.parameterSetChanges }
  /// Whether there are parameter sets of both kinds. Those of an extension layer may be all there is, so that no
  /// slice header of the base can be read.
  @inlinable package var hasParameterSets: Bool { shared.hasParameterSets }
  /// NAL units so far, by `nal_unit_type`.
  @inlinable public var nalUnitCounts: InlineArray<64, UInt64> { shared.nalUnitCounts }
  /// What could not be read so far.
  @inlinable public var errors: ScannerErrors { shared.errors }
  /// Whether a recovery point SEI message was ever seen.
  @inlinable package var hasSeenRecoveryPoint: Bool { shared.hasSeenRecoveryPoint }
  /// What is inside the access unit so far: when NAL units are cut, over all those that came.
  @inlinable package var accessUnitContents: AccessUnitContents { shared.accessUnitContents }
  /// Whether nothing of the next unit was seen yet.
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

/// What is asked of a scanner.
public struct ScannerSettings: Sendable, Hashable {
  /// How NAL units are packed in the input.
  public var packaging = NALPackaging.annexB
  /// What a piece of the input holds.
  public var inputAlignment = ScannerInputAlignment.none
  /// Whether NAL units are cut rather than access units.
  public var cutsNALUnits = false
  /// Whether the NAL units of an access unit are listed in it.
  public var listsNALUnits = false
  /// How far the header of a unit's first slice is read: picture order counts need all of it.
  public var sliceDepth = SliceHeaderDepth.pictureIdentity
  /// Whether slices whose PPS came but cannot be read are units all the same: a decoder may make more of it. So are
  /// slices without a PPS in one unit with an SPS, which may be the only one.
  @usableFromInline package var sparesUnreadablePictureParameterSets = true

  /// Annex B in any pieces, cut into access units.
  public init() {}
}

/// What one piece of a scanner's input, as it came, holds.
public enum ScannerInputAlignment: Sendable, Hashable {
  /// Any bytes.
  case none
  /// Whole NAL units.
  case nalUnits
  /// One whole access unit.
  case accessUnit
}

/// What a scanner found at the start of the data.
public enum ScannerFinding: Sendable, Hashable {
  /// A unit of so many bytes, trailing zeros included. ``AccessUnitScanning/takeAccessUnit()`` tells about it.
  case accessUnit(Int)
  /// So many bytes of no use, in front of anything that could be a NAL unit.
  case garbage(Int)
  /// So many bytes of NAL units that cannot be used, such as pictures before the first parameter sets.
  case unusable(Int)
  /// The unit does not end here.
  case needsMoreData

  /// Bytes that are done with.
  public var size: Int {
    switch self {
    case .accessUnit(let size), .garbage(let size), .unusable(let size): size
    case .needsMoreData: 0
    }
  }
}

/// NAL units that a scanner could not read, by kind.
public struct ScannerErrors: Sendable, Hashable {
  /// Parameter sets that cannot be read.
  public var parameterSets: UInt64 = 0
  /// Slices whose headers cannot be read.
  public var slices: UInt64 = 0
  /// Units with slices before the parameter sets that they need.
  public var missingParameterSets: UInt64 = 0
  /// NAL units of types that only RTP has, or cut off behind their header.
  public var nalUnits: UInt64 = 0
  /// Lengths that point past the end of a packet.
  public var lengths: UInt64 = 0

  /// None so far.
  public init() {}
}

/// Something in a stream that whoever looks after it may want to know.
public enum ScannerNotice<NALUnitType: NALUnitTypeSyntax>: Sendable {
  /// A parameter set that is new or not what it was.
  case parameterSet(NALUnitType, byteCount: Int, ParameterSetChange)
  /// A parameter set that cannot be read.
  case unreadableParameterSet(NALUnitType, byteCount: Int, BitstreamError)
  /// The first NAL unit of a type that only RTP has.
  case foreignType(NALUnitType)
  /// A length that points past the end of a packet, so many bytes of which are good.
  case badLength(BitstreamError, goodBytes: Int, byteCount: Int)
  /// The stream begins with a random access point whose parameter sets come behind it, in a byte stream only.
  case lateParameterSets
  /// The first start codes inside a length-prefixed NAL unit.
  case startCodes
}
