// SPDX-License-Identifier: MPL-2.0
import Glibc
import H26x
import StreamReport

/// A file or a pipe for `StreamReporter`: a file is read where it is asked for, a pipe from front to back.
struct ReportSource: ByteSource {
  private let descriptor: Descriptor
  /// `UInt64.max` for what has no size.
  let size: UInt64
  /// What came so far, of a pipe.
  private var position: UInt64 = 0

  /// Closes what was opened.
  private final class Descriptor: Sendable {
    let number: Int32
    init(_ number: Int32) { self.number = number }
    deinit { if number != STDIN_FILENO { close(number) } }
  }

  init(_ file: InputFile) throws(Failure) {
    let number = file.isStandardInput ? STDIN_FILENO : unsafe open(file.name, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { throw Failure("\(file.name): cannot be read: \(systemError())") }
    descriptor = Descriptor(number)
    // Standard input may be a file that was read to somewhere.
    let isSeekable = lseek(number, 0, SEEK_CUR) == 0
    size = isSeekable ? file.size.map { UInt64($0) } ?? .max : .max
  }

  mutating func read(at offset: UInt64, count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
        let got: Int
        if size == .max {
          guard offset + UInt64(filled) == position else { return }
          unsafe got = Glibc.read(descriptor.number, rest.baseAddress, rest.count)
          if got > 0 { position += UInt64(got) }
        } else {
          unsafe got = pread(descriptor.number, rest.baseAddress, rest.count, off_t(clamping: offset) + off_t(filled))
        }
        if got < 0, errno == EINTR { continue }
        guard got > 0 else { return }
        filled += got
      }
    }
  }
}

extension StreamReporter<ReportSource> {
  /// Opens a file for a report.
  static func open(_ file: InputFile, _ options: ReportOptions) throws(Failure) -> StreamReporter<ReportSource> {
    let expected = "expected H.264 or H.265 as a raw byte stream or in MP4"
    // What the first bytes say is better than what a search for start codes makes of them.
    switch file.kind {
    case .container(let what) where what != "MP4": throw Failure("\(file.name): \(what), not a raw stream or MP4")
    case .other(let what): throw Failure("\(file.name): \(what); \(expected)")
    default: break
    }
    let source = try ReportSource(file)
    do throws(ReportFailure) {
      return try StreamReporter(source, options: options)
    } catch {
      switch error {
      case .empty: throw Failure("\(file.name): empty; \(expected)")
      case .unknownFormat: throw Failure("\(file.name): not a raw stream or MP4; \(expected)")
      case .needsSeeking:
        throw Failure("\(file.name): MP4 through a pipe; its tables may stand at the end: name the file")
      case .mp4(let error):
        throw Failure("\(file.name): MP4 whose box \(error.box.name) at byte \(error.offset) is \(error.reason)")
      }
    }
  }
}
