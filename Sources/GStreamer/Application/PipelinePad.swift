// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A pad of an element in a pipeline.
public struct PipelinePad: Sendable {
  let reference: ObjectReference
  init(_ reference: ObjectReference) { self.reference = reference }

  /// Its name, such as `src_0`.
  public var name: String { reference.name }

  /// Whether data leaves the element here.
  public var isSource: Bool { unsafe gst_pad_get_direction(reference.pad) == GST_PAD_SRC }

  /// Whether it is linked to another.
  public var isLinked: Bool { unsafe gst_pad_is_linked(reference.pad) != 0 }

  /// The caps that flow now, `nil` when none do.
  public var currentCaps: Caps? {
    guard let caps = unsafe gst_pad_get_current_caps(reference.pad) else { return nil }
    return unsafe Caps(owning: caps)
  }

  /// The caps that flow now, else those that may.
  public var caps: Caps { unsafe currentCaps ?? Caps(owning: gst_pad_query_caps(reference.pad, nil)) }

  /// The facts about the stream that flows here: those of the container, and those of the stream itself, as they were
  /// said.
  public var tags: [Tags] {
    var all: [Tags] = []
    while let event = unsafe gst_pad_get_sticky_event(reference.pad, GST_EVENT_TAG, guint(all.count)) {
      var tags: UnsafeMutablePointer<GstTagList>?
      unsafe gst_event_parse_tag(event, &tags)
      let copy = unsafe tags.flatMap { unsafe gst_tag_list_copy($0) }
      unsafe unref(event)
      all.append(unsafe Tags(copy.map { unsafe TagList(owning: $0) } ?? TagList()))
    }
    return all
  }

  /// Links this source pad to a free sink pad of the element that takes its caps.
  ///
  /// From a `pad-added` handler, that is, before data comes.
  /// - Throws: `PipelineError.notLinkable` when there is no such pad.
  public func link(to element: PipelineElement) throws(PipelineError) {
    let target = unsafe gst_element_get_compatible_pad(element.reference.element, reference.pad, nil)
    defer { if let target = unsafe target { unsafe gst_object_unref(target) } }
    guard let target = unsafe target, unsafe gst_pad_link(reference.pad, target) == GST_PAD_LINK_OK else {
      throw .notLinkable(from: name, to: element.name)
    }
  }
}
