// SPDX-License-Identifier: MPL-2.0
public import CGStreamer
import Elements
import GStreamer
import H26x

nonisolated(unsafe) private let descriptor = unsafe PluginDescription(
  name: "swifth26x", description: "H.264 and H.265 in Swift: parser, repackager and decoder",
  version: ReleaseVersion.text,
  license: "MPL", source: "gst-swift-h26x", package: "gst-swift-h26x",
  origin: "https://github.com/gst-swift-h26x/gst-swift-h26x"
).makeDescriptor { plugin in
  guard let plugin = unsafe plugin else { return 0 }
  return unsafe Elements.register(in: Plugin(raw: plugin)) ? 1 : 0
}

/// What GStreamer looks for when it loads the library.
@c(gst_plugin_swifth26x_get_desc)
public func pluginDescriptor() -> UnsafePointer<GstPluginDesc> { unsafe UnsafePointer(descriptor) }

/// What a program calls that links the plugin in statically.
@c(gst_plugin_swifth26x_register)
public func registerStatically() {
  let plugin = unsafe descriptor.pointee
  unsafe gst_plugin_register_static(
    plugin.major_version, plugin.minor_version, plugin.name, plugin.description, plugin.plugin_init, plugin.version,
    plugin.license, plugin.source, plugin.package, plugin.origin)
}
