// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// Tags: properties of a stream or file, such as codec and bitrate (`GstTagList`).
@safe public struct TagList: ~Copyable, @unsafe MiniObject {
  /// The C object.
  @unsafe public private(set) var raw: UnsafeMutablePointer<GstTagList>

  /// Takes over one reference.
  @unsafe public init(owning raw: UnsafeMutablePointer<GstTagList>) { unsafe self.raw = raw }
  deinit { unsafe unref(raw) }

  /// Gives the reference to the caller.
  @unsafe public consuming func take() -> UnsafeMutablePointer<GstTagList> {
    let raw = unsafe raw
    discard self
    return unsafe raw
  }

  /// An empty list.
  public init() { unsafe self.init(owning: gst_tag_list_new_empty()) }

  /// Adds or replaces a string tag such as `video-codec`.
  public mutating func set(_ tag: String, _ value: String) {
    set(tag, ofType: "gchararray") { unsafe g_value_set_string(&$0, value) }
  }

  /// Adds or replaces an unsigned tag such as `maximum-bitrate`.
  public mutating func set(_ tag: String, _ value: UInt32) {
    set(tag, ofType: "guint") { unsafe g_value_set_uint(&$0, value) }
  }

  private mutating func set(_ tag: String, ofType type: String, _ fill: (inout GValue) -> Void) {
    var boxed = GValue()
    unsafe g_value_init(&boxed, g_type_from_name(type))
    fill(&boxed)
    unsafe gst_tag_list_add_value(raw, GST_TAG_MERGE_REPLACE, tag, &boxed)
    unsafe g_value_unset(&boxed)
  }
}
