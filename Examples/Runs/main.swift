// SPDX-License-Identifier: MPL-2.0
// Codes pictures and decodes them again, by elements of this program, and compares: runs
import GStreamer

try RunsEncoder.register(as: "runsenc", typeName: "ExampleRunsEncoder")
try RunsDecoder.register(as: "runsdec", typeName: "ExampleRunsDecoder")
try await compare()

func compare() async throws {
  let pipeline = try Pipeline(
    """
    videotestsrc pattern=ball num-buffers=10 ! video/x-raw,format=GRAY8,width=90,height=60,framerate=25/1 ! tee name=raw
    raw. ! queue ! runsenc ! tee name=coded  coded. ! queue ! runsdec ! queue ! appsink name=after sync=false
    raw. ! queue ! appsink name=before sync=false  coded. ! queue ! appsink name=between sync=false
    """)
  var before = try pipeline.appSink("before").makeAsyncIterator()
  var between = try pipeline.appSink("between").makeAsyncIterator()
  var after = try pipeline.appSink("after").makeAsyncIterator()
  try await pipeline.play()
  while let picture = try await before.next(), let code = try await between.next(), let copy = try await after.next() {
    let time = copy.pts.map { "\(Duration($0))" } ?? "-"
    print(time, "\(90 * 60) bytes as \(code.size),", try isSame(picture, copy) ? "the same" : "another picture")
  }
  await pipeline.stop()
}

func isSame(_ picture: Sample, _ copy: Sample) throws -> Bool {
  let first = try picture.mapVideo()
  let second = try copy.mapVideo()
  return (0..<60).allSatisfy { row in
    let (one, other) = (first.row(row, ofPlane: 0), second.row(row, ofPlane: 0))
    return one.count == other.count && one.indices.allSatisfy { one[$0] == other[$0] }
  }
}
