// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The gaps of the stream, and how far its length prefixes can be trusted.
struct RepackContinuity<Codec: RepackCodec> {
  /// Something was lost since the last buffer.
  private var hasLost = false
  /// The stream was cut since the last random access point.
  private var isCut = false
  /// Access units since the last that had a start code where a length should be, or parameter sets behind its slices.
  private var soundAccessUnits = 0

  private static var soundAccessUnitsWanted: Int { 100 }

  /// Returns the bytes in which start codes must be searched for.
  ///
  /// A faulty muxer leaves them in slices from the start. In byte-stream output they are in the right place anyway.
  /// If pictures are passed through, the start codes stay as they are. The search is half of the work, so it ends
  /// when enough access units were sound.
  ///
  /// - Parameter keepsPictures: whether at most parameter sets are changed, by edits.
  @inline(__always) func search(for output: StreamFormat<Codec>?, keepsPictures: Bool) -> NALUnitSearch {
    isSound && (keepsPictures || output == .byteStream) ? .outsideSlices : .everywhere
  }

  private var isSound: Bool { soundAccessUnits >= Self.soundAccessUnitsWanted }

  /// Enough access units were sound, and nothing was lost since the last.
  @inline(__always) var isSteady: Bool { isSound && !hasLost }

  /// Looks for damage in an access unit of the input.
  ///
  /// - Parameters:
  ///   - pieces: the access unit.
  ///   - content: its contents, which get the damage.
  mutating func inspect(_ pieces: [RepackPiece<Codec>], _ content: inout RepackedAccessUnit<Codec>) {
    for piece in pieces {
      content.misplacedStartCodes += piece.found.misplacedStartCodes
      content.damage = content.damage ?? piece.found.damage
    }
    if content.damage != nil, pieces.allSatisfy({ $0.nalUnits.isEmpty }) {
      content.isLost = true
      hasLost = true
    }
    let isSound = content.misplacedStartCodes == 0 && content.lateParameterSets.isEmpty
    soundAccessUnits = isSound ? min(soundAccessUnits + 1, Self.soundAccessUnitsWanted) : 0
  }

  /// An access unit was dropped.
  mutating func noteLoss() { hasLost = true }

  /// Whether something is missing in front of the next buffer. Returns true once for each gap.
  @inline(__always) mutating func takeLoss() -> Bool {
    guard hasLost else { return false }
    hasLost = false
    return true
  }

  /// Whether the access unit is the first random access point after a cut.
  mutating func takeCut(_ pieces: [RepackPiece<Codec>]) -> Bool {
    if hasLost || pieces.contains(where: { $0.withBuffer { $0.flags.contains(.discontinuity) } }) { isCut = true }
    let types = pieces.lazy.flatMap(\.nalUnits).map { Codec.NALUnitType(rawValue: $0.type) }
    guard isCut, types.contains(where: \.isRandomAccessPoint) else { return false }
    isCut = false
    return true
  }

  /// The input has new caps: the following data may be from another muxer.
  mutating func beginFormat() { soundAccessUnits = 0 }

  /// Another stream begins. It refers to nothing before, so a cut is still one.
  mutating func beginStream() { hasLost = false }

  /// The stream continues elsewhere.
  mutating func flush() {
    hasLost = false
    isCut = true
  }
}
