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
  public init() {
    _ = isGStreamerReady
    unsafe self.init(owning: gst_tag_list_new_empty())
  }

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

/// Tags of a stream, such as title, codec and bitrate: a tag list that can be copied and sent between tasks.
public struct Tags: Sendable, CustomStringConvertible {
  private final class Box: Sendable {
    // Never changed: any thread may read it.
    let list: TagList
    init(_ list: consuming TagList) { self.list = list }
  }

  private let box: Box

  /// Takes over a tag list.
  public init(_ list: consuming TagList) { box = Box(list) }

  /// The C list, which is never changed, for calls that take no reference or one of their own.
  @unsafe var raw: UnsafeMutablePointer<GstTagList> { unsafe box.list.raw }

  /// The first value of a tag by its GStreamer name, such as `video-codec` or `image-orientation`, as text for types
  /// that `FieldValue` lacks.
  public subscript(_ tag: String) -> FieldValue? {
    unsafe gst_tag_list_get_value_index(box.list.raw, tag, 0).flatMap { unsafe FieldValue($0) }
  }

  /// The names of the tags.
  public var names: [String] {
    unsafe (0..<max(gst_tag_list_n_tags(box.list.raw), 0)).compactMap { index in
      unsafe gst_tag_list_nth_tag_name(box.list.raw, guint(index)).map { unsafe String(cString: $0) }
    }
  }

  /// The text form, as in debug logs.
  public var description: String {
    guard let text = unsafe gst_tag_list_to_string(box.list.raw) else { return "" }
    defer { unsafe g_free(text) }
    return unsafe String(cString: text)
  }
}

extension TagList: @unchecked Sendable {}
