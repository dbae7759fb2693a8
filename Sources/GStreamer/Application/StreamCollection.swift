// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// The streams that somebody offers, of which some can be chosen (`GstStreamCollection`, gst/gststreamcollection.h):
/// the video, the audio in three languages and the subtitles of a file.
///
/// A demultiplexer sends it with its streams, and `decodebin3`, `uridecodebin3` and `playbin3` post it as
/// ``Message/Content/streamCollection(_:)``; ``Pipeline/selectStreams(_:at:)`` chooses.
public struct StreamCollection: Sendable {
  /// The id of the stream that these come from, such as a file's; "" if there is none.
  public var upstreamID: String
  /// The streams, in the order of the element that offers them.
  public var streams: [Stream]

  /// A collection of streams.
  public init(upstreamID: String = "", _ streams: [Stream]) {
    (self.upstreamID, self.streams) = (upstreamID, streams)
  }

  /// The first stream of this id.
  public subscript(_ id: String) -> Stream? { streams.first { $0.id == id } }

  /// A stream that can be chosen (`GstStream`, gst/gststreams.h).
  public struct Stream: Sendable, Identifiable {
    /// The kind of a stream's content.
    public enum Kind: Hashable, Sendable {
      /// Audio.
      case audio
      /// Video.
      case video
      /// Subtitles, as text or as pictures.
      case text
      /// Several streams in one.
      case container
      /// Something else, or unknown.
      case other
    }

    /// The stream's id, the same whenever the stream is played.
    public var id: String
    /// The kind of its content.
    public var kind: Kind
    /// Whether it has gaps, as subtitles do (`GST_STREAM_FLAG_SPARSE`).
    public var isSparse: Bool
    /// Whether it is chosen by default (`GST_STREAM_FLAG_SELECT`).
    public var isDefault: Bool
    /// The stream's tags, such as its language; `nil` if none are known.
    public var tags: Tags?
    private let format: CapsBox?

    /// Its format; `nil` while it is unknown.
    public var caps: Caps? { format?.caps.share() }

    /// A stream.
    public init(
      _ id: String, _ kind: Kind, caps: consuming Caps? = nil, isSparse: Bool = false, isDefault: Bool = false,
      tags: Tags? = nil
    ) {
      (self.id, self.kind, self.isSparse, self.isDefault, self.tags) = (id, kind, isSparse, isDefault, tags)
      format = CapsBox(caps)
    }
  }
}

/// Caps that are never changed, in a value that can be copied.
package final class CapsBox: Sendable {
  /// The caps.
  package let caps: Caps
  /// Keeps caps, if there are any.
  package init?(_ caps: consuming Caps?) {
    guard let caps else { return nil }
    self.caps = caps
  }
}

extension StreamCollection {
  /// Reads a C collection without taking a reference.
  @unsafe init(_ raw: UnsafeMutablePointer<GstStreamCollection>) {
    let id = unsafe gst_stream_collection_get_upstream_id(raw).map { unsafe String(cString: $0) } ?? ""
    let streams = unsafe (0..<gst_stream_collection_get_size(raw)).compactMap { index in
      unsafe gst_stream_collection_get_stream(raw, index).map { unsafe Stream($0) }
    }
    self.init(upstreamID: id, streams)
  }

  /// A C collection with one reference.
  @unsafe func makeRaw() -> UnsafeMutablePointer<GstStreamCollection> {
    _ = isGStreamerReady
    let raw = unsafe gst_stream_collection_new(upstreamID.isEmpty ? nil : upstreamID)!
    for stream in streams { unsafe gst_stream_collection_add_stream(raw, stream.makeRaw()) }
    return unsafe raw
  }
}

extension StreamCollection.Stream {
  @unsafe init(_ raw: UnsafeMutablePointer<GstStream>) {
    let flags = unsafe gst_stream_get_stream_flags(raw).rawValue
    let caps = unsafe gst_stream_get_caps(raw)
    let tags = unsafe gst_stream_get_tags(raw)
    self.init(
      unsafe gst_stream_get_stream_id(raw).map { unsafe String(cString: $0) } ?? "",
      Kind(unsafe gst_stream_get_stream_type(raw)), caps: unsafe Self.owning(caps),
      isSparse: flags & GST_STREAM_FLAG_SPARSE.rawValue != 0, isDefault: flags & GST_STREAM_FLAG_SELECT.rawValue != 0,
      tags: unsafe tags.map { unsafe Tags(TagList(owning: $0)) })
  }

  private static func owning(_ raw: UnsafeMutablePointer<GstCaps>?) -> Caps? {
    if let raw = unsafe raw { unsafe .some(Caps(owning: raw)) } else { nil }
  }

  /// A C stream with one reference.
  @unsafe fileprivate func makeRaw() -> UnsafeMutablePointer<GstStream> {
    var flags = GST_STREAM_FLAG_NONE.rawValue
    if isSparse { flags |= GST_STREAM_FLAG_SPARSE.rawValue }
    if isDefault { flags |= GST_STREAM_FLAG_SELECT.rawValue }
    let raw = unsafe gst_stream_new(id, Caps.raw(caps), kind.raw, GstStreamFlags(rawValue: flags))!
    if let tags { unsafe gst_stream_set_tags(raw, tags.raw) }
    return unsafe raw
  }
}

extension StreamCollection.Stream.Kind {
  fileprivate init(_ type: GstStreamType) {
    // A set of flags, of which streams have one.
    if type.rawValue & GST_STREAM_TYPE_VIDEO.rawValue != 0 {
      self = .video
    } else if type.rawValue & GST_STREAM_TYPE_AUDIO.rawValue != 0 {
      self = .audio
    } else if type.rawValue & GST_STREAM_TYPE_TEXT.rawValue != 0 {
      self = .text
    } else if type.rawValue & GST_STREAM_TYPE_CONTAINER.rawValue != 0 {
      self = .container
    } else {
      self = .other
    }
  }

  fileprivate var raw: GstStreamType {
    switch self {
    case .audio: GST_STREAM_TYPE_AUDIO
    case .video: GST_STREAM_TYPE_VIDEO
    case .text: GST_STREAM_TYPE_TEXT
    case .container: GST_STREAM_TYPE_CONTAINER
    case .other: GST_STREAM_TYPE_UNKNOWN
    }
  }
}

// MARK: Events and messages

extension Event {
  /// A stream-collection event: a demultiplexer sends it through each pad, behind the start of the stream.
  public static func streamCollection(_ collection: StreamCollection) -> Event {
    let raw = unsafe collection.makeRaw()
    defer { unsafe gst_object_unref(raw) }
    return unsafe Event(owning: gst_event_new_stream_collection(raw))
  }

  /// The collection of a stream-collection event; `nil` for other events.
  public var streamCollection: StreamCollection? {
    guard kind == .streamCollection else { return nil }
    var collection: UnsafeMutablePointer<GstStreamCollection>?
    unsafe gst_event_parse_stream_collection(raw, &collection)
    guard let collection = unsafe collection else { return nil }
    defer { unsafe gst_object_unref(collection) }
    return unsafe StreamCollection(collection)
  }

  /// A select-streams event, which requests some streams of a collection, and no others, from upstream.
  /// - Parameter ids: the ids of the streams; `nil` is returned for none.
  public static func selectStreams(_ ids: [String]) -> Event? {
    guard !ids.isEmpty else { return nil }
    var list: UnsafeMutablePointer<GList>?
    for id in ids { unsafe list = g_list_append(list, g_strdup(id)) }
    // The event has copies.
    defer { unsafe g_list_free_full(list, { unsafe g_free($0) }) }
    return unsafe Event(owning: gst_event_new_select_streams(list))
  }

  /// The ids in a select-streams event; `nil` for other events.
  public var selectedStreams: [String]? {
    guard unsafe raw.pointee.type == GST_EVENT_SELECT_STREAMS else { return nil }
    var list: UnsafeMutablePointer<GList>?
    unsafe gst_event_parse_select_streams(raw, &list)
    defer { unsafe g_list_free_full(list, { unsafe g_free($0) }) }
    var ids: [String] = []
    var next = unsafe list
    while let node = unsafe next {
      if let id = unsafe node.pointee.data {
        unsafe ids.append(String(cString: id.assumingMemoryBound(to: CChar.self)))
      }
      unsafe next = node.pointee.next
    }
    return ids
  }
}

extension Element {
  /// Posts which streams there are to choose from on the bus.
  public func post(_ collection: StreamCollection) {
    let list = unsafe collection.makeRaw()
    defer { unsafe gst_object_unref(list) }
    let object = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self)
    unsafe gst_element_post_message(raw, gst_message_new_stream_collection(object, list))
  }

  /// Posts which streams of a collection play from now on, by their ids; ids that it does not have are left out.
  public func post(_ collection: StreamCollection, selected ids: [String]) {
    let list = unsafe collection.makeRaw()
    defer { unsafe gst_object_unref(list) }
    let object = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self)
    let message = unsafe gst_message_new_streams_selected(object, list)
    for index in 0..<(unsafe gst_stream_collection_get_size(list)) where ids.contains(collection.streams[Int(index)].id)
    {
      unsafe gst_message_streams_selected_add(message, gst_stream_collection_get_stream(list, index))
    }
    unsafe gst_element_post_message(raw, message)
  }
}

extension Message.Content {
  /// Reads a message of a collection, or of the streams chosen of one; `nil` for one without.
  @unsafe static func streams(of message: UnsafeMutablePointer<GstMessage>) -> Self? {
    let isSelection = unsafe message.pointee.type == GST_MESSAGE_STREAMS_SELECTED
    var raw: UnsafeMutablePointer<GstStreamCollection>?
    if isSelection {
      unsafe gst_message_parse_streams_selected(message, &raw)
    } else {
      unsafe gst_message_parse_stream_collection(message, &raw)
    }
    guard let raw = unsafe raw else { return nil }
    defer { unsafe gst_object_unref(raw) }
    let collection = unsafe StreamCollection(raw)
    guard isSelection else { return .streamCollection(collection) }
    let ids = unsafe (0..<gst_message_streams_selected_get_size(message)).compactMap { index -> String? in
      guard let stream = unsafe gst_message_streams_selected_get_stream(message, index) else { return nil }
      defer { unsafe gst_object_unref(stream) }
      return unsafe gst_stream_get_stream_id(stream).map { unsafe String(cString: $0) }
    }
    return .streamsSelected(collection, ids: ids)
  }
}

extension Pipeline {
  /// Chooses streams of a ``StreamCollection``: those, and no others, are played from soon after.
  ///
  /// The chosen streams are posted as ``Message/Content/streamsSelected(_:ids:)``. `decodebin3` of GStreamer 1.22.0
  /// may fail or crash if the choice comes in the first moments of a stream, even when the pipeline has prerolled.
  /// Its signal `select-stream` chooses the streams that play from the beginning.
  /// - Parameters:
  ///   - ids: the ids of the streams, all of one collection. At least one is required.
  ///   - element: the element that posted the collection; by default the sinks' upstream gets the choice.
  /// - Throws: `notSelected` if there is no id, or no element takes the choice.
  public func selectStreams(_ ids: [String], at element: PipelineElement? = nil) async throws(PipelineError) {
    let target = element?.reference ?? reference
    // The element that takes the event may wait for its streaming threads.
    let isTaken = await onOtherThread {
      switch Event.selectStreams(ids) {
      case .some(let event): unsafe gst_element_send_event(target.element, event.take()) != 0
      case .none: false
      }
    }
    guard isTaken else { throw .notSelected(ids) }
  }
}
