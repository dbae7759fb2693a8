import BrightenElements
import GStreamer

nonisolated(unsafe) private let descriptor = PluginDescription(
  name: "brighten", description: "Makes pictures brighter or darker", version: "0.1.0", license: "MPL",
  source: "gst-brighten", package: "gst-brighten", origin: "https://example.org"
).makeDescriptor { plugin in
  guard let plugin else { return 0 }
  do throws(RegistrationError) {
    // A line for each element. No two types in a process may have the same name.
    try Brighten.register(as: "brighten", typeName: "SwiftBrighten", in: Plugin(raw: plugin))
    return 1
  } catch { return 0 }  // GStreamer's log has the reason.
}

/// What GStreamer looks for when it loads `libgstbrighten.so`; `exports.map` has its name too.
@c(gst_plugin_brighten_get_desc)
public func pluginDescriptor() -> UnsafeRawPointer { UnsafeRawPointer(descriptor) }
