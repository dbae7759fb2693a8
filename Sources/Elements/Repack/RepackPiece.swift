// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// An input buffer that is an access unit or a part of one, with its NAL units found.
final class RepackPiece<Codec: ElementCodecSyntax>: AccessUnitPiece {
  private var buffer: Buffer?
  /// The NAL units, without dropped ones.
  private(set) var found: FoundNALUnits<Codec>

  /// - Throws: `.error` when the buffer cannot be mapped.
  init(
    _ buffer: consuming Buffer, packaging: NALPackaging, _ history: inout LengthPrefixed.PacketHistory,
    _ search: NALUnitSearch
  ) throws(FlowError) {
    self.buffer = consume buffer
    found = FoundNALUnits<Codec>()
    try find(packaging, &history, search)
  }

  private init(_ buffer: consuming Buffer, _ found: FoundNALUnits<Codec>) {
    self.buffer = consume buffer
    self.found = found
  }

  /// Takes another buffer, reusing the memory of the NAL unit table.
  func reuse(
    for buffer: consuming Buffer, packaging: NALPackaging, _ history: inout LengthPrefixed.PacketHistory,
    _ search: NALUnitSearch
  ) throws(FlowError) {
    self.buffer = consume buffer
    try find(packaging, &history, search)
  }

  private func find(
    _ packaging: NALPackaging, _ history: inout LengthPrefixed.PacketHistory, _ search: NALUnitSearch
  ) throws(FlowError) {
    try withBytes { found.find(in: $0, packaging: packaging, &history, search) }
  }

  /// Gives the buffer away.
  func takeBuffer() -> Buffer { buffer.take() ?? Buffer() }

  /// Lends the buffer; an empty one when it was given away.
  func withBuffer<Result: ~Copyable>(_ body: (borrowing Buffer) -> Result) -> Result {
    switch buffer {
    case .some(let buffer): return body(buffer)
    case .none:
      let empty = Buffer()
      return body(empty)
    }
  }

  /// Drops NAL units of these types. Returns how many have been dropped so far.
  @discardableResult
  func drop(_ types: NALUnitTypeSet) -> Int {
    found.repackager.drop { types.contains($0.type) }
    return found.repackager.droppedCount
  }

  /// Has another NAL unit written in the place of one of ``nalUnits``; an empty one leaves it out.
  func replace(with nalUnit: [UInt8], at index: Int) {
    found.repackager.replace(with: nalUnit.isEmpty ? [] : [nalUnit], at: index)
  }

  /// Has a NAL unit written in front of one of ``nalUnits``.
  func insert(_ nalUnit: [UInt8], before index: Int) { found.repackager.insert([nalUnit], before: index) }

  /// Whether nothing of it is written.
  var isEmpty: Bool { found.repackager.outputCount == 0 }

  /// Whether the NAL units are all that the buffer holds, unchanged.
  var isIntact: Bool {
    found.damage == nil && found.misplacedStartCodes == 0 && found.repackager.droppedCount == 0
      && !found.repackager.isSpliced
  }

  // MARK: A piece of an access unit

  var size: Int { withBuffer { $0.size } }

  var nalUnits: [Repackager.Entry] { found.repackager.entries }

  /// The bytes of the first slice; nil without one.
  var firstSlice: Range<Int>? { nalUnits.first { Codec.NALUnitType(rawValue: $0.type).isVCL }?.range }

  var isMarked: Bool { withBuffer { $0.flags.contains(.marker) } }

  /// Whether something in front of it was lost.
  var isDiscontinuous: Bool { withBuffer { $0.flags.contains(.discontinuity) } }

  func withBytes<Result>(_ body: (Span<UInt8>) throws(FlowError) -> Result) throws(FlowError) -> Result {
    switch buffer {
    case .some(let buffer):
      let map = try buffer.map()
      return try body(map.bytes)
    case .none: throw .error
    }
  }

  /// The first part gets timestamps and metas: a buffer's belong to the access unit that begins in it.
  func part(_ range: Range<Int>) throws(FlowError) -> RepackPiece<Codec>? {
    let isLast = range.upperBound == nalUnits.count
    let start = range.lowerBound == 0 ? 0 : origin(of: range.lowerBound)
    let end = isLast ? withBuffer { $0.size } : origin(of: range.upperBound)
    guard start <= end, var part = withBuffer({ $0.region(start..<end, withMetadata: start == 0) }) else {
      throw .error
    }
    var flags = withBuffer { $0.flags }
    if start > 0 { flags.subtract([.discontinuity, .resync]) }
    if !isLast { flags.remove(.marker) }
    part.flags = flags
    return RepackPiece(part, found.part(range, origin: start))
  }

  /// The offset of a NAL unit's start code or length prefix.
  private func origin(of index: Int) -> Int { nalUnits[index].range.lowerBound - nalUnits[index].prefixLength }
}
