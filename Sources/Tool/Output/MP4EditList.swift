// SPDX-License-Identifier: MPL-2.0
import StreamReport
import SystemPackage

/// The edit list of a finished MP4 or MOV file's first video track, which libavformat makes from timestamps alone: it
/// cannot hide pictures at the end, nor show parts in an order of their own.
struct MP4EditList {
  /// A part that is shown, or a pause (ISO/IEC 14496-12, 8.6.6).
  struct Entry: Hashable {
    /// How long it lasts, in nanoseconds.
    var duration: Int64
    /// Where it begins in the media, in ticks of the track; −1 for a pause.
    var mediaTime: Int64
  }

  let entries: [Entry]

  /// Writes the list into a file that ends with its `moov`.
  ///
  /// - Parameter name: of the file, for the message.
  func write(into path: FilePath, name: String) throws(Failure) {
    do {
      let file = OpenFile(try .open(path, .readWrite, options: .closeOnExec))
      guard let (offset, movie) = try Self.movie(of: file.descriptor) else { return }
      let changed = try replaced(movie)
      try file.descriptor.resize(to: offset)
      _ = try file.descriptor.writeAll(toAbsoluteOffset: offset, changed)
    } catch let error as Failure {
      throw error
    } catch {
      throw Failure("\(name): \(error)")
    }
  }

  /// The box `moov` and where it is; nil unless it is the file's last.
  private static func movie(of file: FileDescriptor) throws -> (offset: Int64, bytes: [UInt8])? {
    let size = try Stat(file).size
    var offset: Int64 = 0
    while size - offset >= 8 {
      var header = [UInt8](repeating: 0, count: 16)
      let count = try unsafe header.withUnsafeMutableBytes {
        try unsafe file.read(fromAbsoluteOffset: offset, into: $0)
      }
      guard count >= 8 else { return nil }
      var length = Int64(header[0..<4].reduce(0) { $0 << 8 | UInt64($1) })
      if length == 1 { length = Int64(clamping: header[8..<16].reduce(0) { $0 << 8 | UInt64($1) }) }
      guard length >= 8, length <= size - offset else { return nil }
      guard header[4..<8].elementsEqual("moov".utf8) else {
        offset += length
        continue
      }
      guard offset + length == size else { return nil }
      var bytes = [UInt8](repeating: 0, count: Int(length))
      var filled = 0
      while filled < bytes.count {
        let got = try unsafe bytes.withUnsafeMutableBytes {
          try unsafe file.read(
            fromAbsoluteOffset: offset + Int64(filled), into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...]))
        }
        guard got > 0 else { return nil }
        filled += got
      }
      return (offset, bytes)
    }
    return nil
  }

  /// `moov` with this list in its first video track, and the durations that follow from it.
  private func replaced(_ movie: [UInt8]) throws -> [UInt8] {
    var movie = movie
    guard let header = Self.box("mvhd", in: movie, 8..<movie.count) else { return movie }
    let isLong = movie[header.lowerBound + 8] == 1
    let scale = Self.number(movie, header.lowerBound + (isLong ? 28 : 20), 4)
    func ticks(_ nanoseconds: Int64) -> UInt64 {
      let (high, low) = UInt64(max(0, nanoseconds)).multipliedFullWidth(by: scale)
      guard high < 1_000_000_000 else { return UInt64(UInt32.max) }
      let (whole, rest) = UInt64(1_000_000_000).dividingFullWidth((high, low))
      return whole + (rest >= 500_000_000 ? 1 : 0)
    }
    let durations = entries.map { ticks($0.duration) }
    let total = durations.reduce(0, +)
    for track in Self.boxes("trak", in: movie, 8..<movie.count) where Self.isVideo(movie, track) {
      var list = Self.bytes(UInt64(0x0100_0000), 4) + Self.bytes(UInt64(entries.count), 4)
      for (entry, duration) in zip(entries, durations) {
        list += Self.bytes(duration, 8) + Self.bytes(UInt64(bitPattern: entry.mediaTime), 8) + [0, 1, 0, 0]
      }
      let box = Self.bytes(UInt64(list.count + 8), 4) + Array("elst".utf8) + list
      let edits = Self.bytes(UInt64(box.count + 8), 4) + Array("edts".utf8) + box
      guard let tkhd = Self.box("tkhd", in: movie, track.lowerBound + 8..<track.upperBound) else { return movie }
      Self.set(&movie, tkhd.lowerBound + (movie[tkhd.lowerBound + 8] == 1 ? 36 : 28), total, in: tkhd)
      Self.set(&movie, header.lowerBound + (isLong ? 32 : 24), total, in: header, isMinimum: true)
      let old = Self.box("edts", in: movie, track.lowerBound + 8..<track.upperBound)
      let place = old ?? tkhd.upperBound..<tkhd.upperBound
      movie.replaceSubrange(place, with: edits)
      let growth = edits.count - place.count
      for parent in [track.lowerBound, 0] {
        let size = Int(Self.number(movie, parent, 4)) + growth
        movie.replaceSubrange(parent..<parent + 4, with: Self.bytes(UInt64(size), 4))
      }
      return movie
    }
    return movie
  }

  /// Sets a duration, which has 8 bytes in version 1 of a box and 4 in version 0.
  private static func set(
    _ movie: inout [UInt8], _ place: Int, _ value: UInt64, in box: Range<Int>, isMinimum: Bool = false
  ) {
    let width = movie[box.lowerBound + 8] == 1 ? 8 : 4
    let others = isMinimum ? tracksEnd(movie) : 0
    movie.replaceSubrange(
      place..<place + width, with: bytes(min(max(value, others), width == 4 ? UInt64(UInt32.max) : .max), width))
  }

  /// When the last of the tracks that are no video ends, in ticks of the movie.
  private static func tracksEnd(_ movie: [UInt8]) -> UInt64 {
    boxes("trak", in: movie, 8..<movie.count).filter { !isVideo(movie, $0) }.compactMap { track -> UInt64? in
      guard let tkhd = box("tkhd", in: movie, track.lowerBound + 8..<track.upperBound) else { return nil }
      let isLong = movie[tkhd.lowerBound + 8] == 1
      return number(movie, tkhd.lowerBound + (isLong ? 36 : 28), isLong ? 8 : 4)
    }.max() ?? 0
  }

  private static func isVideo(_ movie: [UInt8], _ track: Range<Int>) -> Bool {
    guard let media = box("mdia", in: movie, track.lowerBound + 8..<track.upperBound),
      let handler = box("hdlr", in: movie, media.lowerBound + 8..<media.upperBound), handler.count >= 20
    else { return false }
    return movie[handler.lowerBound + 16..<handler.lowerBound + 20].elementsEqual("vide".utf8)
  }

  private static func box(_ type: String, in movie: [UInt8], _ range: Range<Int>) -> Range<Int>? {
    boxes(type, in: movie, range).first
  }

  private static func boxes(_ type: String, in movie: [UInt8], _ range: Range<Int>) -> [Range<Int>] {
    var (found, place): ([Range<Int>], Int) = ([], range.lowerBound)
    while range.upperBound - place >= 8 {
      let size = Int(number(movie, place, 4))
      guard size >= 8, size <= range.upperBound - place else { break }
      if movie[place + 4..<place + 8].elementsEqual(type.utf8) { found.append(place..<place + size) }
      place += size
    }
    return found
  }

  private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> UInt64 {
    bytes[place..<place + count].reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64(count - 1 - $0))) }
  }
}
