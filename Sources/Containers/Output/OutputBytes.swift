// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
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

  /// - Parameters:
  ///   - origin: how many bytes of a file stay free in front of the container.
  ///   - isTrial: whether nothing is written.
  init(_ target: OutputFile, origin: Int64 = 0, isTrial: Bool = false) throws(Failure) {
    (file, isSeekable, self.origin) = (isTrial ? nil : try target.open(), target.isSeekable, origin)
  }

  var size: Int64? { isSeekable ? end : nil }

  func seek(to position: Int64) throws(AVError) { self.position = position }

  func write(_ bytes: UnsafeRawBufferPointer) throws(AVError) {
    do throws(Errno) {
      if let file, isSeekable {
        _ = try Errno.typed { try unsafe file.descriptor.writeAll(toAbsoluteOffset: origin + position, bytes) }
      } else {
        try unsafe file?.descriptor.writeFully(Span(_unsafeBytes: bytes))
      }
    } catch { throw AVError(rawValue: -error.rawValue) }
    if front.count < frontLimit { unsafe front += bytes.prefix(frontLimit - front.count) }
    position += Int64(bytes.count)
    end = max(end, position)
  }
}
