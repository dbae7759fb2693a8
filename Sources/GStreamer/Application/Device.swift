// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A camera, a microphone, a display or another device (`GstDevice`, gst/gstdevice.h), as a ``DeviceMonitor`` finds it.
///
/// A copy refers to the same device, and two are equal when they do. A device's properties never change: a device
/// that changes is replaced by another.
public struct Device: Sendable, Hashable {
  let reference: ObjectReference

  /// The name for users, such as the camera's name.
  public var displayName: String { unsafe Self.text(gst_device_get_display_name(raw)) }

  /// The device's classes, with a slash between them, such as `Video/Source` for a camera or `Audio/Sink` for a
  /// loudspeaker.
  public var classes: String { unsafe Self.text(gst_device_get_device_class(raw)) }

  /// The formats that it supports; `nil` when it does not state any.
  public var caps: Caps? {
    guard let caps = unsafe gst_device_get_caps(raw) else { return nil }
    return unsafe Caps(owning: caps)
  }

  /// Further properties, such as `device.path`; `nil` without any.
  public var properties: Fields? {
    guard let structure = unsafe gst_device_get_properties(raw) else { return nil }
    return Fields(unsafe Structure(owning: structure))
  }

  /// Whether it has all these classes, in any order: `Source` is one of a device of the classes `Video/Source`.
  public func has(classes: String) -> Bool { unsafe gst_device_has_classes(raw, classes) != 0 }

  /// Makes an element that uses the device, such as `v4l2src` with its path set.
  ///
  /// - Parameter name: its name in the pipeline; by default GStreamer numbers elements of a kind.
  /// - Throws: `noElement` if the element is not installed, or the device does not have one.
  public func makeElement(named name: String? = nil) throws(DeviceError) -> PipelineElement {
    guard let element = unsafe gst_device_create_element(raw, name) else { throw .noElement(device: displayName) }
    return PipelineElement(unsafe ObjectReference(sinking: UnsafeMutableRawPointer(element)))
  }

  private var raw: UnsafeMutablePointer<GstDevice> { unsafe reference.raw.assumingMemoryBound(to: GstDevice.self) }

  private static func text(_ owned: UnsafeMutablePointer<CChar>?) -> String {
    guard let owned = unsafe owned else { return "" }
    defer { unsafe g_free(owned) }
    return unsafe String(cString: owned)
  }

  /// Whether both are the same device.
  public static func == (a: Self, b: Self) -> Bool { unsafe a.reference.raw == b.reference.raw }
  /// Hashes which device it is.
  public func hash(into hasher: inout Hasher) { unsafe hasher.combine(reference.raw) }
}

/// The reason devices cannot be found or used.
public enum DeviceError: Error, Hashable, Sendable {
  /// The caps that devices are to support are not valid.
  case invalidCaps(String)
  /// No plugin is installed that finds devices of these classes.
  case noProvider(classes: String)
  /// The devices cannot be watched: a provider refuses, for instance because its daemon does not run.
  case notStarted(classes: String)
  /// There is no element for the device.
  case noElement(device: String)
}

extension DeviceError: CustomStringConvertible {
  /// One sentence for users.
  public var description: String {
    switch self {
    case .invalidCaps(let text): "“\(text)” is not valid caps"
    case .noProvider(let classes): "no plugin finds devices\(Self.of(classes))"
    case .notStarted(let classes): "devices\(Self.of(classes)) cannot be watched"
    case .noElement(let device): "there is no element for the device “\(device)”"
    }
  }

  private static func of(_ classes: String) -> String { classes.isEmpty ? "" : " of the classes \(classes)" }
}
