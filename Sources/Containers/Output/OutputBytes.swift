// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import StreamReport
import SystemPackage

/// The bytes of a container that libavformat writes.
final class OutputBytes: IOSink {
  /// `nil` for bytes that are written nowhere.
  private let file: OpenFile?
  let isSeekable: Bool
  /// The offset of the container in the file.
  private let origin: Int64
  private(set) var position: Int64 = 0
  private var end: Int64 = 0
  /// The first bytes that were written, up to ``frontLimit``: a pipe cannot be read again.
  private(set) var front: [UInt8] = []
  /// How many bytes of it are kept.
  var frontLimit = 0
  /// Completes the program maps of a transport stream, whose muxer does not seek; `nil` to write the muxer's bytes.
  var programMap: ProgramMapRewriter?
  /// Completes the record of Dolby Vision in Matroska; `nil` to write the muxer's.
  var record: MatroskaRecord?
  /// Bytes that were written, if ``programMap`` adds some.
  private var written: Int64 = 0

  /// - Parameters:
  ///   - origin: how many bytes of a file stay free in front of the container.
  ///   - isTrial: whether nothing is written.
  init(_ target: OutputFile, origin: Int64 = 0, isTrial: Bool = false) throws(Failure) {
    (file, isSeekable, self.origin) = (isTrial ? nil : try target.open(), target.isSeekable, origin)
  }

  var size: Int64? { isSeekable ? end : nil }

  func seek(to position: Int64) throws(AVError) { self.position = position }

  func write(_ bytes: UnsafeRawBufferPointer) throws(AVError) {
    if let changed = unsafe programMap?.rewrite(Span(_unsafeBytes: bytes)) {
      try append(changed)
    } else if position < MatroskaRecord.reach, let changed = unsafe record?.completed(Span(_unsafeBytes: bytes)) {
      try write(changed, at: position)
    } else {
      unsafe try write(bytes, at: position)
    }
    position += Int64(bytes.count)
    end = max(end, position)
  }

  /// Writes the rest: nothing more comes.
  func finish() throws(AVError) {
    if let rest = programMap?.finish() { try append(rest) }
  }

  private func append(_ bytes: [UInt8]) throws(AVError) {
    try write(bytes, at: written)
    written += Int64(bytes.count)
  }

  private func write(_ bytes: [UInt8], at place: Int64) throws(AVError) {
    let failure = unsafe bytes.withUnsafeBytes { bytes -> AVError? in
      do throws(AVError) { try unsafe write(bytes, at: place) } catch { return error }
      return nil
    }
    if let failure { throw failure }
  }

  private func write(_ bytes: UnsafeRawBufferPointer, at place: Int64) throws(AVError) {
    do throws(Errno) {
      if let file, isSeekable {
        _ = try Errno.typed { try unsafe file.descriptor.writeAll(toAbsoluteOffset: origin + place, bytes) }
      } else {
        try unsafe file?.descriptor.writeFully(Span(_unsafeBytes: bytes))
      }
    } catch { throw AVError(rawValue: -error.rawValue) }
    if front.count < frontLimit { unsafe front += bytes.prefix(frontLimit - front.count) }
  }
}
