// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// The description of a plugin in its shared library (`GstPluginDesc`).
public struct PluginDescription {
  /// The plugin's name, as for `gst-inspect-1.0`.
  public var name: StaticString
  /// One sentence.
  public var description: StaticString
  /// The version, such as "1.0.0".
  public var version: StaticString
  /// A license that GStreamer recognizes: LGPL, GPL, MPL, BSD, MIT/X11 …
  public var license: StaticString
  /// The name of the source package.
  public var source: StaticString
  /// The name of the package it is shipped in.
  public var package: StaticString
  /// A URL of its origin.
  public var origin: StaticString

  /// The description of a plugin.
  public init(
    name: StaticString, description: StaticString, version: StaticString, license: StaticString,
    source: StaticString, package: StaticString, origin: StaticString
  ) {
    self.name = name
    self.description = description
    self.version = version
    self.license = license
    self.source = source
    self.package = package
    self.origin = origin
  }

  /// The descriptor that `gst_plugin_NAME_get_desc` returns; never freed.
  ///
  /// - Parameter initialise: registers the elements; returns whether it succeeded.
  @unsafe public func makeDescriptor(
    initialise: @convention(c) (OpaquePointer?) -> gboolean
  ) -> UnsafeMutablePointer<GstPluginDesc> {
    let descriptor = UnsafeMutablePointer<GstPluginDesc>.allocate(capacity: 1)
    unsafe descriptor.initialize(to: GstPluginDesc())
    // The version that the library was built against: an older GStreamer rejects the plugin.
    unsafe descriptor.pointee.major_version = GST_VERSION_MAJOR
    unsafe descriptor.pointee.minor_version = GST_VERSION_MINOR
    unsafe descriptor.pointee.name = name.cString
    unsafe descriptor.pointee.description = description.cString
    unsafe descriptor.pointee.plugin_init = unsafe initialise
    unsafe descriptor.pointee.version = version.cString
    unsafe descriptor.pointee.license = license.cString
    unsafe descriptor.pointee.source = source.cString
    unsafe descriptor.pointee.package = package.cString
    unsafe descriptor.pointee.origin = origin.cString
    return unsafe descriptor
  }
}

/// A plugin that is being loaded, as passed to its initializer.
@safe public struct Plugin {
  /// The C object.
  @unsafe public let raw: OpaquePointer
  /// Wraps the plugin that GStreamer passes to the initializer.
  @unsafe public init(raw: OpaquePointer) { unsafe self.raw = raw }
}
