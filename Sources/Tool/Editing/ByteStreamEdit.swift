// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import H26x

/// Edits a byte stream access unit by access unit. Other bytes are copied.
struct ByteStreamEdit {
  private var cutter: any AccessUnitCutting
  private var edit: VideoEdit

  init(_ codec: FormatDescription.Codec, _ edit: VideoEdit) {
    cutter = codec == .h264 ? AccessUnitCutter<H264>() : AccessUnitCutter<H265>()
    self.edit = edit
  }

  /// The edit, with its changes so far.
  var result: VideoEdit { edit }

  /// Edits the next bytes.
  ///
  /// - Parameters:
  ///   - bytes: more of the stream.
  ///   - isLast: nothing more comes.
  ///   - write: gets the edited stream, piece by piece.
  mutating func take(
    _ bytes: [UInt8], isLast: Bool, _ write: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) {
    cutter.append(bytes)
    while let piece = cutter.next(isLast: isLast) {
      try write(piece.isAccessUnit ? edit.edit(piece.bytes) : piece.bytes)
    }
    if isLast { try edit.finish() }
    guard cutter.pendingCount <= AccessUnitLimits.size else {
      throw Failure("\(edit.source): no end of an access unit within \(AccessUnitLimits.size >> 20) MiB")
    }
  }
}

/// Cuts a byte stream.
private protocol AccessUnitCutting {
  mutating func append(_ bytes: [UInt8])
  /// How many bytes wait for the end of an access unit.
  var pendingCount: Int { get }
  /// The next access unit, or bytes that are none; nil if more is needed, and at the end.
  mutating func next(isLast: Bool) -> (bytes: [UInt8], isAccessUnit: Bool)?
}

private struct AccessUnitCutter<Codec: VideoCodecSyntax>: AccessUnitCutting {
  private var scanner = Codec.Scanner()
  private var pending: [UInt8] = []
  private var start = 0

  var pendingCount: Int { pending.count - start }

  mutating func append(_ bytes: [UInt8]) {
    pending.removeFirst(start)
    start = 0
    pending += bytes
  }

  mutating func next(isLast: Bool) -> (bytes: [UInt8], isAccessUnit: Bool)? {
    guard start < pending.count else { return nil }
    switch scan(isLast: isLast) {
    case .accessUnit(let size): return (take(size), true)
    case .garbage(let size), .unusable(let size): return (take(size), false)
    case .needsMoreData: return isLast ? (take(pending.count - start), false) : nil
    }
  }

  private mutating func scan(isLast: Bool) -> ScannerFinding {
    let bytes = pending
    return scanner.next(in: bytes.span.extracting(start...), isMarked: false, isDraining: isLast)
  }

  private mutating func take(_ size: Int) -> [UInt8] {
    let end = min(pending.count, start + max(size, 1))
    defer { start = end }
    return Array(pending[start..<end])
  }
}
