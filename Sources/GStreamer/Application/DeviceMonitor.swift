// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Synchronization

/// Finds devices, and reports those that come and go: `GstDeviceMonitor`'s place (gst/gstdevicemonitor.h).
///
/// It queries the plugins' device providers (`GstDeviceProvider`) itself: if a process has several
/// `GstDeviceMonitor`s, only the last receives reports (1.22.0). A monitor that other code makes meanwhile takes the
/// reports from this one.
///
/// ```swift
/// let cameras = try DeviceMonitor("Video/Source", caps: "video/x-raw")
/// for camera in try await cameras.devices() { print(camera.displayName) }
/// for try await change in cameras {
///   if case .added(let camera) = change { … }
/// }
/// ```
///
/// The sequence begins with the devices that are there, and does not end until its task is cancelled. Each iteration
/// has all changes, from its first element until it is released. No change that waits to be read is lost.
public struct DeviceMonitor: AsyncSequence, Sendable {
  /// A change.
  public typealias Element = Change
  /// The error that iteration throws.
  public typealias Failure = DeviceError

  /// A change of the devices.
  public enum Change: Hashable, Sendable {
    /// It is there: it was when the iteration began, or has come since.
    case added(Device)
    /// It is gone.
    case removed(Device)
    /// Its properties changed. The first replaces the second.
    case changed(Device, from: Device)
  }

  private let filter: DeviceFilter

  /// Devices of some classes that support some formats.
  ///
  /// - Parameters:
  ///   - classes: the classes that a device must have, such as `Video/Source`; `nil` for all devices.
  ///   - caps: formats, as on a gst-launch-1.0 line, of which a device must support one; `nil` for any.
  /// - Throws: `invalidCaps`.
  public init(_ classes: String? = nil, caps: String? = nil) throws(DeviceError) {
    Runtime.initialise()
    if let caps, Caps(parsing: caps) == nil { throw .invalidCaps(caps) }
    filter = DeviceFilter(classes: classes ?? "", caps: CapsBox(caps.flatMap { Caps(parsing: $0) }))
  }

  /// The devices that are there now.
  ///
  /// - Throws: `noProvider`.
  public func devices() async throws(DeviceError) -> [Device] {
    // A provider may open every device to look at it.
    let found = await onThread("devices") { [filter] in
      let hubs = DeviceHub.all(for: filter)
      return hubs.isEmpty ? nil : DeviceHub.visible(hubs).flatMap { $0.devices.filter(filter.takes) }
    }
    guard let found else { throw .noProvider(classes: filter.classes) }
    return found
  }

  /// An iterator that begins with the devices that are there.
  public func makeAsyncIterator() -> Iterator { Iterator(monitor: self) }

  /// Receives the changes.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let monitor: DeviceMonitor
    private var changes: AsyncStream<Change>.Iterator?

    fileprivate init(monitor: DeviceMonitor) { self.monitor = monitor }

    /// The next change; `nil` once the task is cancelled.
    /// - Throws: `noProvider` or `notStarted`, by the first call.
    public mutating func next(
      isolation: isolated (any Actor)? = #isolation
    ) async throws(DeviceError) -> Change? {
      var changes: AsyncStream<Change>.Iterator
      if let known = self.changes { changes = known } else { changes = try await monitor.watch().makeAsyncIterator() }
      let change = await changes.next(isolation: isolation)
      self.changes = changes
      return change
    }
  }

  private func watch() async throws(DeviceError) -> AsyncStream<Change> {
    let (stream, continuation) = AsyncStream.makeStream(of: Change.self, bufferingPolicy: .unbounded)
    let listener = DeviceListener(filter: filter, continuation: continuation)
    let (isFound, hubs) = await onThread("devices") {
      let all = DeviceHub.all(for: listener.filter)
      let started = all.filter { $0.acquire() }
      // Which others a provider hides is known once it has started.
      let visible = DeviceHub.visible(started)
      for hub in started {
        if visible.contains(where: { $0 === hub }) { hub.add(listener) } else { hub.release() }
      }
      return (!all.isEmpty, visible)
    }
    continuation.onTermination = { _ in
      // A provider waits for its thread, which may be the thread that wakes this task.
      startThread("devices") {
        for hub in hubs {
          hub.remove(listener)
          hub.release()
        }
      }
    }
    guard !hubs.isEmpty else {
      continuation.finish()
      throw isFound ? .notStarted(classes: filter.classes) : .noProvider(classes: filter.classes)
    }
    return stream
  }
}

/// The selection of devices.
private struct DeviceFilter: Sendable {
  /// "" for all devices.
  let classes: String
  /// `nil` for any format.
  let caps: CapsBox?

  func takes(_ device: Device) -> Bool {
    guard classes.isEmpty || device.has(classes: classes) else { return false }
    guard let caps else { return true }
    switch device.caps {
    case .some(let own): return own.canIntersect(caps.caps)
    case .none: return false
    }
  }
}

/// An iteration.
private final class DeviceListener: Sendable {
  let filter: DeviceFilter
  let continuation: AsyncStream<DeviceMonitor.Change>.Continuation

  init(filter: DeviceFilter, continuation: AsyncStream<DeviceMonitor.Change>.Continuation) {
    (self.filter, self.continuation) = (filter, continuation)
  }

  func yield(adding added: Device?, removing removed: Device?) {
    switch (added.flatMap { filter.takes($0) ? $0 : nil }, removed.flatMap { filter.takes($0) ? $0 : nil }) {
    case (let added?, let removed?): continuation.yield(.changed(added, from: removed))
    case (let added?, nil): continuation.yield(.added(added))
    case (nil, let removed?): continuation.yield(.removed(removed))
    case (nil, nil): break
    }
  }
}

/// A device provider of the process, which all iterations share.
@safe private final class DeviceHub: @unchecked Sendable {
  private struct State {
    /// The devices that are there, while the provider runs.
    var devices: Set<Device> = []
    /// Those that went while it started: the list of devices that it returns may still have them.
    var gone: Set<Device> = []
    var isStarting = false
    var listeners: [DeviceListener] = []
  }

  private static let hubs = Mutex<[String: DeviceHub]>([:])

  private let name: String
  /// Its factory keeps it, as long as GStreamer is there.
  private let raw: UnsafeMutablePointer<GstDeviceProvider>
  private let state = Mutex(State())
  /// The number of users of the started provider; held while it starts or stops.
  private let users = Mutex(0)

  private init(_ name: String, _ raw: UnsafeMutablePointer<GstDeviceProvider>) {
    self.name = name
    unsafe self.raw = raw
  }

  /// The providers of the classes that a filter selects, higher ranks first.
  static func all(for filter: DeviceFilter) -> [DeviceHub] {
    let list = unsafe gst_device_provider_factory_list_get_device_providers(GST_RANK_MARGINAL)
    defer { unsafe gst_plugin_feature_list_free(list) }
    var found: [DeviceHub] = []
    var next = unsafe list
    while let node = unsafe next {
      unsafe next = node.pointee.next
      guard let data = unsafe node.pointee.data,
        unsafe filter.classes.isEmpty
          || gst_device_provider_factory_has_classes(OpaquePointer(data), filter.classes) != 0
      else { continue }
      let name = unsafe ObjectReference(retaining: data).name
      let hub = hubs.withLock { hubs in
        if let known = hubs[name] { return known as DeviceHub? }
        guard let raw = unsafe gst_device_provider_factory_get(OpaquePointer(data)) else { return nil }
        unsafe gst_object_unref(raw)
        let new = unsafe DeviceHub(name, raw)
        hubs[name] = new
        return new
      }
      if let hub { found.append(hub) }
    }
    return found
  }

  /// Leaves out those that another one hides, which finds the same devices.
  static func visible(_ hubs: [DeviceHub]) -> [DeviceHub] {
    var hidden: Set<String> = []
    for hub in hubs {
      guard let names = unsafe gst_device_provider_get_hidden_providers(hub.raw) else { continue }
      defer { unsafe g_strfreev(names) }
      var next = unsafe names
      while let name = unsafe next.pointee {
        hidden.insert(unsafe String(cString: name))
        unsafe next += 1
      }
    }
    return hubs.filter { !hidden.contains($0.name) }
  }

  /// The devices that are there now. May wait.
  var devices: [Device] {
    let list = unsafe gst_device_provider_get_devices(raw)
    defer { unsafe g_list_free(list) }
    var devices: [Device] = []
    var next = unsafe list
    while let node = unsafe next {
      if let data = unsafe node.pointee.data { devices.append(Device(reference: unsafe ObjectReference(owning: data))) }
      unsafe next = node.pointee.next
    }
    return devices
  }

  /// Starts the provider for its first user. May wait.
  /// - Returns: `false` for one that does not start, or cannot report changes.
  func acquire() -> Bool {
    users.withLock { users in
      guard users > 0 || start() else { return false }
      users += 1
      return true
    }
  }

  /// Stops the provider with its last user. May wait.
  func release() {
    users.withLock { users in
      users -= 1
      guard users == 0 else { return }
      unsafe gst_device_provider_stop(raw)
      state.withLock { $0.devices = [] }
    }
  }

  /// Reports changes to a listener, first the devices that are there.
  func add(_ listener: DeviceListener) {
    state.withLock { state in
      for device in state.devices { listener.yield(adding: device, removing: nil) }
      state.listeners.append(listener)
    }
  }

  func remove(_ listener: DeviceListener) { state.withLock { $0.listeners.removeAll { $0 === listener } } }

  /// A provider reports the devices that it finds at the start by messages, or in its list alone.
  private func start() -> Bool {
    guard unsafe gst_device_provider_can_monitor(raw) != 0 else { return false }
    takeMessages()
    state.withLock { $0.isStarting = true }
    let isStarted = unsafe gst_device_provider_start(raw) != 0
    let devices = isStarted ? devices : []
    state.withLock { state in
      if isStarted { state.devices.formUnion(Set(devices).subtracting(state.gone)) } else { state.devices = [] }
      (state.isStarting, state.gone) = (false, [])
    }
    return isStarted
  }

  private func takeMessages() {
    guard let bus = unsafe gst_device_provider_get_bus(raw) else { return }
    defer { unsafe gst_object_unref(bus) }
    unsafe gst_bus_set_sync_handler(
      bus,
      { _, message, data in
        guard let message = unsafe message, let data = unsafe data else { return GST_BUS_PASS }
        unsafe Unmanaged<DeviceHub>.fromOpaque(data).takeUnretainedValue().take(message)
        unsafe unref(message)
        return GST_BUS_DROP
      }, Unmanaged.passUnretained(self).toOpaque(), nil)
  }

  private func take(_ message: UnsafeMutablePointer<GstMessage>) {
    func device(_ raw: UnsafeMutablePointer<GstDevice>?) -> Device? {
      unsafe raw.map { Device(reference: unsafe ObjectReference(owning: UnsafeMutableRawPointer($0))) }
    }
    var (new, old): (UnsafeMutablePointer<GstDevice>?, UnsafeMutablePointer<GstDevice>?) = (nil, nil)
    switch unsafe message.pointee.type {
    case GST_MESSAGE_DEVICE_ADDED: unsafe gst_message_parse_device_added(message, &new)
    case GST_MESSAGE_DEVICE_REMOVED: unsafe gst_message_parse_device_removed(message, &old)
    case GST_MESSAGE_DEVICE_CHANGED: unsafe gst_message_parse_device_changed(message, &new, &old)
    default: return
    }
    change(adding: unsafe device(new), removing: unsafe device(old))
  }

  private func change(adding added: Device?, removing removed: Device?) {
    // Yields under the lock, so that each listener has the changes in their order.
    state.withLock { state in
      if let removed, state.isStarting { state.gone.insert(removed) }
      let isNew = added.map { state.devices.insert($0).inserted } ?? false
      let wasKnown = removed.map { state.devices.remove($0) != nil } ?? false
      for listener in state.listeners {
        listener.yield(adding: isNew ? added : nil, removing: wasKnown ? removed : nil)
      }
    }
  }
}
