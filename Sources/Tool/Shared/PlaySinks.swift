// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import Glibc
import H26x

/// The sinks for pictures and sound.
struct PlaySinks: Sendable {
  var video: String
  var audio: String
  /// Whether each picture is shown as soon as it is decoded, not at its time.
  var isImmediate = false
  /// Whether the decoder verifies slices, and picture hashes.
  var isStrict = false

  /// - Parameters:
  ///   - video: the name of the element that shows pictures; `nil` for autovideosink.
  ///   - audio: the name of the element that plays sound; `nil` for autoaudiosink.
  /// - Throws: a `Failure` when there is no such element, or no screen for autovideosink.
  init(video: String?, audio: String?) throws(Failure) {
    self.video = video ?? "autovideosink"
    self.audio = audio ?? "autoaudiosink"
    for name in [video, audio].compactMap(\.self) where !Runtime.hasElement(name) {
      throw Failure("GStreamer has no element \(name)\(ElementPackage.remedy(for: name))", .usage)
    }
    if video == nil, !["DISPLAY", "WAYLAND_DISPLAY"].contains(where: Self.isSet) {
      throw Failure(
        "no screen to show on: neither DISPLAY nor WAYLAND_DISPLAY is set; see h26x decode and h26x snapshot")
    }
  }

  /// Whether a variable of the environment has a value that is not empty.
  private static func isSet(_ variable: String) -> Bool {
    guard let value = unsafe getenv(variable) else { return false }
    return unsafe value.pointee != 0
  }

  /// Adds decoder, queue, conversion and sink to the pipeline, linked, and returns the decoder.
  func attachVideo(_ codec: FormatDescription.Codec, _ pipeline: Pipeline) throws(PipelineError) -> PipelineElement {
    let decoder = try PluginDecoder.make(codec, name: "decoder")
    try decoder.set("low-delay", .boolean(isImmediate))
    try decoder.set("verify-slices", .boolean(isStrict))
    // Only H.265 has picture hashes.
    try? decoder.set("verify-picture-hash", .boolean(isStrict))
    let sink = try PipelineElement(video, name: "screen")
    try? sink.set("sync", .boolean(!isImmediate))
    try pipeline.add(
      chain: decoder, PipelineElement("queue", ["max-size-buffers": isImmediate ? 1 : 8, "max-size-bytes": 0]),
      PipelineElement("videoconvert"), PipelineElement("videoflip", ["video-direction": "auto"]),
      PipelineElement("videoconvert"), sink)
    return decoder
  }

  /// Adds a queue, decodebin, conversion and sink to the pipeline, and returns the queue.
  func attachAudio(_ pipeline: Pipeline) throws(PipelineError) -> PipelineElement {
    let convert = try PipelineElement("audioconvert")
    try pipeline.add(chain: convert, PipelineElement("audioresample"), PipelineElement(audio))
    let queue = try PipelineElement("queue", ["max-size-time": .uint64(5_000_000_000), "max-size-bytes": 0])
    let decode = try PipelineElement("decodebin")
    try pipeline.add(chain: queue, decode)
    try decode.onPadAdded { pad in try? pad.link(to: convert) }
    return queue
  }
}
