// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import HarnessSupport
import Testing

private final class RegisteredOnce: BaseTransform {
  override class var padTemplates: [PadTemplate] { [.sink("application/x-test"), .source("application/x-test")] }
}

private final class Misspelt: BaseTransform {
  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("video/x-raw, width=")] }
}

@Suite struct RegistrationTests {
  /// In a process of its own, in which a critical message does not end it.
  @Test func capsThatAreNoneAreRefused() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      g_log_set_always_fatal(G_LOG_LEVEL_ERROR)
      exit(Misspelt.register(as: "testmisspelt", typeName: "GstTestMisspelt") ? 1 : 0)
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("CRITICAL") && said.contains("Misspelt") && said.contains("video/x-raw, width="))
  }

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
