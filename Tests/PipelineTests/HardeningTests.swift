// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// What an application that loads the plugin may rely on.
@Suite(
  .enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)),
  .enabled(if: PluginUnderTest.isShipped, "make test-all"))
struct HardeningTests {
  /// A second Swift plugin in the process must not use this one's symbols or Swift runtime.
  @Test func exportsOnlyTheEntryPoints() async throws {
    let run = try await Command.run(["nm", "-D", "--defined-only", "--format=posix", PluginUnderTest.library.path])
    #expect(run.status == 0, "\(run)")
    let names = run.output.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
    #expect(names.sorted() == ["gst_plugin_swifth26x_get_desc", "gst_plugin_swifth26x_register"])
  }

  @Test func needsNoSwiftInstalled() async throws {
    let run = try await Command.run(["objdump", "-p", PluginUnderTest.library.path])
    #expect(run.status == 0, "\(run)")
    let needed = run.output.split(separator: "\n").filter { $0.contains("NEEDED") }
    #expect(!needed.isEmpty)
    #expect(!needed.contains { $0.contains("swift") || $0.contains("Foundation") }, "\(needed)")
  }

  /// A program with a Swift runtime of its own, which the plugin's must not disturb. It uses classes, casts and
  /// concurrency while the plugin decodes in the same process.
  @Test func loadsIntoASwiftProgram() async throws {
    let scratch = try Scratch()
    let source = try scratch.file("host.swift", Data(Self.host.utf8))
    let program = scratch.path("host")
    let compiled = try await Command.run(["swiftc", "-O", "-o", program, source])
    try #require(compiled.status == 0, "\(compiled)")
    let clip = PluginUnderTest.media.appending(path: "clip.h264").path
    for chain in ["swifth264parse ! swifth264dec", "swifth264parse ! swifth264repack ! swifth264dec"] {
      let run = try await Command.run([program, "filesrc location=\(clip) ! \(chain) ! fakesink sync=false"])
      #expect(run.status == 0 && run.output.contains("end of stream, 1000 objects"), "\(run)")
    }
  }

  /// GStreamer by its C names alone: the host knows nothing of this project.
  private static let host = """
    import Glibc

    func symbol<Function>(_ name: String, as type: Function.Type) -> Function {
      let library = dlopen("libgstreamer-1.0.so.0", RTLD_NOW | RTLD_GLOBAL)
      return unsafeBitCast(dlsym(library, name)!, to: type)
    }
    typealias Initialise = @convention(c) (OpaquePointer?, OpaquePointer?) -> Void
    typealias Launch = @convention(c) (UnsafePointer<CChar>, OpaquePointer?) -> OpaquePointer?
    typealias SetState = @convention(c) (OpaquePointer, CInt) -> CInt
    typealias GetBus = @convention(c) (OpaquePointer) -> OpaquePointer
    typealias Pop = @convention(c) (OpaquePointer, UInt64, CUnsignedInt) -> OpaquePointer?
    typealias Unref = @convention(c) (OpaquePointer) -> Void

    protocol Counted { var number: Int { get } }
    final class Object: Counted { let number: Int; init(_ number: Int) { self.number = number } }

    symbol("gst_init", as: Initialise.self)(nil, nil)
    guard let pipeline = symbol("gst_parse_launch", as: Launch.self)(CommandLine.arguments[1], nil) else { exit(2) }
    let bus = symbol("gst_element_get_bus", as: GetBus.self)(pipeline)
    _ = symbol("gst_element_set_state", as: SetState.self)(pipeline, 4)
    async let objects: [any Counted] = (0..<1000).map { Object($0) }
    let count = await objects.compactMap { $0 as? Object }.count
    // Only GST_MESSAGE_EOS (1) ends the wait well.
    guard let end = symbol("gst_bus_timed_pop_filtered", as: Pop.self)(bus, 30_000_000_000, 1) else { exit(3) }
    _ = symbol("gst_element_set_state", as: SetState.self)(pipeline, 1)
    symbol("gst_mini_object_unref", as: Unref.self)(end)
    symbol("gst_object_unref", as: Unref.self)(bus)
    symbol("gst_object_unref", as: Unref.self)(pipeline)
    print("end of stream, \\(count) objects")
    """
}
