// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import StreamReport
import SystemPackage

/// A movie in fragments that libavformat writes, with a file for each segment. The initialization in front of the first
/// fragment is kept in memory, because it is completed at the end.
final class SegmentFiles: IOSink {
  /// A segment, which consists of whole fragments.
  struct Segment {
    /// The file's name.
    let name: String
    /// When its first packet begins, in ticks of the stream.
    fileprivate(set) var start = Int64.max
    /// When its last packet ends.
    fileprivate(set) var end = Int64.min
    /// In bytes.
    fileprivate(set) var size: Int64 = 0
  }

  /// `nil` for bytes that are written nowhere.
  private let folder: OutputFolder?
  /// The beginning of the files' names.
  let name: String
  private(set) var segments: [Segment] = []
  /// `ftyp` and `moov`.
  private(set) var initialization: [UInt8] = []
  /// The next box of the initialization; `nil` behind its end.
  private var nextBox: Int? = 0
  /// The file of the last segment; `nil` before its first byte.
  private var file: OpenFile?
  private(set) var position: Int64 = 0

  init(_ folder: OutputFolder?, name: String) { (self.folder, self.name) = (folder, name) }

  var isSeekable: Bool { false }
  var size: Int64? { nil }
  /// Whether a fragment was written.
  var hasFragment: Bool { nextBox == nil }

  func seek(to position: Int64) throws(AVError) { throw .notImplemented }

  /// Begins the next segment, to which all bytes belong that follow. A segment without any is continued.
  func beginSegment() {
    guard segments.last?.size != 0 else { return }
    let number = "\(segments.count + 1)"
    file = nil
    segments.append(Segment(name: "\(name)-\(String(repeating: "0", count: max(0, 5 - number.count)))\(number).m4s"))
  }

  /// Adds the time of a packet to the last segment, in ticks.
  func add(from start: Int64, to end: Int64) {
    guard let last = segments.indices.last else { return }
    segments[last].start = min(segments[last].start, start)
    segments[last].end = max(segments[last].end, end)
  }

  /// Changes `moov` of the initialization, with which it ends.
  func completeInitialization(_ change: (inout MovieBox) -> Void) {
    let bytes = initialization
    var boxes = MP4.Boxes(bytes.span, in: bytes.indices)
    guard let place = boxes.firstIntact(FourCharacterCode("moov"))?.range else { return }
    var movie = MovieBox(Array(bytes[place]))
    change(&movie)
    initialization = bytes[..<place.lowerBound] + movie.bytes
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(AVError) {
    position += Int64(bytes.count)
    guard !hasFragment else { return try unsafe append(Span(_unsafeBytes: bytes)) }
    unsafe initialization += bytes
    let front = initialization
    while let place = nextBox, front.count - place >= MP4.BoxHeader.maximumLength {
      guard let box = try? MP4.BoxHeader(front.span, at: place, limit: UInt64(Int32.max)) else { throw .invalidData }
      guard box.type == FourCharacterCode("moof") else {
        nextBox = place + Int(box.size)
        continue
      }
      (nextBox, initialization) = (nil, Array(front[..<place]))
      try append(front.span.extracting(place...))
    }
  }

  private func append(_ bytes: Span<UInt8>) throws(AVError) {
    guard let last = segments.indices.last else { throw .invalidData }
    segments[last].size += Int64(bytes.count)
    do throws(Errno) {
      if file == nil { file = try folder?.makeFile(segments[last].name) }
      try file?.descriptor.writeFully(bytes)
    } catch { throw AVError(rawValue: -error.rawValue) }
  }
}
