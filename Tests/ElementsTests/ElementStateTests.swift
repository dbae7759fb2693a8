// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import HarnessSupport
import Testing

/// State changes and ranks of every element.
@Suite(.serialized) struct ElementStateTests {
  static let names = ["264", "265"].flatMap { codec in ["parse", "repack", "dec"].map { "swifth\(codec)\($0)" } }

  init() { #expect(Registration.succeeded) }

  @Test(arguments: names) func changesStatesTwentyTimes(_ name: String) throws {
    let element = try unsafe #require(gst_element_factory_make(name, nil))
    defer { unsafe gst_object_unref(element) }
    for _ in 0..<20 {
      for state in [
        GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL,
      ] {
        #expect(unsafe gst_element_set_state(element, state) != GST_STATE_CHANGE_FAILURE)
      }
    }
  }

  @Test(arguments: names) func changesFromEveryStateToEveryState(_ name: String) throws {
    let states = [GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING]
    let element = try unsafe #require(gst_element_factory_make(name, nil))
    defer {
      unsafe gst_element_set_state(element, GST_STATE_NULL)
      unsafe gst_object_unref(element)
    }
    for from in states {
      for to in states {
        for state in [from, to] {
          #expect(unsafe gst_element_set_state(element, state) != GST_STATE_CHANGE_FAILURE)
          #expect(unsafe gst_element_get_state(element, nil, nil, GstClockTime.max) != GST_STATE_CHANGE_FAILURE)
        }
      }
    }
  }

  @Test(arguments: names) func isFreedInEveryState(_ name: String) throws {
    for state in [GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING] {
      let element = try unsafe #require(gst_element_factory_make(name, nil))
      unsafe gst_object_ref_sink(element)
      let object = unsafe UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
      let freed = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
      defer { unsafe freed.deallocate() }
      unsafe freed.initialize(to: false)
      unsafe g_object_weak_ref(
        object, { data, _ in unsafe data?.assumingMemoryBound(to: Bool.self).pointee = true }, freed)
      unsafe gst_element_set_state(element, state)
      unsafe gst_element_set_state(element, GST_STATE_NULL)
      unsafe gst_object_unref(element)
      #expect(unsafe freed.pointee)
    }
  }

  @Test(arguments: names) func isAutopluggedOnlyIfNoOtherElementIs(_ name: String) throws {
    let factory = try unsafe #require(gst_element_factory_find(name))
    defer { unsafe gst_object_unref(UnsafeMutableRawPointer(factory)) }
    #expect(unsafe gst_plugin_feature_get_rank(factory) == GST_RANK_MARGINAL.rawValue)
    let classification = try unsafe #require(gst_element_factory_get_metadata(factory, "klass"))
    let expected =
      switch name.dropFirst("swifth264".count) {
      case "parse": "Codec/Parser/Converter/Video"
      case "repack": "Codec/Converter/Video"
      default: "Codec/Decoder/Video"
      }
    #expect(unsafe String(cString: classification) == expected)
  }
}
