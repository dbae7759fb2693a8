// SPDX-License-Identifier: MPL-2.0
import GStreamer

// The code of the article that no example has, checked by ArticleTests.

/// Plays some of a file's streams; the others are not decoded. Returns the ids of those that played.
func play(_ ids: [String], of uri: String, on sink: String = "autoaudiosink") async throws -> [String] {
  let pipeline = try Pipeline(
    "uridecodebin3 name=source ! audioconvert ! \(sink)", ["source": ["uri": .string(uri)]])
  // Emitted for each stream, before any plays: 1 is yes, 0 is no. The text of a stream contains its id.
  let connection = try pipeline.element("source").connect("select-stream") { arguments in
    let stream = arguments[1]?.string ?? ""
    return .int(ids.contains { stream.contains($0) } ? 1 : 0)
  }
  try await pipeline.play()
  var playing: [String] = []
  for try await message in pipeline.messages {
    if case .streamsSelected(_, let ids) = message.content { playing = ids }
  }
  await pipeline.stop()
  connection.disconnect()
  return playing
}
