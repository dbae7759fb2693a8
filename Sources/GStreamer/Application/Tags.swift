// SPDX-License-Identifier: MPL-2.0
import CGStreamer

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
