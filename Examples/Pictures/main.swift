// SPDX-License-Identifier: MPL-2.0
// Makes pictures, changes them and shows them as text, by elements of this program: pictures [COUNT]
import GStreamer

try GradientSource.register(as: "gradientsrc", typeName: "ExampleGradientSource")
try Mirror.register(as: "mirror", typeName: "ExampleMirror")
try EverySecond.register(as: "everysecond", typeName: "ExampleEverySecond")
try TextSink.register(as: "textsink", typeName: "ExampleTextSink")

let count = CommandLine.arguments.dropFirst().first.flatMap { UInt64($0) } ?? 8
let format = "video/x-raw,width=40,height=8,framerate=10/1"
try await Pipeline("gradientsrc pictures=\(count) ! \(format) ! mirror ! everysecond ! textsink sync=false").run()
