// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import CGStreamerDiscovery
public import GStreamer

/// The media that a ``Discoverer`` finds at a URI (`GstDiscovererInfo`).
public struct DiscoveredMedia: Sendable {
  /// The URI.
  public var uri: String
  /// The duration; `nil` if unknown, as for a live stream.
  public var duration: ClockTime?
  /// Whether any part of it can be played next.
  public var isSeekable: Bool
  /// Whether it comes in real time.
  public var isLive: Bool
  /// The containers and the streams in them, the outermost container first.
  public var streams: [DiscoveredStream]
  /// The elements missing for some of the streams, in the form that codec installers need
  /// (`gst_discoverer_info_get_missing_elements_installer_details`); empty if none is missing.
  public var missingElements: [String]

  /// The streams of moving pictures.
  public var videoStreams: [DiscoveredStream] { streams.filter { if case .video = $0.content { true } else { false } } }
}

extension DiscoveredMedia {
  /// Reads the C object without taking a reference.
  @unsafe init(_ info: OpaquePointer) {
    uri = unsafe gst_discoverer_info_get_uri(info).map { unsafe String(cString: $0) } ?? ""
    // 0 if it is unknown, in files that end before they begin too.
    let length = unsafe UInt64(gst_discoverer_info_get_duration(info))
    duration = length == 0 || length == .max ? nil : ClockTime(nanoseconds: length)
    isSeekable = unsafe gst_discoverer_info_get_seekable(info) != 0
    isLive = unsafe gst_discoverer_info_get_live(info) != 0
    streams = []
    missingElements = []
    if let root = unsafe gst_discoverer_info_get_stream_info(info) {
      defer { unsafe g_object_unref(UnsafeMutableRawPointer(root)) }
      unsafe add(UnsafeMutableRawPointer(root), depth: 0)
    }
    var missing = unsafe gst_discoverer_info_get_missing_elements_installer_details(info)
    while let text = unsafe missing?.pointee {
      missingElements.append(unsafe String(cString: text))
      unsafe missing = missing.map { unsafe $0 + 1 }
    }
  }
}

extension DiscoveredMedia {
  /// Adds a stream, and those in it. Containers within containers end somewhere, whatever the file is.
  private mutating func add(_ object: UnsafeMutableRawPointer, depth: Int) {
    guard depth < 32 else { return }
    let info = OpaquePointer(object)
    let next = unsafe gst_discoverer_stream_info_get_next(info)
    defer { if let next = unsafe next { unsafe g_object_unref(UnsafeMutableRawPointer(next)) } }
    let stream = unsafe DiscoveredStream(object)
    // Tags in front of a stream, such as ID3, are no stream.
    if unsafe next == nil || stream.content != .other { streams.append(stream) }
    if let next = unsafe next { unsafe add(UnsafeMutableRawPointer(next), depth: depth + 1) }
    guard stream.content == .container, let list = unsafe gst_discoverer_container_info_get_streams(info) else {
      return
    }
    defer { unsafe gst_discoverer_stream_info_list_free(list) }
    var node = unsafe Optional(list)
    while let child = unsafe node {
      if let data = unsafe child.pointee.data { unsafe add(data, depth: depth + 1) }
      unsafe node = child.pointee.next
    }
  }
}
