// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Writes access units into output buffers: untouched, in place, or with one copy of the parts that must move.
struct RepackWriter<Codec: RepackCodec>: ~Copyable {
  private var pool = SizedBufferPool()

  /// An access unit in the output's packaging.
  struct Written: ~Copyable {
    var buffer: Buffer
    let method: RepackMethod
  }

  /// Writes an access unit in the output's packaging.
  ///
  /// - Parameters:
  ///   - pieces: the access unit. If nothing has to move, it loses the first one's buffer.
  ///   - insertions: NAL units to put in front.
  ///   - marksBrokenLink: whether a CRA picture becomes a BLA picture.
  ///   - input: the input's packaging.
  ///   - output: the output's format.
  /// - Throws: ``RepackFailure`` with a message for a NAL unit that is too long for its length prefix, without one when
  ///   memory runs out.
  mutating func write(
    _ pieces: inout [RepackPiece<Codec>], inserting insertions: [[UInt8]], marksBrokenLink: Bool,
    from input: NALPackaging?, as output: RepackFormat<Codec>
  ) throws(RepackFailure) -> Written {
    guard let packaging = output.packaging else { throw RepackFailure(.error) }
    do throws(FlowError) {
      if pieces.count == 1, insertions.isEmpty, !marksBrokenLink {
        if pieces[0].isIntact, input == packaging, output.alignment == .accessUnit {
          return Written(buffer: pieces[0].takeBuffer(), method: .untouched)
        }
        if pieces[0].found.damage == nil, pieces[0].found.repackager.canWriteInPlace(as: packaging),
          pieces[0].withBuffer({ $0.isMemoryWritable })
        {
          return Written(buffer: try Self.writeInPlace(&pieces[0], as: packaging), method: .inPlace)
        }
      }
    } catch {
      throw RepackFailure(error)
    }
    var size = 0
    for (index, piece) in pieces.enumerated() {
      size += try Self.outputSize(of: piece, packaging, index == 0 ? insertions : [])
    }
    do throws(FlowError) {
      if pieces.count == 1, !marksBrokenLink, input == packaging, output.alignment == .accessUnit,
        let buffer = try Self.write(pieces[0], inserting: insertions, as: packaging, size: size)
      {
        return Written(buffer: buffer, method: .copied)
      }
      var buffer = try copy(pieces, inserting: insertions, as: packaging, size: size)
      if marksBrokenLink { try Self.markBrokenLink(in: &buffer, packaging) }
      return Written(buffer: buffer, method: .copied)
    } catch {
      throw RepackFailure(error)
    }
  }

  private static func writeInPlace(
    _ piece: inout RepackPiece<Codec>, as packaging: NALPackaging
  ) throws(FlowError) -> Buffer {
    var buffer = piece.takeBuffer()
    var map = try buffer.mapForWriting()
    var bytes = map.bytes
    do throws(BitstreamError) {
      try piece.found.repackager.writeInPlace(&bytes, as: packaging)
    } catch {
      throw .error
    }
    return buffer
  }

  /// Bytes that are worth a memory of their own, which downstream joins if it reads all in one piece.
  private static var worthSharing: Int { 1 << 15 }

  /// Writes the changes in front of a large access unit's slices, which stay in place; nil if it cannot.
  private static func write(
    _ piece: RepackPiece<Codec>, inserting insertions: [[UInt8]], as packaging: NALPackaging, size: Int
  ) throws(FlowError) -> Buffer? {
    let repackager = piece.found.repackager
    guard piece.found.damage == nil, piece.found.misplacedStartCodes == 0,
      let tail = repackager.tail(of: piece.size, packaging, isInserting: !insertions.isEmpty),
      tail.range.count >= worthSharing, let shared = piece.withBuffer({ $0.region(tail.range) }),
      var buffer = Buffer(size: size - tail.range.count)
    else { return nil }
    describe(&buffer, [piece])
    do {
      var map = try buffer.mapForWriting()
      var front = map.bytes
      try piece.withBytes { (bytes) throws(FlowError) in
        do throws(BitstreamError) {
          try repackager.write(bytes, as: packaging, inserting: insertions, before: tail, to: &front)
        } catch {
          throw .error
        }
      }
    }
    buffer.append(shared)
    return buffer
  }

  private mutating func copy(
    _ pieces: [RepackPiece<Codec>], inserting insertions: [[UInt8]], as packaging: NALPackaging, size: Int
  ) throws(FlowError) -> Buffer {
    var buffer = try pool.acquire(size)
    Self.describe(&buffer, pieces)
    var map = try buffer.mapForWriting()
    var target = map.bytes
    var offset = 0
    for (index, piece) in pieces.enumerated() {
      var rest = target._mutatingExtracting(offset..<size)
      offset += try piece.withBytes { (bytes) throws(FlowError) -> Int in
        do throws(BitstreamError) {
          return try piece.found.repackager.write(
            bytes, as: packaging, inserting: index == 0 ? insertions : [], to: &rest)
        } catch {
          throw .error
        }
      }
    }
    return buffer
  }

  /// Changes the NAL unit types of the slices; no other syntax depends on them.
  private static func markBrokenLink(in buffer: inout Buffer, _ packaging: NALPackaging) throws(FlowError) {
    var map = try buffer.mapForWriting()
    var bytes = map.bytes
    for range in packaging.nalUnits(of: bytes.span) {
      if let header = Codec.brokenLinkHeader(bytes[range.lowerBound]) { bytes[range.lowerBound] = header }
    }
  }

  /// Makes the output's timestamps, flags and metas from the pieces'.
  private static func describe(_ buffer: inout Buffer, _ pieces: [RepackPiece<Codec>]) {
    var isDamaged = false
    for (index, piece) in pieces.enumerated() {
      isDamaged = isDamaged || piece.found.lacksNALUnit
      piece.withBuffer { source in
        if index == 0 {
          buffer.copyMetadata(from: source)
        } else {
          merge(
            source, isPicture: piece.nalUnits.contains { Codec.NALUnitType(rawValue: $0.type).isVCL }, into: &buffer)
        }
      }
    }
    if isDamaged { buffer.flags.insert(.corrupted) }
  }

  /// Adds timestamps, flags and metas of a further buffer of an access unit.
  private static func merge(_ source: borrowing Buffer, isPicture: Bool, into buffer: inout Buffer) {
    if buffer.pts == nil { buffer.pts = source.pts }
    if buffer.dts == nil { buffer.dts = source.dts }
    // Parsers give a delimiter no duration and each slice the picture's.
    if let duration = source.duration { buffer.duration = max(buffer.duration ?? .zero, duration) }
    buffer.addMetas(of: source)
    var flags = buffer.flags
    flags.formUnion(source.flags.intersection([.discontinuity, .resync, .corrupted, .marker]))
    if isPicture {
      // The access unit is what its picture is.
      flags.remove(.header)
      let ofPicture: Buffer.Flags = [.deltaUnit, .droppable, .decodeOnly, .interlaced, .topFieldFirst, .oneField]
      flags.subtract(ofPicture)
      flags.formUnion(source.flags.intersection(ofPicture))
    }
    buffer.flags = flags
  }

  private static func outputSize(
    of piece: RepackPiece<Codec>, _ packaging: NALPackaging, _ insertions: [[UInt8]]
  ) throws(RepackFailure) -> Int {
    do throws(BitstreamError) {
      return try piece.found.repackager.outputSize(packaging, inserting: insertions)
    } catch {
      guard case .lengthPrefixed(let lengthSize) = packaging else { throw RepackFailure(.error) }
      let longest = max(piece.nalUnits.map(\.range.count).max() ?? 0, insertions.map(\.count).max() ?? 0)
      throw RepackFailure(
        .error,
        ElementError(
          .stream(.format),
          """
          A NAL unit of \(longest) bytes does not fit nal-length-size=\(lengthSize.byteCount), which allows \
          \(lengthSize.maximumNALUnitLength).
          """, debug: "set nal-length-size to 4, or let the encoder make smaller slices"))
    }
  }
}

/// The way an access unit was written.
enum RepackMethod { case untouched, inPlace, copied }
