// SPDX-License-Identifier: MPL-2.0
import VideoDecoding

// The code of the article, checked by ArticleTests.

/// How a session decodes where every frame of delay counts.
func liveConfiguration() -> SessionConfiguration {
  var configuration = SessionConfiguration()
  configuration.lowDelay = true
  configuration.threadType = .slice
  return configuration
}

/// The greatest delay in frames that a stream's pictures came with.
func greatestDelay(of accessUnits: AccessUnits<WholeStream>, _ configuration: SessionConfiguration) async throws -> Int
{
  var frames = 0
  for try await picture in DecodedPictures(of: accessUnits, configuration: configuration) {
    frames = max(frames, picture.latency.frames)
  }
  return frames
}
