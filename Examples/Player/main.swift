// SPDX-License-Identifier: MPL-2.0
// Plays the video of any file from a time on: player FILE [SECONDS] [SINK]
import GStreamer

let arguments = CommandLine.arguments
guard arguments.count > 1, let seconds = UInt64(arguments.count > 2 ? arguments[2] : "0") else {
  print("usage: player FILE [SECONDS] [SINK]")
  throw PipelineError.empty
}
let sink = arguments.count > 3 ? arguments[3] : "autovideosink"

// decodebin has no pads before it knows the file; what it finds is linked when its pads appear. The rest of the
// pipeline is a line that is linked already.
let pipeline = try Pipeline(
  "filesrc name=file ! decodebin name=decoder  videoconvert name=video ! \(sink)",
  ["file": ["location": .string(arguments[1])]])
let video = try pipeline.element("video")
let connection = try pipeline.element("decoder").onPadAdded { pad in
  guard pad.caps.description.hasPrefix("video/") else { return }
  // A second video stream finds the line taken.
  do throws(PipelineError) { try pad.link(to: video) } catch { print("not shown: \(error)") }
}

// A seek needs a pipeline that has prerolled: then it knows the file.
try await pipeline.preroll()
if let duration = pipeline.duration { print("duration \(Duration(duration))") }
if seconds > 0 { try await pipeline.seek(to: .seconds(seconds)) }
print("from \(pipeline.position.map { "\(Duration($0))" } ?? "an unknown time")")

try await pipeline.play()
for try await message in pipeline.messages {
  switch message.content {
  case .warning(let failure): print("warning: \(failure)")
  case .endOfStream: print("end")
  default: break
  }
}
await pipeline.stop()
withExtendedLifetime(connection) {}
