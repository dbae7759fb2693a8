// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc
import StreamReport
import SystemPackage

/// A finished MP4 or MOV file as libavformat writes it, with its `moov` at the end. It gets what libavformat cannot write,
/// and its `moov` in front, so that it plays while it is loaded.
struct MovieFile {
  private let file: OpenFile
  private let name: String
  private let size: Int64
  private let movieOffset: Int64
  private var movie: MovieBox
  /// Bytes of `ftyp`, which stays the first box.
  private let typeSize: Int64

  /// Files of this size get room in front by a call of the file system, where it has one, instead of being copied.
  static let roomSize: Int64 = 1 << 24

  /// - Parameter name: of the file, for messages.
  /// - Returns: `nil` unless the file begins with `ftyp` and ends with `moov`.
  init?(_ path: FilePath, name: String) throws(Failure) {
    self.name = name
    do {
      file = OpenFile(try .open(path, .readWrite, options: .closeOnExec))
      size = try Stat(file.descriptor).size
      guard let (type, movie) = try Self.boxes(file.descriptor, size) else { return nil }
      (typeSize, movieOffset) = (type, movie)
      self.movie = MovieBox(try Self.read(file.descriptor, movie, Int(size - movie)))
    } catch { throw Self.failure(error, name) }
  }

  private static func failure(_ error: any Error, _ name: String) -> Failure { Failure("\(name): \(error)") }

  private static func boxes(_ file: FileDescriptor, _ size: Int64) throws -> (type: Int64, movie: Int64)? {
    var (offset, type): (Int64, Int64) = (0, 0)
    while size - offset >= 8 {
      let bytes = try read(file, offset, Int(min(size - offset, Int64(MP4.BoxHeader.maximumLength))))
      guard let header = try? MP4.BoxHeader(bytes.span, at: 0, limit: UInt64(size - offset)) else { return nil }
      let end = offset + Int64(header.size)
      if offset == 0 {
        guard header.type == FourCharacterCode("ftyp") else { return nil }
        type = end
      }
      if header.type == FourCharacterCode("moov") { return end == size && header.length == 8 ? (type, offset) : nil }
      offset = end
    }
    return nil
  }

  private static func read(_ file: FileDescriptor, _ offset: Int64, _ count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let got = try unsafe bytes.withUnsafeMutableBytes {
        try unsafe file.read(
          fromAbsoluteOffset: offset + Int64(filled), into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...]))
      }
      guard got > 0 else { throw Errno.ioError }
      filled += got
    }
    return bytes
  }

  // MARK: Completing

  /// Sets the edit list of the video track.
  mutating func setEdits(_ edits: [MP4Edit]) { movie.setEdits(edits) }

  /// Enables subtitles, in the order of their tracks, or disables them.
  mutating func enableSubtitles(_ areEnabled: [Bool]) { movie.enableSubtitles(areEnabled) }

  /// Completes the sample entry of the video track.
  mutating func complete(_ extras: SampleEntryExtras) { movie.complete(extras) }

  /// Writes `moov` in front of the media, which move.
  ///
  /// - Parameter roomSize: see ``roomSize``.
  mutating func finish(roomSize: Int64 = roomSize) throws(Failure) {
    do {
      // Twice the room for what may become longer.
      movie.makeRoom(forMediaMovedBy: UInt64(movie.bytes.count) * 2 + 1 << 21)
      let room = size >= roomSize ? insertRoom() : nil
      let distance = try room ?? moveMedia()
      movie.moveMedia(by: distance)
      var front = try Self.read(file.descriptor, room ?? 0, Int(typeSize)) + movie.bytes
      if room != nil {
        // Up to where the media begin, over the old ftyp.
        let rest = UInt32(distance + typeSize - Int64(front.count))
        front += (0..<4).map { UInt8(truncatingIfNeeded: rest >> (24 - 8 * $0)) } + Array("free".utf8)
      }
      _ = try file.descriptor.writeAll(toAbsoluteOffset: 0, front)
      try file.descriptor.resize(to: movieOffset + distance)
    } catch { throw Self.failure(error, name) }
  }

  /// Makes room at the beginning without moving anything. Returns how much; `nil` where the file system cannot.
  private func insertRoom() -> Int64? {
    var system = statvfs()
    guard unsafe fstatvfs(file.descriptor.rawValue, &system) == 0, system.f_bsize > 0 else { return nil }
    let block = Int64(clamping: system.f_bsize)
    let room = (Int64(movie.bytes.count) + 8 + block - 1) / block * block
    return clinux_insert_range(file.descriptor.rawValue, 0, off_t(room)) != 0 ? room : nil
  }

  /// Moves the media behind room for `moov`, the last bytes first. Returns how far.
  private func moveMedia() throws -> Int64 {
    let distance = Int64(movie.bytes.count)
    var end = movieOffset
    while end > typeSize {
      let count = min(end - typeSize, 1 << 22)
      end -= count
      _ = try file.descriptor.writeAll(
        toAbsoluteOffset: end + distance, Self.read(file.descriptor, end, Int(count)))
    }
    return distance
  }
}
