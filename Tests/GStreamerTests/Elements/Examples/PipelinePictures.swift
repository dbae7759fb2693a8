// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

// The code of the library's first page.

/// The sizes of a file's pictures, decoded by whatever decoder is there.
func pictureSizes(ofFile path: String) async throws -> [[Int]] {
  let pipeline = try Pipeline(
    "filesrc name=file ! decodebin ! videoconvert ! video/x-raw,format=NV12 ! appsink name=pictures sync=false",
    ["file": ["location": .string(path)]])
  let pictures = try pipeline.appSink("pictures")
  try await pipeline.play()
  var sizes: [[Int]] = []
  for try await picture in pictures {
    let map = try picture.mapVideo()
    sizes.append([map.info.width, map.info.height])
  }
  return sizes
}

@Suite struct PipelinePicturesTests {
  @Test func readsEveryPictureOfTheFile() async throws {
    Harness.initialise()
    let folders = #filePath.split(separator: "/").dropLast(4)
    let sizes = try await pictureSizes(ofFile: "/" + folders.joined(separator: "/") + "/Media/clip.mp4")
    #expect(sizes == Array(repeating: [320, 180], count: 62))
  }

  @Test func aMissingFileIsAnError() async {
    await #expect(throws: PipelineError.self) { try await pictureSizes(ofFile: "/there/is/none") }
  }
}
