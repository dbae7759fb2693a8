// SPDX-License-Identifier: MPL-2.0
// Prints each line of a file with its time, cut by an element of this program: lines FILE
import GStreamer

guard CommandLine.arguments.count == 2 else {
  print("usage: lines FILE")
  throw PipelineError.empty
}
// An element of the program's own needs no plugin: after this, pipelines of the process can use its name.
try LineParse.register(as: "lineparse", typeName: "ExampleLineParse")

let pipeline = try Pipeline(
  "filesrc name=file ! lineparse ! appsink name=lines sync=false",
  ["file": ["location": .string(CommandLine.arguments[1])]])
let lines = try pipeline.appSink("lines")
try await pipeline.play()
for try await sample in lines {
  let text = String(decoding: try sample.copiedBytes(), as: UTF8.self)
  print(sample.pts.map { "\(Duration($0))" } ?? "-", text, terminator: "")
}
await pipeline.stop()
