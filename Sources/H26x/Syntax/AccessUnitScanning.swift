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
  /// What the caller wants. A change takes effect with the next unit.
  var settings: ScannerSettings { get set }

  /// The parameter sets so far.
  var parameterSets: Codec.ParameterSets { get }
  /// The SPS that came last.
  var lastSequenceParameterSetID: UInt8? { get }
  /// Times that a parameter set was new or not what it was before.
  var parameterSetChanges: UInt64 { get }
  /// Whether there are parameter sets of both kinds. Those of an extension layer may be all there is, so that no
  /// slice header of the base can be read.
  var hasParameterSets: Bool { get }
  /// NAL units so far, by `nal_unit_type`.
  var nalUnitCounts: InlineArray<64, UInt64> { get }
  /// What could not be read so far.
  var errors: ScannerErrors { get }
  /// Whether a recovery point SEI message was ever seen.
  var hasSeenRecoveryPoint: Bool { get }
  /// What is inside the access unit so far: when NAL units are cut, over all those that came.
  var accessUnitContents: AccessUnitContents { get set }
  /// Whether nothing of the next unit was seen yet.
  var isBetweenAccessUnits: Bool { get }

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
  public static var minimumInput: Int { 4 }

  /// ``ScannerSettings/packaging``.
  public var packaging: NALPackaging {
    get { settings.packaging }
    set { settings.packaging = newValue }
  }
  /// ``ScannerSettings/inputAlignment``.
  public var inputAlignment: ScannerInputAlignment {
    get { settings.inputAlignment }
    set { settings.inputAlignment = newValue }
  }
  /// ``ScannerSettings/cutsNALUnits``.
  public var cutsNALUnits: Bool {
    get { settings.cutsNALUnits }
    set { settings.cutsNALUnits = newValue }
  }
  /// ``ScannerSettings/listsNALUnits``.
  public var listsNALUnits: Bool {
    get { settings.listsNALUnits }
    set { settings.listsNALUnits = newValue }
  }
  /// ``ScannerSettings/sliceDepth``.
  public var sliceDepth: SliceHeaderDepth {
    get { settings.sliceDepth }
    set { settings.sliceDepth = newValue }
  }
  /// ``ScannerSettings/sparesUnreadablePictureParameterSets``.
  public var sparesUnreadablePictureParameterSets: Bool {
    get { settings.sparesUnreadablePictureParameterSets }
    set { settings.sparesUnreadablePictureParameterSets = newValue }
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
  public var sparesUnreadablePictureParameterSets = true

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
