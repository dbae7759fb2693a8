// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

// The access unit's way into the output buffer: untouched, in place, or by one copy.
extension H264Repack {
  /// Brings the collected access unit into the output's packaging.
  func write(_ insertions: [[UInt8]], as output: Output) throws(FlowError) -> Buffer {
    let parts = collector.parts
    if parts.count == 1, insertions.isEmpty, let buffer = try writeInPlace(parts[0], as: output) { return buffer }
    var size = 0
    for (index, part) in parts.enumerated() {
      size += try outputSize(of: part, output.packaging, index == 0 ? insertions : [])
    }
    var buffer = try pool.acquire(size)
    describe(&buffer, parts)
    var map = try buffer.mapForWriting()
    var target = map.bytes
    var offset = 0
    for (index, part) in parts.enumerated() {
      var rest = target._mutatingExtracting(offset..<size)
      offset += try part.withBytes { (bytes) throws(FlowError) -> Int in
        do throws(BitstreamError) {
          return try part.repackager.write(
            bytes, as: output.packaging, inserting: index == 0 ? insertions : [], to: &rest)
        } catch {
          throw .error
        }
      }
    }
    statistics.withLock { $0.copied += 1 }
    return buffer
  }

  /// Hands the buffer itself on, when nothing has to be moved.
  private func writeInPlace(_ part: H264RepackPart, as output: Output) throws(FlowError) -> Buffer? {
    if part.isIntact, input?.packaging == output.packaging, output.alignment == .accessUnit {
      statistics.withLock { $0.untouched += 1 }
      return part.takeBuffer()
    }
    guard part.damage == nil, part.repackager.canWriteInPlace(as: output.packaging),
      part.withBuffer({ $0.isMemoryWritable })
    else { return nil }
    var buffer = part.takeBuffer()
    var map = try buffer.mapForWriting()
    var bytes = map.bytes
    do throws(BitstreamError) {
      try part.repackager.writeInPlace(&bytes, as: output.packaging)
    } catch {
      throw .error
    }
    statistics.withLock { $0.inPlace += 1 }
    return buffer
  }

  /// Timestamps, flags and metas of the output out of those of the parts.
  private func describe(_ buffer: inout Buffer, _ parts: [H264RepackPart]) {
    var isDamaged = false
    for (index, part) in parts.enumerated() {
      isDamaged = isDamaged || part.damage != nil
      part.withBuffer { source in
        if index == 0 {
          buffer.copyMetadata(from: source)
        } else {
          merge(source, isPicture: part.hasPicture, into: &buffer)
        }
      }
    }
    if isDamaged { buffer.flags.insert(.corrupted) }
  }

  /// Adds to an access unit what a further buffer of it says.
  private func merge(_ source: borrowing Buffer, isPicture: Bool, into buffer: inout Buffer) {
    if buffer.pts == nil { buffer.pts = source.pts }
    if buffer.dts == nil { buffer.dts = source.dts }
    // Parsers give a delimiter no duration and each slice the picture's.
    if let duration = source.duration { buffer.duration = max(buffer.duration ?? .zero, duration) }
    buffer.addMetas(of: source)
    var flags = buffer.flags
    flags.formUnion(source.flags.intersection([.discontinuity, .resync, .corrupted, .marker]))
    if isPicture {
      // What the picture is, the access unit is.
      flags.remove(.header)
      let ofPicture: Buffer.Flags = [.deltaUnit, .droppable, .decodeOnly, .interlaced, .topFieldFirst, .oneField]
      flags.subtract(ofPicture)
      flags.formUnion(source.flags.intersection(ofPicture))
    }
    buffer.flags = flags
  }

  private func outputSize(
    of part: H264RepackPart, _ packaging: NALPackaging, _ insertions: [[UInt8]]
  ) throws(FlowError) -> Int {
    do throws(BitstreamError) {
      return try part.repackager.outputSize(packaging, inserting: insertions)
    } catch {
      let longest = max(
        part.repackager.entries.map(\.range.count).max() ?? 0, insertions.map(\.count).max() ?? 0)
      guard case .lengthPrefixed(let lengthSize) = packaging else { throw .error }
      post(
        ElementError(
          .stream(.format),
          """
          A NAL unit of \(longest) bytes does not fit nal-length-size=\(lengthSize.byteCount), which allows \
          \(lengthSize.maximumNALUnitLength).
          """, debug: "set nal-length-size to 4, or let the encoder make smaller slices"))
      throw .error
    }
  }
}
