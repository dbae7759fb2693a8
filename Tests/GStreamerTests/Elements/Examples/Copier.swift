// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

// An element that makes its pads, whole: copies go to every pad that was asked for, like `tee`.

/// Gives every buffer to each pad that was asked for.
final class Copier: Element {
  private let outputs = Locked<[String]>([])

  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY", named: "src_%u", .request)] }

  required init(raw: UnsafeMutableRawPointer) {
    unsafe super.init(raw: raw)
    addPad(template: "sink") { [outputs] pad in
      pad.setProxiesCaps()
      pad.onBuffer { [unowned self] (buffer) throws(FlowError) in
        var flows = FlowCombiner()
        for name in outputs.snapshot {
          if let output = self.pad(name) { flows.push(buffer.share(), through: output) }
        }
        try flows.check()
      }
    }
  }

  override func requestPad(template: String, named name: String?) -> Pad? {
    guard let made = addPad(template: template, named: name, { $0.setProxiesCaps() }) else { return nil }
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
  @Test func copiesABuffer() throws {
    Harness.initialise()
    try Copier.register(as: "testcopier", typeName: "GstTestCopier")
    let harness = try Harness("testcopier", source: "src_%u")
    harness.setInputCaps("application/x-test")
    #expect(harness.push([1, 2]) == 0)
    #expect(try harness.pullBytes() == [1, 2])
  }

  @Test func everyRequestPadGetsEveryBuffer() async throws {
    try Copier.register(as: "testcopier", typeName: "GstTestCopier")
    let pictures = try await samples(
      of: "videotestsrc num-buffers=5 ! testcopier name=s  s. ! queue ! fakesink  s. ! queue")
    #expect(pictures.count == 5)
    #expect(pictures.allSatisfy { $0.caps?.mediaType == "video/x-raw" })
  }

  /// What its outputs take, its input takes.
  @Test func negotiatesTheFormatThroughTheElement() async throws {
    try Copier.register(as: "testcopier", typeName: "GstTestCopier")
    let pictures = try await samples(
      of: "videotestsrc num-buffers=1 ! testcopier name=s  s. ! video/x-raw,format=GRAY8,width=8,height=4")
    #expect(pictures.map(\.size) == [32])
  }
}
