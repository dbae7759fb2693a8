// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The result of repackaging an access unit.
enum RepackagingOutcome {
  /// It can be output, from the frame or a new buffer.
  case ready
  /// There is nothing to output, as between start codes inside a NAL unit.
  case empty
  /// It cannot be written.
  case failed(BitstreamError)
}

/// Stage: writes a new output buffer if the input's bytes cannot be used.
struct OutputRepackager<Codec: ParserCodec>: Sendable {
  private var repackager = Repackager(codec: Codec.codec)

  /// Repackages an access unit if needed. Its offsets become those in the new buffer.
  ///
  /// - Parameters:
  ///   - size: its size in the input, in bytes.
  ///   - frame: takes the new buffer.
  ///   - timeCodes: for its picture timing SEI; empty to leave that as it is.
  ///   - sps: the SPS of its picture.
  mutating func repackage(
    _ accessUnit: inout ParsedAccessUnit<Codec>, size: Int, in frame: borrowing BaseParseFrame,
    from input: NALPackaging, to output: NALPackaging, timeCodes: [Buffer.TimeCode],
    sps: Codec.SequenceParameterSet?, _ log: ElementLog
  ) throws(FlowError) -> RepackagingOutcome {
    // If the access unit is split into NAL units, dropped parts are omitted then.
    let leavesOut = !accessUnit.scanned.dropped.isEmpty && accessUnit.scanned.nalUnits.isEmpty
    guard input != output || leavesOut || accessUnit.scanned.holdsStartCodes || !timeCodes.isEmpty else {
      return .ready
    }
    let map = try frame.map()
    let bytes = map.bytes.extracting(first: min(size, map.bytes.count))
    let buffer: Buffer
    do throws(BitstreamError) {
      let rewritten = timeCodes.isEmpty ? nil : try accessUnit.rewrite(timeCodes, in: bytes, input, sps, log)
      if let rewritten {
        buffer = try repackaged(&accessUnit.scanned, rewritten.span, upTo: .max, input, output)
      } else if accessUnit.scanned.holdsStartCodes {
        // A length in front of several NAL units counts the NAL units behind this one, too.
        let end = accessUnit.scanned.end
        buffer = try repackaged(&accessUnit.scanned, map.bytes, upTo: end, input, output)
      } else {
        buffer = try repackaged(&accessUnit.scanned, bytes, upTo: .max, input, output)
      }
    } catch {
      return .failed(error)
    }
    return put(buffer, in: frame) ? .ready : .empty
  }

  /// Returns whether there is anything to output.
  private func put(_ buffer: consuming Buffer, in frame: borrowing BaseParseFrame) -> Bool {
    guard buffer.size > 0 else { return false }
    var output = buffer
    frame.withBuffer { output.copyMetadata(from: $0) }
    frame.setOutput(output)
    return true
  }

  private mutating func repackaged(
    _ accessUnit: inout ScannedAccessUnit<Codec.SliceHeader>, _ bytes: Span<UInt8>, upTo limit: Int,
    _ input: NALPackaging, _ output: NALPackaging
  ) throws(BitstreamError) -> Buffer {
    switch input {
    case .annexB:
      if !repackager.take(accessUnit, of: bytes) { repackager.scanAnnexB(bytes) }
    case .lengthPrefixed(let lengthSize):
      // A bad length would have ended the access unit before it: all lengths are good.
      if accessUnit.holdsStartCodes {
        _ = try repackager.scanPacket(bytes, lengthSize: lengthSize, startCodes: accessUnit.startCodes, limit: limit)
      } else {
        try repackager.scanLengthPrefixed(bytes, lengthSize: lengthSize)
      }
    }
    repackager.drop(accessUnit.dropped)
    guard var buffer = Buffer(size: try repackager.outputSize(output)) else {
      throw BitstreamError(.outputTooSmall, "buffer", bitOffset: 0)
    }
    try write(bytes, output, to: &buffer)
    accessUnit.end = buffer.size
    moveOffsets(of: &accessUnit, output)
    return buffer
  }

  private func write(_ bytes: Span<UInt8>, _ output: NALPackaging, to buffer: inout Buffer) throws(BitstreamError) {
    do throws(FlowError) {
      var map = try buffer.mapForWriting()
      var target = map.bytes
      do throws(BitstreamError) {
        try repackager.write(bytes, as: output, to: &target)
        return
      } catch {}  // The buffer has the size that the repackager requires.
    } catch {}
    throw BitstreamError(.outputTooSmall, "buffer", bitOffset: 0)
  }

  /// Turns offsets in the input into offsets in the output.
  private func moveOffsets(of accessUnit: inout ScannedAccessUnit<Codec.SliceHeader>, _ output: NALPackaging) {
    var position = 0
    let (sei, randomAccess) = (accessUnit.seiOffset, accessUnit.randomAccessOffset)
    for entry in repackager.entries {
      if let sei, entry.range.contains(sei + entry.prefixLength) { accessUnit.seiOffset = position }
      if let randomAccess, entry.range.contains(randomAccess + entry.prefixLength) {
        accessUnit.randomAccessOffset = position
      }
      position += output.prefixLength + entry.range.count
    }
  }
}
