// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc
package import H26x
import StreamReport
import SystemPackage

/// A finished MP4 or MOV file as libavformat writes it, with its `moov` at the end. This adds the parts that
/// libavformat cannot write, and moves `moov` to the front, so the file plays while it is loaded.
struct MovieFile {
  private let file: OpenFile
  private let name: String
  /// Bytes that are free in front of everything else.
  private let room: Int64
  private let size: Int64
  private let movieOffset: Int64
  /// `moov`, for changes before it is written.
  var movie: MovieBox
  /// `ftyp`, which stays the first box.
  private var type: [UInt8]

  /// Files of this size get room in front, if possible, instead of being copied.
  static let roomSize: Int64 = 1 << 24

  /// - Parameters:
  ///   - name: of the file, for messages.
  ///   - room: bytes that are free in front of everything else.
  /// - Returns: `nil` unless the file begins with `ftyp` and ends with `moov`.
  init?(_ path: FilePath, name: String, room: Int64 = 0) throws(Failure) {
    (self.name, self.room) = (name, room)
    do throws(Errno) {
      file = OpenFile(try Errno.typed { try FileDescriptor.open(path, .readWrite, options: .closeOnExec) })
      size = try Stat(file.descriptor).size
      guard let (type, movie) = try Self.boxes(file.descriptor, from: room, to: size) else { return nil }
      self.type = try Self.read(file.descriptor, room, Int(type - room))
      movieOffset = movie
      self.movie = MovieBox(try Self.read(file.descriptor, movie, Int(size - movie)))
    } catch { throw Self.failure(error, name) }
  }

  private static func failure(_ error: Errno, _ name: String) -> Failure { Failure("\(name): \(error)") }

  /// The end of `ftyp` and the beginning of `moov`.
  private static func boxes(
    _ file: FileDescriptor, from start: Int64, to size: Int64
  ) throws(Errno) -> (type: Int64, movie: Int64)? {
    var (offset, type) = (start, start)
    while size - offset >= 8 {
      let bytes = try read(file, offset, Int(min(size - offset, Int64(MP4.BoxHeader.maximumLength))))
      guard let header = try? MP4.BoxHeader(bytes.span, at: 0, limit: UInt64(size - offset)) else { return nil }
      let end = offset + Int64(header.size)
      if offset == start {
        guard header.type == FourCharacterCode("ftyp") else { return nil }
        type = end
      }
      if header.type == FourCharacterCode("moov") { return end == size && header.length == 8 ? (type, offset) : nil }
      offset = end
    }
    return nil
  }

  private static func read(_ file: FileDescriptor, _ offset: Int64, _ count: Int) throws(Errno) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let got = try Errno.typed {
        try unsafe bytes.withUnsafeMutableBytes {
          try unsafe file.read(
            fromAbsoluteOffset: offset + Int64(filled), into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...]))
        }
      }
      guard got > 0 else { throw .ioError }
      filled += got
    }
    return bytes
  }

  private static func write(_ file: FileDescriptor, _ offset: Int64, _ bytes: [UInt8]) throws(Errno) {
    _ = try Errno.typed { try file.writeAll(toAbsoluteOffset: offset, bytes) }
  }

  // MARK: Completing

  /// Completes the description of the video. An MP4 file with Dolby Vision has its brand (Dolby Vision Streams within
  /// the ISO Base Media File Format, 4), as libavformat writes it.
  mutating func complete(_ extras: SampleEntryExtras) {
    movie.complete(extras)
    if extras.hasDolbyVision { addBrand("dby1") }
  }

  /// Gives an MP4 file a compatible brand (ISO/IEC 14496-12, 4.3). It replaces version 1 of MP4, which the other brands
  /// include: a longer list would move the media.
  private mutating func addBrand(_ name: StaticString) {
    func brand(_ code: StaticString) -> [UInt8] { MovieBox.bytes(UInt64(FourCharacterCode(code).rawValue), 4) }
    let places = stride(from: 16, to: type.count - 3, by: 4)
    guard !places.contains(where: { type[$0..<$0 + 4].elementsEqual(brand(name)) }),
      let place = places.first(where: { type[$0..<$0 + 4].elementsEqual(brand("mp41")) })
    else { return }
    type.replaceSubrange(place..<place + 4, with: brand(name))
  }

  /// Writes `moov` in front of the media, which move if there is too little room.
  ///
  /// - Parameter roomSize: see ``roomSize``.
  mutating func finish(roomSize: Int64 = roomSize) throws(Failure) {
    do throws(Errno) {
      // Twice the room for boxes that may become longer.
      movie.makeRoom(forMediaMovedBy: UInt64(room) + UInt64(movie.bytes.count) * 2 + 1 << 21)
      let inserted = fits(room) ? 0 : size >= roomSize ? insertRoom() : nil
      let distance = if let inserted { inserted } else { try moveMedia() }
      movie.moveMedia(by: room + distance)
      let rest = room + distance - Int64(movie.bytes.count)
      try Self.write(file.descriptor, 0, type + movie.bytes + Self.filler(rest))
      try Errno.typed { try file.descriptor.resize(to: movieOffset + distance) }
    } catch { throw Self.failure(error, name) }
  }

  /// Writes `moov` where it was, behind the media.
  func finishBehindMedia() throws(Failure) {
    do throws(Errno) {
      try Self.write(file.descriptor, room, type)
      try Self.write(file.descriptor, movieOffset, movie.bytes)
    } catch { throw Self.failure(error, name) }
  }

  /// Whether `moov` fits into room in front of the media, together with a box that fills the remaining room.
  private func fits(_ room: Int64) -> Bool {
    let rest = room - Int64(movie.bytes.count)
    return rest == 0 || rest >= Self.headerSize
  }

  /// The header of a box that fills so much room.
  private static func filler(_ size: Int64) -> [UInt8] {
    func bigEndian(_ value: Int64, count: Int) -> [UInt8] {
      (1...count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - $0))) }
    }
    let type = Array("free".utf8)
    if size == 0 { return [] }
    return size <= UInt32.max
      ? bigEndian(size, count: 4) + type : bigEndian(1, count: 4) + type + bigEndian(size, count: 8)
  }

  /// Bytes of the header of a box that fills room.
  private static let headerSize: Int64 = 8

  /// Makes room at the beginning without moving anything. Returns the size; `nil` if the file system cannot do it.
  private func insertRoom() -> Int64? {
    var system = statvfs()
    guard unsafe fstatvfs(file.descriptor.rawValue, &system) == 0, system.f_bsize > 0 else { return nil }
    let block = Int64(clamping: system.f_bsize)
    let room = (Int64(movie.bytes.count) + Self.headerSize + block - 1) / block * block
    return clinux_insert_range(file.descriptor.rawValue, 0, off_t(room)) != 0 ? room : nil
  }

  /// Moves the media behind room for `moov`, the last bytes first. Returns how far.
  private func moveMedia() throws(Errno) -> Int64 {
    let distance = Int64(movie.bytes.count) - room + (room > 0 ? Self.headerSize : 0)
    let start = room + Int64(type.count)
    var end = movieOffset
    while end > start {
      let count = min(end - start, 1 << 22)
      end -= count
      try Self.write(file.descriptor, end + distance, Self.read(file.descriptor, end, Int(count)))
    }
    return distance
  }
}

extension OutputFile {
  /// Gives the video of a finished MP4 or MOV file a configuration of Dolby Vision.
  ///
  /// - Returns: whether it has it: other files have no place for it, or are incomplete.
  package func complete(
    _ codec: FormatDescription.Codec, with configuration: DolbyVision.Configuration
  ) throws(Failure) -> Bool {
    guard isSeekable, let path, var file = try MovieFile(path, name: name) else { return false }
    file.complete(
      SampleEntryExtras(
        nil, [], stated: nil, sent: configuration, ambientViewing: nil, codec: codec, editing: [],
        allowsInBandParameterSets: false))
    try file.finishBehindMedia()
    return true
  }
}
