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

  /// Whether a thread of its own moves the data (`GstTask`), as at the sink pad of an element that pulls.
  public enum Thread: Sendable {
    /// There is none.
    case none
    /// It runs.
    case running
    /// It has stopped, for good at the end of the stream or after an error.
    case paused
  }

  /// The pad's thread.
  public var thread: Thread {
    switch unsafe gst_pad_get_task_state(reference.pad) {
    case GST_TASK_STARTED: .running
    case GST_TASK_PAUSED: .paused
    default: .none
    }
  }

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

  /// How many chapters the table of contents has that came this way; 0 without one.
  package var chapterCount: Int {
    guard let event = unsafe gst_pad_get_sticky_event(reference.pad, GST_EVENT_TOC, 0) else { return 0 }
    defer { unsafe unref(event) }
    var contents: OpaquePointer?
    unsafe gst_event_parse_toc(event, &contents, nil)
    guard let contents = unsafe contents else { return 0 }
    defer { unsafe unref(UnsafeMutableRawPointer(contents).assumingMemoryBound(to: GstMiniObject.self)) }
    var count = 0
    var next = unsafe gst_toc_get_entries(contents)
    while let node = unsafe next {
      // Editions, such as a director's cut, hold the chapters.
      if let data = unsafe node.pointee.data {
        let entry = OpaquePointer(data)
        let isEdition = unsafe gst_toc_entry_get_entry_type(entry) == GST_TOC_ENTRY_TYPE_EDITION
        count += isEdition ? Int(unsafe g_list_length(gst_toc_entry_get_sub_entries(entry))) : 1
      }
      unsafe next = node.pointee.next
    }
    return count
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
