// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// An input buffer that is an access unit or a part of one, with its NAL units found.
///
/// A value: copies share their memory until one of them is changed.
struct RepackPiece<Codec: ElementCodecSyntax>: AccessUnitPiece {
  private var storage: Storage

  /// A class, because buffers are not copyable, and arrays hold only copyable values.
  private final class Storage {
    var buffer: Buffer?
    var found: FoundNALUnits<Codec>

    init(_ buffer: consuming Buffer, _ found: FoundNALUnits<Codec>) {
      self.buffer = consume buffer
      self.found = found
    }

    /// Lends the buffer; an empty one when it was given away.
    func withBuffer<Result: ~Copyable>(_ body: (borrowing Buffer) -> Result) -> Result {
      switch buffer {
      case .some(let buffer): return body(buffer)
      case .none:
        let empty = Buffer()
        return body(empty)
      }
    }

    func withBytes<Result>(_ body: (Span<UInt8>) throws(FlowError) -> Result) throws(FlowError) -> Result {
      switch buffer {
      case .some(let buffer):
        let map = try buffer.map()
        return try body(map.bytes)
      case .none: throw .error
      }
    }

    func find(
      _ packaging: NALPackaging, _ history: inout LengthPrefixed.PacketHistory, _ search: NALUnitSearch
    ) throws(FlowError) {
      try withBytes { found.find(in: $0, packaging: packaging, &history, search) }
    }
  }

  /// - Throws: `.error` when the buffer cannot be mapped.
  init(
    _ buffer: consuming Buffer, packaging: NALPackaging, _ history: inout LengthPrefixed.PacketHistory,
    _ search: NALUnitSearch
  ) throws(FlowError) {
    storage = Storage(buffer, FoundNALUnits<Codec>())
    try storage.find(packaging, &history, search)
  }

  private init(_ buffer: consuming Buffer, _ found: FoundNALUnits<Codec>) { storage = Storage(buffer, found) }

  /// The NAL units, without dropped ones.
  var found: FoundNALUnits<Codec> { storage.found }

  /// Lends the buffer; an empty one when it was given away.
  func withBuffer<Result: ~Copyable>(_ body: (borrowing Buffer) -> Result) -> Result { storage.withBuffer(body) }

  // MARK: Changes

  /// Gives this copy memory of its own.
  private mutating func detach() {
    guard !isKnownUniquelyReferenced(&storage) else { return }
    storage = Storage(storage.withBuffer { $0.share() }, storage.found)
  }

  /// Takes another buffer, reusing the memory of the NAL unit table.
  mutating func reuse(
    for buffer: consuming Buffer, packaging: NALPackaging, _ history: inout LengthPrefixed.PacketHistory,
    _ search: NALUnitSearch
  ) throws(FlowError) {
    detach()
    storage.buffer = consume buffer
    try storage.find(packaging, &history, search)
  }

  /// Gives the buffer away.
  mutating func takeBuffer() -> Buffer {
    detach()
    return storage.buffer.take() ?? Buffer()
  }

  /// Drops NAL units of these types. Returns how many have been dropped so far.
  mutating func drop(_ types: NALUnitTypeSet) -> Int {
    detach()
    storage.found.repackager.drop { types.contains($0.type) }
    return storage.found.repackager.droppedCount
  }

  /// Has a NAL unit written in the place of one of ``nalUnits``, or in front of it. An empty one leaves it out.
  mutating func splice(_ nalUnit: [UInt8], at index: Int, replaces: Bool) {
    detach()
    if replaces {
      storage.found.repackager.replace(with: nalUnit.isEmpty ? [] : [nalUnit], at: index)
    } else {
      storage.found.repackager.insert([nalUnit], before: index)
    }
  }

  /// Has a NAL unit written in front of one of ``nalUnits``, after everything else was spliced.
  mutating func insert(_ nalUnit: [UInt8], directlyBefore index: Int) {
    detach()
    storage.found.repackager.insert(nalUnit, directlyBefore: index)
  }

  /// Replaces the closed captions on the buffer.
  mutating func setCaptions(_ captions: [Buffer.ClosedCaptions]) {
    detach()
    guard var buffer = storage.buffer.take() else { return }
    if buffer.hasCaptions { buffer.removeMetas(with: .captions) }
    for captions in captions {
      if let format = captions.format { buffer.addCaptions(captions.bytes.span, format: format) }
    }
    storage.buffer = consume buffer
  }

  // MARK: What is written

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

  /// The closed captions on the buffer.
  var captions: [Buffer.ClosedCaptions] { withBuffer { $0.hasCaptions ? $0.closedCaptions : [] } }

  /// Whether something in front of it was lost.
  var isDiscontinuous: Bool { withBuffer { $0.flags.contains(.discontinuity) } }

  func withBytes<Result>(_ body: (Span<UInt8>) throws(FlowError) -> Result) throws(FlowError) -> Result {
    try storage.withBytes(body)
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

extension Array {
  /// Drops NAL units of these types from an access unit. Returns how many have been dropped from it so far.
  mutating func drop<Codec>(_ types: NALUnitTypeSet) -> Int where Element == RepackPiece<Codec> {
    var count = 0
    for index in indices { count += self[index].drop(types) }
    return count
  }

  /// The closed captions of an access unit: those on its first buffer that has any.
  func captions<Codec>() -> [Buffer.ClosedCaptions] where Element == RepackPiece<Codec> {
    for piece in self {
      let captions = piece.captions
      if !captions.isEmpty { return captions }
    }
    return []
  }
}
