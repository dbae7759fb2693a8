// SPDX-License-Identifier: MPL-2.0
package import GStreamer
package import H26x

/// The first part of a pipeline, which gives parsed video.
package protocol PictureSource: AnyObject, Sendable {
  var pipeline: Pipeline { get }
  var input: InputFile { get }
  /// Whether it begins near the start that was requested.
  var hasSought: Bool { get }
  /// All parts that are shown, of which it reads one; empty if everything is shown.
  var parts: [ShownRange] { get }
  /// The video's parser; `nil` before it is known.
  var parser: PipelineElement? { get }
  /// Ends a sentence about times that are not as the file has them; empty if they are.
  var remark: String { get }
  /// How far it has come.
  var place: ProgressPlace { get }
  /// Waits until the elements are there.
  func begin() async throws(Failure)
  /// Prerolls the pipeline.
  func preroll() async throws(Failure)
  /// Plays to the end of the stream. The pipeline is not stopped, so elements keep their statistics.
  func playToEnd() async throws(Failure)
  /// Ends the stream as if nothing more came, even if the input waits for more.
  func end()
  /// Stops the pipeline, and makes this its failure, unless it has one.
  func fail(_ failure: Failure)
  /// The message for an error of the pipeline.
  func failure(_ error: PipelineError) -> Failure
}

extension PictureSource {
  /// The statistics of the parser.
  package var parserStatistics: Fields? { try? parser?.fields("stats") }
  /// Width to height of a pixel; `nil` if neither the stream nor the container has it.
  package var pixelAspect: Fraction? { parser?.pad("src")?.caps.first.value("pixel-aspect-ratio")?.fraction }
}

extension InputFile {
  /// Makes the first part of a pipeline that reads the video.
  ///
  /// - Parameters:
  ///   - framerate: the frame rate of a byte stream that has none.
  ///   - part: the number of the part of the container that is read, from 0.
  ///   - start: a time of the presentation at which the requested pictures begin. Earlier pictures come too.
  ///   - rest: makes the elements behind the parser, perhaps on a streaming thread.
  package func pictureSource(
    framerate: Fraction? = nil, part: Int = 0, from start: ClockTime? = nil,
    _ rest: @escaping @Sendable (FormatDescription.Codec) throws(PipelineError) -> [PipelineElement]
  ) throws(Failure) -> any PictureSource {
    guard isRaw else { return try ContainerReader(self, part: part, from: start, rest) }
    return try MediaReader(self, framerate: framerate) { stream, pipeline throws(PipelineError) in
      guard let codec = stream.codec else { return nil }
      let chain = try rest(codec)
      try pipeline.add(chain: chain)
      return chain.first
    }
  }
}

extension Pipeline {
  /// Adds elements, each linked to the next. The last element is added first, so an element that starts finds the
  /// next element ready.
  package func add(chain elements: PipelineElement...) throws(PipelineError) { try add(chain: elements) }

  /// Adds elements, each linked to the next. The last element is added first, so an element that starts finds the
  /// next element ready.
  package func add(chain elements: [PipelineElement]) throws(PipelineError) {
    for element in elements.reversed() { try add(element) }
    for (a, b) in zip(elements, elements.dropFirst()) { try link(a, b) }
  }
}
