// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Assembles access units from frames of NAL units (`alignment=nal`). An access unit's first frame stands for it; the
/// others join it.
struct FrameCollection<Codec: DecoderCodec> {
  private var assembler = AccessUnitAssembler<Codec, FramePiece<Codec>>(.nalUnit)
  private var packets = LengthPrefixed.PacketHistory()

  /// The end of an access unit is only known when the next one begins.
  var waitsForNext: Bool { !assembler.seesMarkers }

  /// Takes a frame with its bytes. The previous frame must be used up: `next` has returned `nil`.
  mutating func put(_ number: FrameNumber, _ buffer: borrowing Buffer, packaging: NALPackaging) throws(FlowError) {
    assembler.put(try FramePiece(number, buffer, packaging: packaging, &packets))
  }

  /// The frames of the next access unit that is complete; `nil` when there is none.
  ///
  /// - Parameter formats: takes each parameter set on the way, which is needed to distinguish slices of different
  ///   access units.
  mutating func next(_ formats: inout FormatFollower<Codec>) throws(FlowError) -> [FrameNumber]? {
    let isComplete = try assembler.collect(
      judge: { detector, nalUnit in detector.feed(nalUnit, parameterSets: formats.parameterSets).boundary },
      read: { nalUnit, _ in formats.insert(nalUnit) })
    return isComplete ? take() : nil
  }

  /// The frames of the access unit that was begun, complete or not; `nil` when there are none.
  mutating func takeRest() -> [FrameNumber]? { assembler.finish() ? take() : nil }

  /// Discards the collected frames.
  mutating func flush() { assembler.flush() }

  /// Discards the collected frames. Returns its frames, to be released.
  mutating func removeAll() -> [FrameNumber] {
    defer { assembler.flush() }
    return assembler.held.map(\.number)
  }

  private mutating func take() -> [FrameNumber] {
    let numbers = assembler.pieces.map(\.number)
    assembler.removeAccessUnit()
    return numbers
  }
}

/// A frame whose buffer is an access unit or a part of one. It cannot be cut. A class, because buffers are not copyable,
/// and arrays hold only copyable values.
private final class FramePiece<Codec: ElementCodecSyntax>: AccessUnitPiece {
  let number: FrameNumber
  let isMarked: Bool
  private let buffer: Buffer
  private let found: FoundNALUnits<Codec>

  init(
    _ number: FrameNumber, _ buffer: borrowing Buffer, packaging: NALPackaging,
    _ history: inout LengthPrefixed.PacketHistory
  ) throws(FlowError) {
    self.number = number
    isMarked = buffer.flags.contains(.marker)
    self.buffer = buffer.share()
    var found = FoundNALUnits<Codec>()
    let map = try buffer.map()
    found.find(in: map.bytes, packaging: packaging, &history)
    self.found = found
  }

  var size: Int { buffer.size }

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
