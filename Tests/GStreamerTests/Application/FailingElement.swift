// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport

/// Lets some buffers through and then posts a warning and an error with details.
final class Failing: BaseTransform {
  struct Settings: Sendable { var after: Int32 = 2 }
  let settings = Locked(Settings())
  private var seen: Int32 = 0

  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }
  override class var properties: [Property] {
    Property.settings(
      { (element: Failing) in element.settings }, defaults: Settings(),
      [.int("after", \.after, in: 0...1000, "Buffers to let through")])
  }

  override func prepareToStream() { seen = 0 }

  override func transformInPlace(_ buffer: inout Buffer) throws(FlowError) {
    seen += 1
    guard seen > settings.snapshot.after else { return }
    postWarning(ElementError(.resource(.busy), "Now it comes."))
    var details = Structure("test-failure")
    details.set("buffers", .int(seen))
    details.set("reason", .string("as asked"))
    post(ElementError(.stream(.decode), "It is enough.", debug: "after \(seen)"), details: details)
    throw .error
  }

  static func register() throws(RegistrationError) {
    Harness.initialise()
    try Failing.register(as: "testfailing", typeName: "GstTestFailing")
  }
}
