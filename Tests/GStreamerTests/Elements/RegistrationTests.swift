// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

private final class RegisteredOnce: BaseTransform {
  override class var padTemplates: [PadTemplate] { [.sink("application/x-test"), .source("application/x-test")] }
}

@Suite struct RegistrationTests {
  /// GLib warns, which is fatal here, when a type is registered twice.
  @Test func oneOfManyThreadsRegistersAClass() async {
    Harness.initialise()
    for round in 0..<50 {
      let count = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<8 {
          group.addTask {
            let name = "testregisteredonce\(round)"
            let isFirst = RegisteredOnce.register(as: name, typeName: "GstTestRegisteredOnce\(round)")
            // Whoever did it, it is done.
            #expect(throws: Never.self) { try PipelineElement(name) }
            return isFirst
          }
        }
        return await group.reduce(into: 0) { if $1 { $0 += 1 } }
      }
      #expect(count == 1)
    }
  }
}
