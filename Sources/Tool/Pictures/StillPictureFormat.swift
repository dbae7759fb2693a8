// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer

/// The formats of still pictures.
enum StillPictureFormat: String {
  case png, jpeg

  init?(fileName: String) {
    let name = fileName.lowercased()
    if name.hasSuffix(".png") {
      self = .png
    } else if name.hasSuffix(".jpg") || name.hasSuffix(".jpeg") {
      self = .jpeg
    } else {
      return nil
    }
  }

  /// Writes one raw picture.
  func write(_ picture: Sample, to output: OutputFile) async throws(Failure) {
    let file: Sample
    do throws(PipelineError) {
      let source = try PipelineElement("appsrc", name: "picture", ["format": "time"])
      let encoder = try PipelineElement(self == .png ? "pngenc" : "jpegenc")
      if self == .jpeg { try encoder.set("quality", 90) }
      let sink = try PipelineElement("appsink", name: "file", ["sync": false])
      let pipeline = try Pipeline(linking: source, PipelineElement("videoconvert"), encoder, sink)
      let result = try pipeline.appSink("file")
      let input = try pipeline.appSource("picture")
      try await pipeline.play()
      try await input.send(picture)
      try input.finish()
      var files = result.makeAsyncIterator()
      let encoded = try await files.next()
      await pipeline.stop()
      guard let encoded else { throw PipelineError.stopped }
      file = encoded
    } catch { throw Failure(error, about: output.name) }
    try output.write(file)
  }
}
