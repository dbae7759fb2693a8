// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Puts access units together when each frame holds NAL units only (`alignment=nal`). An access unit's first frame
/// stands for it; the others join it.
struct FrameCollection<Codec: ElementCodecSyntax> {
  private var assembler = AccessUnitAssembler<Codec, FramePiece<Codec>>(.nalUnit)

  /// An access unit is known to be complete only when the next one begins.
  var waitsForNext: Bool { !assembler.seesMarkers }

  /// Takes a frame with its bytes. The one before must be used up: `next` has answered `nil`.
  mutating func put(_ number: FrameNumber, _ buffer: borrowing Buffer, packaging: NALPackaging) throws(FlowError) {
    assembler.put(try FramePiece(number, buffer, packaging: packaging))
  }

  /// The frames of the next access unit that is complete; `nil` when there is none.
  ///
  /// - Parameter formats: is shown each parameter set on the way, since slices tell access units apart by them.
  mutating func next(_ formats: inout FormatFollower<Codec>) throws(FlowError) -> [FrameNumber]? {
    let isComplete = try assembler.collect(
      judge: { detector, nalUnit in detector.feed(nalUnit, parameterSets: formats.parameterSets).boundary },
      read: { nalUnit, _ in formats.insert(nalUnit) })
    return isComplete ? take() : nil
  }

  /// The frames of what has been collected, complete or not; `nil` when there are none.
  mutating func takeRest() -> [FrameNumber]? { assembler.finish() ? take() : nil }

  /// Forgets what has been collected.
  mutating func flush() { assembler.flush() }

  private mutating func take() -> [FrameNumber] {
    let numbers = assembler.pieces.map(\.number)
    assembler.removeAccessUnit()
    return numbers
  }
}

/// A frame whose buffer is a part of an access unit. It cannot be cut.
private final class FramePiece<Codec: ElementCodecSyntax>: AccessUnitPiece {
  let number: FrameNumber
  let isMarked: Bool
  private let buffer: Buffer
  private let found: FoundNALUnits<Codec>

  init(_ number: FrameNumber, _ buffer: borrowing Buffer, packaging: NALPackaging) throws(FlowError) {
    self.number = number
    isMarked = buffer.flags.contains(.marker)
    self.buffer = buffer.share()
    var found = FoundNALUnits<Codec>()
    let map = try buffer.map()
    found.find(in: map.bytes, packaging: packaging)
    self.found = found
  }

  var nalUnits: [Repackager.Entry] { found.repackager.entries }

  func withBytes<Result>(_ body: (Span<UInt8>) throws(FlowError) -> Result) throws(FlowError) -> Result {
    try Self.lend(buffer, body)
  }

  private static func lend<Result>(
    _ buffer: borrowing Buffer, _ body: (Span<UInt8>) throws(FlowError) -> Result
  ) throws(FlowError) -> Result {
    let map = try buffer.map()
    return try body(map.bytes)
  }

  func part(_ range: Range<Int>) throws(FlowError) -> FramePiece? { nil }
}
