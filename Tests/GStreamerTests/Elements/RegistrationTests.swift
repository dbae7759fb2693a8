// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import HarnessSupport
import Testing

private final class RegisteredOnce: BaseTransform {
  override class var padTemplates: [PadTemplate] { [.sink("application/x-test"), .source("application/x-test")] }
}

/// A class whose declarations a test chooses.
private class Declaring: BaseTransform {
  struct Values: Sendable {
    var number: Int32 = 5
    var ratio = Fraction(-1, 2)
  }
  let values = Locked(Values())

  class var declared: [Setting<Values>] { [] }

  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }
  override class var properties: [Property] {
    Property.settings({ (element: Declaring) in element.values }, defaults: Values(), declared)
  }
}

private final class Misspelt: Declaring {
  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("video/x-raw, width=")] }
}
private final class WithoutSource: Declaring {
  override class var padTemplates: [PadTemplate] { [.sink("ANY")] }
}
private final class FilterWithoutSource: VideoFilter {
  override class var padTemplates: [PadTemplate] { [.sink("video/x-raw")] }
}
private final class SamePads: Declaring {
  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY"), .sink("ANY")] }
}
private final class PlaceForever: Declaring {
  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY"), .sink("ANY", named: "sink_%u")] }
}
private final class DefaultOutOfRange: Declaring {
  override class var declared: [Setting<Values>] { [.int("number", \.number, in: 0...3, "A number")] }
}
private final class NegativeRatio: Declaring {
  override class var declared: [Setting<Values>] { [.fraction("ratio", \.ratio, "A ratio")] }
}
private final class NamedName: Declaring {
  override class var declared: [Setting<Values>] { [.int("name", \.number, in: 0...9, "A number")] }
}
private final class NamedTwice: Declaring {
  override class var declared: [Setting<Values>] {
    [.int("a-b", \.number, in: 0...9, "A number"), .int("a_b", \.number, in: 0...9, "The same")]
  }
}
private final class NamedBadly: Declaring {
  override class var declared: [Setting<Values>] { [.int("1 st", \.number, in: 0...9, "A number")] }
}
private final class TakenSignal: Declaring {
  override class var signals: [Signal] { [Signal("pad-added")] }
}

@Suite struct RegistrationTests {
  /// GLib warns, which is fatal here, where something is only found out when the type is made.
  @Test(
    arguments: [
      (Misspelt.self, .padTemplate("src", reason: "“video/x-raw, width=” is not valid caps")),
      (WithoutSource.self, .padTemplate("src", reason: "it is missing, and the base class needs it")),
      (FilterWithoutSource.self, .padTemplate("src", reason: "it is missing, and the base class needs it")),
      (SamePads.self, .padTemplate("sink", reason: "this name is used twice")),
      (PlaceForever.self, .padTemplate("sink_%u", reason: "the pad is always present, so its name must not contain %")),
      (DefaultOutOfRange.self, .property("number", reason: "the default 5 is not in 0...3")),
      (NegativeRatio.self, .property("ratio", reason: "the default is not in 0/1...2147483647/1")),
      (NamedName.self, .property("name", reason: "the base class already has this name")),
      (NamedTwice.self, .property("a_b", reason: "this name is used twice")),
      (
        NamedBadly.self,
        .property("1 st", reason: "a name must begin with a letter and contain only letters, digits and hyphens")
      ),
      (TakenSignal.self, .signal("pad-added", reason: "the base class already has this name")),
    ] as [(Element.Type, RegistrationError)])
  func refusesWrongDeclarations(type: Element.Type, expected: RegistrationError) {
    Harness.initialise()
    #expect(throws: expected) { try type.register(as: "testdeclaring", typeName: "GstTestDeclaring") }
    #expect(!Runtime.hasElement("testdeclaring"))
  }

  /// No description of a pipeline could have these.
  @Test(arguments: ["", "two words", "test!", "-test", "test.names"])
  func checksNamesOfElements(name: String) {
    Harness.initialise()
    #expect(throws: RegistrationError.invalidElementName(name)) {
      try RegisteredOnce.register(as: name, typeName: "GstTestElementNames")
    }
  }

  @Test func checksNamesOfTypes() throws {
    Harness.initialise()
    #expect(throws: RegistrationError.invalidTypeName("1x")) {
      try RegisteredOnce.register(as: "testnames", typeName: "1x")
    }
    #expect(throws: RegistrationError.typeNameTaken("GstBin")) {
      try RegisteredOnce.register(as: "testnames", typeName: "GstBin")
    }
    #expect(try RegisteredOnce.register(as: "testnames", typeName: "GstTestNames"))
    #expect(try !RegisteredOnce.register(as: "testnames", typeName: "GstTestNames"))
  }

  /// In a process of its own, in which a critical message does not end it: nobody catches what a plugin throws.
  @Test func aPluginsErrorIsLogged() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      g_log_set_always_fatal(G_LOG_LEVEL_ERROR)
      gst_init(nil, nil)
      let plugin = unsafe Plugin(raw: OpaquePointer(bitPattern: 8)!)
      #expect(throws: RegistrationError.self) {
        try Misspelt.register(as: "testmisspelt", typeName: "GstTestMisspelt", in: plugin)
      }
    }
    let logged = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(logged.contains("CRITICAL") && logged.contains("Misspelt") && logged.contains("video/x-raw, width="))
  }

  /// GLib warns, which is fatal here, when a type is registered twice.
  @Test func registersAClassOnceFromManyThreads() async {
    Harness.initialise()
    for round in 0..<50 {
      let count = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<8 {
          group.addTask {
            let name = "testregisteredonce\(round)"
            let isFirst = (try? RegisteredOnce.register(as: name, typeName: "GstTestRegisteredOnce\(round)")) == true
            // The class is registered, whichever task did it.
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
