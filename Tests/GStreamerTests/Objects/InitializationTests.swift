// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Glibc
import Testing

/// GStreamer's first use, in a process of its own: its types exist only once it is initialized.
@Suite struct InitializationTests {
  @Test func firstUseMayBeCaps() async {
    await #expect(processExitsWith: .success) {
      let caps = Caps(parsing: "video/x-h264, parsed=true, width=[1, 16], framerate=25/1")
      exit(caps?.mediaType == "video/x-h264" ? 0 : 1)
    }
    await #expect(processExitsWith: .success) {
      var caps = Caps(mediaType: "video/x-raw")
      caps.set("interlaced", .boolean(true))
      exit(caps.isFixed && Caps.any().isAny && Caps.empty().isEmpty ? 0 : 1)
    }
  }

  @Test func firstUseMayBeAStructure() async {
    await #expect(processExitsWith: .success) {
      var structure = Structure("first")
      structure.set("value", .boolean(true))
      exit(0)
    }
  }

  @Test func firstUseMayBeABuffer() async {
    await #expect(processExitsWith: .success) {
      let buffer = Buffer(size: 16)
      exit(buffer?.size == 16 ? 0 : 1)
    }
    await #expect(processExitsWith: .success) {
      let list = BufferList()
      exit(list.count == 0 ? 0 : 1)
    }
  }

  @Test func firstUseMayBeAnEventOrTags() async {
    await #expect(processExitsWith: .success) {
      exit(Event.endOfStream().kind == .endOfStream ? 0 : 1)
    }
    await #expect(processExitsWith: .success) {
      _ = TagList()
      exit(0)
    }
  }
}
