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
    Copier.register(as: "testcopier", typeName: "GstTestCopier")
    let pictures = try await samples(
      of: "videotestsrc num-buffers=5 ! testcopier name=s  s. ! queue ! fakesink  s. ! queue")
    #expect(pictures.count == 5)
  }
}
