// SPDX-License-Identifier: MPL-2.0
package import AVCodec
import AVFormat
import Glibc
import H26x
import StreamReport
import Synchronization
import SystemPackage

/// A file or a pipe. Several readers may read it from beginning to end, each at its own pace, on one thread.
package final class ContainerFile {
  package let input: InputFile
  package let status: ReadingStatus
  fileprivate let file: OpenFile
  /// nil for a file, which can be read at any place.
  fileprivate let pipe: SharedPipe?

  package init(_ input: InputFile, _ status: ReadingStatus) throws(Failure) {
    (self.input, self.status) = (input, status)
    file = if let pipe = input.pipe { pipe.file } else { try input.open() }
    pipe = input.pipe.map { SharedPipe($0, status) }
  }

  /// The clock of a transport stream, for all readers of the file.
  private(set) lazy var clock = TransportClock { [file, pipe] offset, count in
    pipe == nil ? InputBytes(file, nil).read(at: offset, count: count) : []
  }

  /// The bytes for a further reader.
  package func bytes() -> InputBytes { InputBytes(file, pipe) }

  /// No further reader comes: bytes of a pipe that all have read need not be kept.
  package func hasAllReaders() { pipe?.hasAllReaders = true }
}

/// The bytes of a file at any place, or of a pipe in order, for libavformat and for reports.
package final class InputBytes {
  private let file: OpenFile
  private let pipe: SharedPipe?
  private let number: Int
  package private(set) var position: Int64 = 0
  /// Whether the file could not be read.
  private(set) var hasFailed = false
  /// The size in bytes when reading began; `UInt64.max` for a pipe. Readers of tables compare every entry with it.
  package let size: UInt64

  fileprivate init(_ file: OpenFile, _ pipe: SharedPipe?) {
    (self.file, self.pipe) = (file, pipe)
    size = pipe == nil ? (try? Stat(file.descriptor)).map { UInt64(clamping: $0.size) } ?? .max : .max
    number = pipe?.add() ?? 0
  }

  /// The bytes of an input that has no other reader.
  package convenience init(_ input: InputFile) throws(Failure) {
    let file = try ContainerFile(input, ReadingStatus())
    file.hasAllReaders()
    self.init(file.file, file.pipe)
  }

  deinit { letGo() }

  /// Nothing more is read: bytes of a pipe that others have read need not be kept for this reader.
  func letGo() { pipe?.remove(number) }

  /// Bytes there are now; `nil` for a pipe.
  package var length: Int64? { isSeekable ? (try? Stat(file.descriptor))?.size : nil }

  /// Reads the next bytes. Returns their count; 0 at the end.
  private func readNext(_ buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
    let count =
      if let pipe { unsafe pipe.read(number, into: buffer) } else {
        try Errno.typed { try unsafe file.descriptor.read(fromAbsoluteOffset: position, into: buffer) }
      }
    position += Int64(count)
    return count
  }
}

extension InputBytes: IOSource {
  package var isSeekable: Bool { pipe == nil }

  package func seek(to position: Int64) throws(AVError) { self.position = position }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(AVError) -> Int {
    do throws(Errno) { return try unsafe readNext(buffer) } catch {
      hasFailed = true
      throw error.rawValue > 0 ? AVError(rawValue: -error.rawValue) : .inputOutput
    }
  }
}

extension InputBytes: ByteSource {
  package func read(at offset: UInt64, count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    read(at: offset, count: count, appendingTo: &bytes)
    return bytes
  }

  package func read(at offset: UInt64, count: Int, appendingTo bytes: inout [UInt8]) {
    guard let offset = Int64(exactly: offset), isSeekable || offset == position else { return }
    position = offset
    bytes.append(addingCapacity: count) { output in
      unsafe output.withUnsafeMutableBufferPointer { buffer, filled in
        while filled < count {
          let rest = unsafe UnsafeMutableRawBufferPointer(
            rebasing: UnsafeMutableRawBufferPointer(buffer)[filled..<count])
          guard let got = try? unsafe readNext(rest), got > 0 else { return }
          filled += got
        }
      }
    }
  }
}

/// A pipe with several readers. It keeps the bytes that the slowest reader has not read yet.
private final class SharedPipe {
  private let file: OpenFile
  private let status: ReadingStatus
  /// The bytes in memory, and their offset in the pipe.
  private var kept: [UInt8]
  private var start = 0
  var hasAllReaders = false
  /// The position of each reader; nil for a reader that has ended.
  private var places: [Int?] = []

  private static let pieceSize = 1 << 16
  /// The fewest bytes that are dropped together, so that little is moved.
  private static let dropSize = 1 << 22

  init(_ pipe: PipeInput, _ status: ReadingStatus) { (file, self.status, kept) = (pipe.file, status, pipe.front) }

  func add() -> Int {
    places.append(start)
    return places.count - 1
  }

  func remove(_ number: Int) { places[number] = nil }

  /// Reads up to as many bytes as the buffer has room for; none at the end, and when reading is to stop.
  func read(_ number: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let place = places[number] else { return 0 }
    if place - start == kept.count, !readOn() { return 0 }
    let part = kept.dropFirst(place - start).prefix(buffer.count)
    unsafe buffer.copyBytes(from: part)
    let count = part.count
    places[number] = place + count
    let slowest = places.compactMap(\.self).min() ?? start
    if hasAllReaders, slowest - start >= Self.dropSize {
      kept.removeFirst(slowest - start)
      start = slowest
    }
    return count
  }

  private func readOn() -> Bool {
    while !status.isStopping {
      var wait = pollfd(fd: file.descriptor.rawValue, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&wait, 1, 100) > 0 else { continue }
      let piece = file.descriptor.readAvailable(Self.pieceSize)
      kept += piece
      return !piece.isEmpty
    }
    return false
  }
}

/// The state that the thread that reads a container shares with others.
package final class ReadingStatus: Sendable {
  private let stops = Atomic(false)
  private let ends = Atomic(false)
  private let first = Mutex<Failure?>(nil)

  package init() {}

  /// Whether reading is to end soon, also from a pipe that nothing writes to.
  package var isStopping: Bool { stops.load(ordering: .relaxed) || isEnding }

  /// Whether reading ends here, although the container has more.
  var isEnding: Bool { ends.load(ordering: .relaxed) }
  package func end() { ends.store(true, ordering: .relaxed) }

  package func stop(_ isStopping: Bool = true) { stops.store(isStopping, ordering: .relaxed) }

  /// The first failure of reading.
  package var failure: Failure? { first.withLock { $0 } }
  func fail(_ failure: Failure) { first.withLock { if $0 == nil { $0 = failure } } }
}
