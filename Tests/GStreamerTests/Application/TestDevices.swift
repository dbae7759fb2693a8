// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer

/// Devices that a test plugs in and out, of the classes `Test/Source`, with elements `fakesrc`.
///
/// One is there from the start, the others come while a monitor runs. One named `useless` has no element.
enum TestDevices {
  private struct State {
    /// The started provider's address.
    var provider: UInt?
    var devices: [String: UInt] = [:]
    var refusesToStart = false
    var onStop: AsyncStream<Void>.Continuation?
  }
  private static let state = Locked(State())

  private static let deviceType: GType = {
    unsafe g_type_register_static_simple(
      gst_device_get_type(), "GstTestDevice", guint(MemoryLayout<GstDeviceClass>.size),
      { classStructure, _ in
        let methods = unsafe classStructure?.assumingMemoryBound(to: GstDeviceClass.self)
        unsafe methods?.pointee.create_element = { device, name in
          let title = unsafe gst_device_get_display_name(device)
          defer { unsafe g_free(title) }
          return unsafe g_strcmp0(title, "useless") == 0 ? nil : gst_element_factory_make("fakesrc", name)
        }
      }, guint(MemoryLayout<GstDevice>.size), nil, GTypeFlags(rawValue: 0))
  }()

  /// Registers the provider, once.
  static let register: Void = {
    let type = unsafe g_type_register_static_simple(
      gst_device_provider_get_type(), "GstTestDeviceProvider", guint(MemoryLayout<GstDeviceProviderClass>.size),
      { classStructure, _ in
        guard let methods = unsafe classStructure?.assumingMemoryBound(to: GstDeviceProviderClass.self) else { return }
        unsafe gst_device_provider_class_set_metadata(methods, "Test devices", "Test/Source", "For tests", "Tests")
        unsafe methods.pointee.probe = { _ in unsafe g_list_append(nil, gst_object_ref_sink(make("first"))) }
        unsafe methods.pointee.start = { provider in
          if state.snapshot.refusesToStart { return 0 }
          state.withLock { $0.provider = UInt(bitPattern: provider) }
          plugIn("first")
          return 1
        }
        unsafe methods.pointee.stop = { _ in
          let onStop = state.withLock { state in
            (state.provider, state.devices) = (nil, [:])
            return state.onStop
          }
          onStop?.finish()
        }
      }, guint(MemoryLayout<GstDeviceProvider>.size), nil, GTypeFlags(rawValue: 0))
    unsafe gst_device_provider_register(nil, "testdeviceprovider", 256, type)
  }()

  private static func make(_ name: String) -> UnsafeMutablePointer<GstDevice>? {
    var values = [GValue](repeating: GValue(), count: 4)
    defer { for index in values.indices { unsafe cgst_value_clear(&values[index]) } }
    let names = ["display-name", "device-class", "caps", "properties"]
    for (index, text) in [name, "Test/Source", "video/x-raw, format=GRAY8", "props, test.name=\(name)"].enumerated() {
      let specification = unsafe g_object_class_find_property(
        g_type_class_ref(deviceType).assumingMemoryBound(to: GObjectClass.self), names[index])
      unsafe g_value_init(&values[index], specification!.pointee.value_type)
      if index < 2 {
        unsafe g_value_set_string(&values[index], text)
      } else {
        unsafe gst_value_deserialize(&values[index], text)
      }
    }
    let copies = unsafe names.map { unsafe UnsafePointer(g_strdup($0)) }
    defer { for index in names.indices { unsafe g_free(UnsafeMutableRawPointer(mutating: copies[index])) } }
    var list = unsafe copies
    let object = unsafe g_object_new_with_properties(deviceType, guint(names.count), &list, &values)
    return unsafe object.map { unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: GstDevice.self) }
  }

  private static var provider: UnsafeMutablePointer<GstDeviceProvider>? {
    unsafe state.snapshot.provider.flatMap { unsafe UnsafeMutablePointer(bitPattern: $0) }
  }

  private static func device(_ name: String) -> UnsafeMutablePointer<GstDevice>? {
    unsafe state.snapshot.devices[name].flatMap { unsafe UnsafeMutablePointer(bitPattern: $0) }
  }

  /// Whether the provider refuses to watch devices.
  static func refuseToStart(_ refuses: Bool) { state.withLock { $0.refusesToStart = refuses } }

  /// A device comes.
  static func plugIn(_ name: String) {
    let device = unsafe make(name)
    state.withLock { $0.devices[name] = UInt(bitPattern: device) }
    unsafe gst_device_provider_device_add(provider, device)
  }

  /// It goes.
  static func plugOut(_ name: String) { unsafe gst_device_provider_device_remove(provider, device(name)) }

  /// Another device takes its place.
  static func change(_ name: String, to other: String) {
    let new = unsafe make(other)
    unsafe gst_device_provider_device_changed(provider, new, device(name))
  }

  /// Returns when no monitor watches any more.
  static func waitForStop() async {
    let (stopped, continuation) = AsyncStream.makeStream(of: Void.self)
    let isStopped = state.withLock { state in
      state.onStop = continuation
      return state.provider == nil
    }
    if isStopped { return }
    for await _ in stopped {}
  }
}
