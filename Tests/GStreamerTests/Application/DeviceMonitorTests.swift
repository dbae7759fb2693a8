// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

@Suite(.serialized) struct DeviceMonitorTests {
  init() async {
    Harness.initialise()
    TestDevices.register
    // An iteration that ended stops the provider soon after.
    await TestDevices.waitForStop()
  }

  @Test func listsDevices() async throws {
    let devices = try await DeviceMonitor("Test/Source").devices()
    let device = try #require(devices.first)
    #expect(devices.map(\.displayName) == ["first"] && device.classes == "Test/Source")
    #expect(device.caps?.mediaType == "video/x-raw")
    #expect(device.properties?["test.name"] == "first")
    #expect(device.has(classes: "Source") && !device.has(classes: "Sink"))
  }

  @Test func aDeviceMakesItsElement() async throws {
    let device = try #require(try await DeviceMonitor("Test").devices().first)
    let element = try device.makeElement(named: "camera")
    #expect(element.kind == "fakesrc" && element.name == "camera")
    try await Pipeline(linking: element, PipelineElement("fakesink", ["num-buffers": 1])).run()
  }

  @Test func findsOnlyDevicesOfTheFormat() async throws {
    #expect(try await DeviceMonitor("Test/Source", caps: "video/x-raw").devices().count == 1)
    #expect(try await DeviceMonitor("Test/Source", caps: "audio/x-raw").devices().isEmpty)
  }

  @Test func reportsPresentDevicesBeforeChanges() async throws {
    var changes = try DeviceMonitor("Test/Source").makeAsyncIterator()
    func next() async throws -> DeviceMonitor.Change? { try await changes.next() }
    guard case .added(let first) = try await next() else {
      Issue.record("no device is there")
      return
    }
    #expect(first.displayName == "first")
    TestDevices.plugIn("second")
    guard case .added(let second) = try await next() else {
      Issue.record("none has come")
      return
    }
    #expect(second.displayName == "second" && second != first)
    TestDevices.change("first", to: "better")
    guard case .changed(let better, let old) = try await next() else {
      Issue.record("none changed")
      return
    }
    #expect(better.displayName == "better" && old == first)
    TestDevices.plugOut("second")
    #expect(try await next() == .removed(second))
  }

  /// GStreamer's own monitors end each other's reports.
  @Test func listingDoesNotDisturbAWatch() async throws {
    var changes = try DeviceMonitor("Test/Source").makeAsyncIterator()
    var others = try DeviceMonitor("Test/Source", caps: "video/x-raw").makeAsyncIterator()
    guard case .added = try await changes.next(), case .added = try await others.next() else {
      Issue.record("no device is there")
      return
    }
    _ = try await DeviceMonitor("Test").devices()
    TestDevices.plugIn("second")
    guard case .added(let second) = try await changes.next() else {
      Issue.record("none has come")
      return
    }
    #expect(second.displayName == "second")
    #expect(try await others.next() == .added(second))
  }

  @Test func cancellingEndsTheSequenceAndTheWatching() async throws {
    let monitor = try DeviceMonitor("Test/Source")
    let (isWatching, continuation) = AsyncStream.makeStream(of: Void.self)
    let count = Task {
      var count = 0
      for try await _ in monitor {
        count += 1
        continuation.finish()
      }
      return count
    }
    for await _ in isWatching {}
    count.cancel()
    #expect(try await count.value == 1)
    await TestDevices.waitForStop()
  }

  @Test func aDeviceWithoutAnElementIsAnError() async throws {
    var changes = try DeviceMonitor("Test/Source").makeAsyncIterator()
    _ = try await changes.next()
    TestDevices.plugIn("useless")
    guard case .added(let device) = try await changes.next() else {
      Issue.record("none has come")
      return
    }
    #expect(throws: DeviceError.noElement(device: "useless")) { try device.makeElement() }
  }

  /// The devices that are there are found all the same.
  @Test func aProviderThatCannotWatchIsAnError() async throws {
    TestDevices.refuseToStart(true)
    defer { TestDevices.refuseToStart(false) }
    let monitor = try DeviceMonitor("Test/Source")
    await #expect(throws: DeviceError.notStarted(classes: "Test/Source")) { for try await _ in monitor {} }
    #expect(try await monitor.devices().map(\.displayName) == ["first"])
  }

  @Test func unknownDeviceClassesAreAnError() async throws {
    let monitor = try DeviceMonitor("No/Such/Class")
    let error = DeviceError.noProvider(classes: "No/Such/Class")
    await #expect(throws: error) { try await monitor.devices() }
    await #expect(throws: error) { for try await _ in monitor {} }
    #expect(throws: DeviceError.invalidCaps("a, b=(")) { try DeviceMonitor(caps: "a, b=(") }
  }
}
