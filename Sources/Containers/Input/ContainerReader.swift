// SPDX-License-Identifier: MPL-2.0
package import GStreamer
import H26x
import StreamReport

/// The first part of a pipeline that reads the video of a container: a source and a parser.
package final class ContainerReader: PictureSource {
  package let pipeline = Pipeline()
  package let input: InputFile
  package let track: VideoTrack
  package let parser: PipelineElement?
  package let place: ProgressPlace
  private let status: ReadingStatus
  /// Whether it begins at the start that was requested.
  package let hasSought: Bool
  /// All parts that are shown.
  package let parts: [ShownRange]

  /// - Parameters:
  ///   - part: the number of the part that is read, from 0.
  ///   - start: a time of the presentation at which the requested pictures begin. Earlier pictures come too.
  ///   - rest: makes the elements behind the parser.
  convenience init(
    _ input: InputFile, part: Int, from start: ClockTime?,
    _ rest: (FormatDescription.Codec) throws(PipelineError) -> [PipelineElement]
  ) throws(Failure) {
    let file = try ContainerFile(input, ReadingStatus())
    let reader = try Self.reader(file, part: part)
    try self.init(
      file, reader, hasSought: start.map { start throws(Failure) in try reader.seek(to: start) } ?? false, clips: true,
      rest)
  }

  /// - Parameters:
  ///   - reader: is taken over.
  ///   - clips: whether the hidden pictures are dropped behind the decoder.
  ///   - rest: makes the elements behind the parser.
  init(
    _ file: ContainerFile, _ reader: any VideoTrackReader, hasSought: Bool = false, clips: Bool,
    _ rest: (FormatDescription.Codec) throws(PipelineError) -> [PipelineElement]
  ) throws(Failure) {
    file.hasAllReaders()
    (input, status, track, parts) = (file.input, file.status, reader.track, reader.parts)
    self.hasSought = hasSought
    place = ProgressPlace(of: reader.track, in: file.input)
    do throws(PipelineError) {
      let parser = try PipelineElement("swifth\(reader.track.codec.digits)parse", name: "parser")
      self.parser = parser
      let source = try ContainerSource.make(reading: reader, file.status, place, clips: clips)
      let chain = try rest(reader.track.codec)
      try pipeline.add(chain: [source, parser] + chain)
      if clips, let first = reader.first { Self.clip(parser, from: reader.shown, first: first) }
    } catch { throw Failure(error, about: file.input.name) }
  }

  /// Has the decoder show the first picture of the range, and drop pictures in front of it: the parser gives pictures
  /// the duration that the stream states.
  private static func clip(_ parser: PipelineElement, from shown: ShownRange, first: Int64) {
    let (first, start) = (ContainerSource.time(first), ContainerSource.time(shown.start))
    parser.pad("src")?.changeBuffers { buffer in
      guard let time = buffer.pts, time <= first else { return .pass }
      if time < first {
        buffer.duration = min(buffer.duration ?? first - time, first - time)
      } else if time < start {
        buffer.duration = max(buffer.duration ?? .zero, start - time + ClockTime(nanoseconds: 1))
      }
      return .pass
    }
  }

  /// Reads MP4 by its tables, except for files whose sample entries name neither codec. libavformat takes encrypted
  /// samples for clear samples.
  package static func reader(_ file: ContainerFile, part: Int = 0) throws(Failure) -> any VideoTrackReader {
    let input = file.input
    guard input.kind == .container(.mp4) else { return try ContainerVideoReader(file) }
    do throws(Failure) { return try MP4VideoReader(input, part: part) } catch {
      if let failure = input.encryptionFailure ?? input.mp4Failure { throw failure }
      if !input.selection.isEmpty { throw try ContainerInput(file, .description).selectionFailure ?? error }
      guard let reader = try? ContainerVideoReader(file) else { throw error }
      return reader
    }
  }

  package var remark: String { track.remark }

  package func begin() async throws(Failure) {}

  package func end() { status.end() }

  package func preroll() async throws(Failure) {
    do { try await pipeline.preroll() } catch { throw failure(error) }
  }

  package func fail(_ failure: Failure) {
    status.fail(failure)
    Task { [pipeline] in await pipeline.stop() }
  }

  package func playToEnd() async throws(Failure) {
    do throws(PipelineError) {
      var messages = pipeline.messages.makeAsyncIterator()
      try await pipeline.play()
      while try await messages.next() != nil {}
    } catch { throw failure(error) }
    if let failure = status.failure { throw failure }
  }

  package func failure(_ error: PipelineError) -> Failure {
    if let known = status.failure { return known }
    guard case .element(let posted) = error, posted.kind.hasSuffix("parse"), case .stream = posted.error.code else {
      return Failure(error, about: input.name)
    }
    return input.noPicture(track.codec)
  }
}

extension InputFile {
  /// The video, as its container describes it.
  package func videoTrack() throws(Failure) -> VideoTrack {
    let file = try ContainerFile(self, ReadingStatus())
    let reader = try ContainerReader.reader(file)
    file.hasAllReaders()
    return reader.track
  }

  /// How `videoflip` makes pictures upright: its value of `video-direction`.
  package var direction: String {
    guard !isRaw else { return "auto" }
    // A pipe cannot be read twice.
    guard size != nil, let track = try? videoTrack() else { return "identity" }
    return track.direction ?? "identity"
  }
}
