// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

// An element that makes its pads, whole: copies go to every pad that was asked for, like `tee`.

private final class Copier: Element {
  private let outputs = Locked<[String]>([])

  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY", named: "src_%u", .request)] }

  required init(raw: UnsafeMutableRawPointer) {
    unsafe super.init(raw: raw)
    addPad(template: "sink") { [outputs] pad in
      pad.onBuffer { [unowned self] (buffer) throws(FlowError) in
        for name in outputs.snapshot { try self.pad(name)?.push(buffer.share()) }
      }
    }
  }

  override func requestPad(template: String, named name: String?) -> Pad? {
    guard let made = addPad(template: template, named: name) else { return nil }
    pad("sink")?.copyStickyEvents(to: made)
    outputs.withLock { $0.append(made.name) }
    return made
  }

  override func releasePad(_ pad: Pad) {
    let name = pad.name
    outputs.withLock { $0.removeAll { $0 == name } }
    removePad(pad)
  }
}

@Suite struct CopierTests {
  @Test func everyPadThatWasAskedForHasEveryBuffer() async throws {
    Harness.initialise()
    Copier.register(as: "testcopier", typeName: "GstTestCopier")
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=5 ! testcopier name=s \
      s. ! queue ! appsink name=a sync=false  s. ! queue ! appsink name=b sync=false
      """)
    let sinks = try [pipeline.appSink("a"), pipeline.appSink("b")]
    try await pipeline.play()
    for sink in sinks {
      var count = 0
      for try await _ in sink { count += 1 }
      #expect(count == 5)
    }
    await pipeline.stop()
  }
}
