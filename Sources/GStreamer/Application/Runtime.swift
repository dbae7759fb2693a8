// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// The GStreamer library in this process.
public enum Runtime {
  /// Initializes GStreamer. This module does so itself when needed; programs call it to load plugins when they choose.
  /// Returns whether it succeeded.
  @discardableResult
  public static func initialise() -> Bool { isGStreamerReady }

  /// Ends GStreamer in this process, so that its tracers report: `GST_TRACERS=leaks` with `GST_DEBUG=GST_TRACER:7`
  /// lists the objects that are alive. Programs need it for that alone.
  ///
  /// Call it last, when no pipeline runs and no object of this module is in use; GStreamer cannot restart.
  public static func shutDown() {
    initialise()
    gst_deinit()
  }

  /// The version of the library, such as "GStreamer 1.22.0".
  public static var version: String {
    initialise()
    guard let text = unsafe gst_version_string() else { return "" }
    defer { unsafe g_free(text) }
    return unsafe String(cString: text)
  }

  /// Whether the library is this version, or a later one. It may be later than its headers' version.
  package static func isAtLeast(_ major: UInt32, _ minor: UInt32) -> Bool {
    var version: (major: guint, minor: guint, micro: guint, nano: guint) = (0, 0, 0, 0)
    unsafe gst_version(&version.major, &version.minor, &version.micro, &version.nano)
    return (version.major, version.minor) >= (major, minor)
  }

  /// Loads a plugin from a file, in GStreamer's folders or not. Its elements replace elements of the same names.
  ///
  /// - Throws: `PipelineError.notLoaded` when the file is not a plugin or a library is missing.
  public static func loadPlugin(at path: String) throws(PipelineError) { try unsafe loadPlugin(atBytes: path) }

  /// The same by a path of bytes, which need not be UTF-8, with a zero behind them.
  @unsafe package static func loadPlugin(atBytes path: UnsafePointer<CChar>) throws(PipelineError) {
    initialise()
    var error: UnsafeMutablePointer<GError>?
    guard let plugin = unsafe gst_plugin_load_file(path, &error) else {
      defer { unsafe g_clear_error(&error) }
      throw .notLoaded(unsafe String(cString: error.map { unsafe UnsafePointer($0.pointee.message) } ?? path))
    }
    unsafe gst_registry_add_plugin(gst_registry_get(), plugin)
    unsafe gst_object_unref(UnsafeMutableRawPointer(plugin))
  }

  /// Whether an element of this name is installed.
  public static func hasElement(_ name: String) -> Bool {
    initialise()
    guard let factory = unsafe gst_element_factory_find(name) else { return false }
    unsafe gst_object_unref(UnsafeMutableRawPointer(factory))
    return true
  }

  /// Sets an element's rank in this process, by which `parsebin` and its like choose. Returns whether there is such an
  /// element.
  @discardableResult
  public static func setRank(of element: String, to rank: Rank) -> Bool {
    initialise()
    guard let factory = unsafe gst_element_factory_find(element) else { return false }
    unsafe gst_plugin_feature_set_rank(OpaquePointer(UnsafeMutableRawPointer(factory)), rank.rawValue)
    unsafe gst_object_unref(UnsafeMutableRawPointer(factory))
    return true
  }
}
