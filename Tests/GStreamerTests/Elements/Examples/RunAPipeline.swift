// SPDX-License-Identifier: MPL-2.0
import Foundation
import GStreamer
import HarnessSupport
import Testing

// The code of the article on pipelines.

/// The messages of a pipeline that reads a file to its end.
func story(ofFile path: String) async throws -> [String] {
  let pipeline = try Pipeline(
    "filesrc name=file ! decodebin ! fakesink", ["file": ["location": .string(path)]])
  try await pipeline.play()
  var story: [String] = []
  for try await message in pipeline.messages {
    switch message.content {
    case .stateChanged(_, let state) where message.isFromPipeline: story.append("\(state)")
    case .tags(let tags): if let codec = tags["video-codec"] { story.append("\(message.source): \(codec)") }
    case .warning(let failure): story.append("warning of \(failure)")
    case .endOfStream: story.append("end")
    default: break
    }
  }
  await pipeline.stop()
  return story
}

/// Writes grey pictures of 64 × 48 samples into a file, 25 a second.
func write(_ pictures: [[UInt8]], toFile path: String) async throws {
  let pipeline = try Pipeline(
    """
    appsrc name=pictures format=time caps=video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1 \
    ! videoconvert ! jpegenc ! matroskamux ! filesink name=file
    """, ["file": ["location": .string(path)]])
  let source = try pipeline.appSource("pictures")
  try await pipeline.play()
  for (number, picture) in pictures.enumerated() {
    guard var buffer = Buffer(copying: picture.span) else { throw PipelineError.flow(.error) }
    buffer.pts = .seconds(UInt64(number), times: 1, over: 25)
    buffer.duration = .seconds(1, times: 1, over: 25)
    try await source.send(buffer)
  }
  try source.finish()
  // End of stream is posted when all of it is written.
  for try await _ in pipeline.messages {}
  await pipeline.stop()
}

/// The first picture from the keyframe in front of a time, out of a file that is in memory.
func picture(near time: ClockTime, in file: [UInt8]) async throws -> Sample? {
  let pipeline = try Pipeline(
    "appsrc name=bytes stream-type=seekable size=\(file.count) ! decodebin ! appsink name=pictures sync=false")
  let (source, pictures) = (try pipeline.appSource("bytes"), try pipeline.appSink("pictures"))
  async let served: Void = source.serve { position in
    guard position < file.count else { return nil }
    let piece = Int(position)..<min(Int(position) + 4096, file.count)
    position = UInt64(piece.upperBound)
    return Buffer(copying: file.span.extracting(piece))
  }
  try await pipeline.preroll()
  try await pipeline.seek(to: time, [.flush, .keyUnit])
  try await pipeline.play()
  var iterator = pictures.makeAsyncIterator()
  let picture = try await iterator.next()
  await pipeline.stop()
  try await served
  return picture
}

/// Records a live source for a while, and completes the file.
func record(_ description: String, for duration: Duration) async throws {
  let pipeline = try Pipeline(description)
  try await pipeline.play()
  try await Task.sleep(for: duration)
  try await pipeline.finish()
  await pipeline.stop()
}

/// Puts another element in the place of one while the pipeline plays; no buffer is lost.
func exchange(_ old: PipelineElement, for new: PipelineElement, in pipeline: Pipeline) async throws {
  guard let front = old.pad("sink")?.peer, let back = old.pad("src")?.peer else { return }
  let (idle, continuation) = AsyncStream.makeStream(of: Void.self)
  let block = front.addBlockingProbe { continuation.finish() }
  for await _ in idle {}
  try await pipeline.remove(old)
  try pipeline.add(new)
  if let sink = new.pad("sink"), let source = new.pad("src") {
    try front.link(to: sink)
    try source.link(to: back)
  }
  block.remove()
}

@Suite struct RunAPipelineTests {
  init() { Harness.initialise() }

  @Test func reportsStatesAndStreamsOfAFile() async throws {
    let folders = #filePath.split(separator: "/").dropLast(4)
    let story = try await story(ofFile: "/" + folders.joined(separator: "/") + "/Media/clip.mp4")
    #expect(story.contains("paused") && story.contains { $0.contains("H.264") })
    #expect(story.last == "end")
  }

  @Test func readsWhatItWrites() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "run-a-pipeline-\(UUID()).mkv")
    defer { try? FileManager.default.removeItem(at: file) }
    try await write((0..<30).map { [UInt8](repeating: UInt8($0), count: 64 * 48) }, toFile: file.path)
    #expect(try await pictureSizes(ofFile: file.path) == Array(repeating: [64, 48], count: 30))
  }

  @Test func seeksInAFileInMemory() async throws {
    let folders = #filePath.split(separator: "/").dropLast(4)
    let file = [UInt8](
      try Data(contentsOf: URL(filePath: "/" + folders.joined(separator: "/") + "/Media/clip.mp4")))
    let first = try #require(try await picture(near: .zero, in: file)?.pts)
    let later = try #require(try await picture(near: .milliseconds(1500), in: file)?.pts)
    #expect(first < .milliseconds(100) && later > .milliseconds(500) && later <= .milliseconds(1500))
  }

  @Test func exchangesAnElement() async throws {
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=300 ! identity sleep-time=1000 ! identity name=old ! fakesink name=out")
    let count = Counter()
    let probe = try pipeline.element("out").pad("sink")?.addBufferProbe { _ in
      count.increment()
      return .pass
    }
    try await pipeline.play()
    try await exchange(pipeline.element("old"), for: PipelineElement("identity", name: "new"), in: pipeline)
    for try await _ in pipeline.messages {}
    #expect(count.value == 300 && pipeline.state == .playing)
    await pipeline.stop()
    probe?.remove()
  }

  @Test func endsARecording() async throws {
    try await record("videotestsrc is-live=true ! fakesink sync=false", for: .milliseconds(50))
  }
}
