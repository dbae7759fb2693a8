// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import Containers
import GStreamer
import H26x
import StreamReport

/// Edits a file as it is, and writes a byte stream or nothing.
extension InputFile {
  /// Reads the whole file, and writes nothing.
  ///
  /// - Returns: the edit, with the changes that it would make.
  func trying(_ edit: VideoEdit) async throws(Failure) -> VideoEdit {
    var edit = try await isRaw ? editedByteStream(edit) { _ in } : tryingContainer(edit)
    try edit.finishListing()
    return edit
  }

  /// The bytes of a byte stream that are read at a time.
  private static let editedChunk = 1 << 20

  /// Edits a byte stream; all that the edits do not concern is copied, byte for byte. After an interrupt, nothing more
  /// is read, and an access unit that has not come to its end is left out.
  ///
  /// - Returns: the edit, with its changes.
  func editedByteStream(
    _ edit: VideoEdit, _ write: ([UInt8]) throws(Failure) -> Void
  ) async throws(Failure) -> VideoEdit {
    guard case .byteStream(let codec, isEvident: true) = kind else { throw Failure(noVideo) }
    let (place, status) = (ProgressPlace(of: self), ReadingStatus())
    let file = try ContainerFile(self, status)
    let bytes = file.bytes()
    file.hasAllReaders()
    var edit = edit
    edit.begin(codec)
    try await Interruption.handled(
      by: { status.stop() },
      during: { () async throws(Failure) in
        try await Progress.during(place) { () async throws(Failure) in
          var isLast = false
          while !isLast {
            let chunk = try read(bytes)
            guard !status.isStopping else { return }
            isLast = chunk.isEmpty
            try edit.take(chunk, isLast: isLast, write)
            place.reach(bytes: bytes.position)
          }
        }
      })
    if edit.count == 0 { try Interruption.check() }
    return edit
  }

  /// The next bytes of the file; none at the end.
  func read(_ bytes: InputBytes) throws(Failure) -> [UInt8] {
    var failure: AVError?
    let chunk = unsafe [UInt8](unsafeUninitializedCapacity: Self.editedChunk) { buffer, count in
      do throws(AVError) { count = try unsafe bytes.read(into: UnsafeMutableRawBufferPointer(buffer)) } catch {
        failure = error
      }
    }
    if let failure { throw Failure("\(name): cannot be read: \(failure)") }
    return chunk
  }

  /// Edits the video of a container, and writes nothing.
  ///
  /// - Returns: the edit, with the changes that it would make.
  private func tryingContainer(_ edit: VideoEdit) async throws(Failure) -> VideoEdit {
    let file = try ContainerFile(self, ReadingStatus())
    let video = try ContainerReader.reader(file)
    file.hasAllReaders()
    // When the presentation begins, whatever of it is read.
    let shift = video.shift &- (video.beginning ?? 0)
    if edit.includesHidden || video.parts.count > 1 { video.readAllMedia() }
    let place = ProgressPlace(of: video.track, in: self)
    var edit = edit
    edit.begin(video.track.codec)
    var isByteStream = try begin(video.track.packaging, video.track.codec, &edit)
    let describes = !isByteStream && (hasDescription || edit.changesRecordOnly)
    try await Progress.during(place) { () async throws(Failure) in
      while Interruption.signal == nil, let sample = try video.next() {
        if let packaging = sample.packaging, try begin(packaging, video.track.codec, &edit) { isByteStream = true }
        edit.show(at: sample.composition.map { $0 &+ shift }, byteCount: sample.bytes.count)
        if isByteStream {
          try edit.take(sample.bytes, isLast: false) { _ in }
        } else {
          let isFirst = edit.count == 0
          let edited = try edit.edit(sample.bytes)
          if isFirst, describes { try edit.describeContainer(video.track, edited) }
        }
        place.reach(time: sample.composition ?? 0, bytes: video.position)
      }
      if isByteStream { try edit.take([], isLast: true) { _ in } } else { try edit.finish() }
    }
    return edit
  }

  /// Whether it is a container that describes the video beside the stream.
  private var hasDescription: Bool { [.container(.mp4), .container(.matroska)].contains(kind) }

  /// Begins another packaging.
  ///
  /// - Returns: whether it is a byte stream.
  private func begin(
    _ packaging: VideoTrack.Packaging, _ codec: FormatDescription.Codec, _ edit: inout VideoEdit
  ) throws(Failure) -> Bool {
    switch packaging {
    case .lengthPrefixed(let configuration, _):
      let edited = try edit.edit(configuration: configuration)
      if hasDescription { edit.describeContainer(codec, edited) }
      return false
    case .byteStream: return true
    }
  }
}
