// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import CGStreamerDiscovery
public import GStreamer

/// What a ``Discoverer`` finds at a URI (`GstDiscovererInfo`).
public struct DiscoveredMedia: Sendable {
  /// The URI.
  public var uri: String
  /// How long it lasts; `nil` when that is unknown, as for a live stream.
  public var duration: ClockTime?
  /// Whether any part of it can be played next.
  public var isSeekable: Bool
  /// Whether it comes in real time.
  public var isLive: Bool
  /// The containers and the streams in them, the outermost container first.
  public var streams: [DiscoveredStream]
  /// What is missing for some of the streams, as installers of codecs want it
  /// (`gst_discoverer_info_get_missing_elements_installer_details`); empty when nothing is.
  public var missingElements: [String]

  /// The streams of moving pictures.
  public var videoStreams: [DiscoveredStream] { streams.filter { if case .video = $0.content { true } else { false } } }
  /// The audio streams.
  public var audioStreams: [DiscoveredStream] { streams.filter { if case .audio = $0.content { true } else { false } } }
}

/// A stream that a ``Discoverer`` finds (`GstDiscovererStreamInfo`).
public struct DiscoveredStream: Sendable, Identifiable {
  /// What the stream has.
  public enum Content: Hashable, Sendable {
    /// Moving pictures.
    case video(Video)
    /// A picture.
    case image(Video)
    /// Sound.
    case audio(Audio)
    /// Subtitles. The language is as the stream states it, such as `en`.
    case subtitles(language: String?)
    /// Other streams.
    case container
    /// Something else.
    case other
  }

  /// Pictures (`GstDiscovererVideoInfo`).
  public struct Video: Hashable, Sendable {
    /// Pixels in a row.
    public var width: Int
    /// Rows.
    public var height: Int
    /// Frames a second; 0/1 is variable or unknown.
    public var frameRate: Fraction
    /// The width of a pixel in proportion to its height.
    public var pixelAspectRatio: Fraction
    /// Whether frames are made of fields.
    public var isInterlaced: Bool
    /// Bits a second; `nil` when unknown.
    public var bitrate: Int?
  }

  /// Sound (`GstDiscovererAudioInfo`).
  public struct Audio: Hashable, Sendable {
    /// Channels.
    public var channels: Int
    /// Samples a second of each channel.
    public var sampleRate: Int
    /// Bits a sample; 0 when unknown.
    public var depth: Int
    /// Bits a second; `nil` when unknown.
    public var bitrate: Int?
    /// The language as the stream states it, such as `en`.
    public var language: String?
  }

  /// The stream's id, the same whenever the stream is played; "" where there is none.
  public var id: String
  /// What the stream has.
  public var content: Content
  /// What is known of it, such as title and codec; `nil` where nothing is.
  public var tags: Tags?
  private let format: CapsBox?

  /// The format; `nil` while it is unknown.
  public var caps: Caps? { format?.caps.share() }
}

extension DiscoveredMedia {
  /// Reads the C object without taking a reference.
  @unsafe init(_ info: OpaquePointer) {
    uri = unsafe gst_discoverer_info_get_uri(info).map { unsafe String(cString: $0) } ?? ""
    // 0 where it is unknown, in files that end before they begin too.
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

extension DiscoveredStream {
  @unsafe fileprivate init(_ object: UnsafeMutableRawPointer) {
    let info = OpaquePointer(object)
    id = unsafe gst_discoverer_stream_info_get_stream_id(info).map { unsafe String(cString: $0) } ?? ""
    let list = unsafe gst_discoverer_stream_info_get_tags(info).flatMap { unsafe gst_tag_list_copy($0) }
    tags = unsafe list.map { unsafe Tags(TagList(owning: $0)) }
    if let caps = unsafe gst_discoverer_stream_info_get_caps(info) {
      format = unsafe CapsBox(Caps(owning: caps))
    } else {
      format = nil
    }
    content = unsafe Self.content(of: object)
  }

  private static func content(of object: UnsafeMutableRawPointer) -> Content {
    let info = OpaquePointer(object)
    func text(_ text: UnsafePointer<CChar>?) -> String? { unsafe text.map { unsafe String(cString: $0) } }
    func rate(_ bits: guint) -> Int? { bits == 0 ? nil : Int(bits) }
    if unsafe cgst_discovered_is_video(object) != 0 {
      let video = unsafe Video(
        width: Int(gst_discoverer_video_info_get_width(info)), height: Int(gst_discoverer_video_info_get_height(info)),
        frameRate: Fraction(
          Int32(clamping: gst_discoverer_video_info_get_framerate_num(info)),
          Int32(clamping: gst_discoverer_video_info_get_framerate_denom(info))),
        pixelAspectRatio: Fraction(
          Int32(clamping: gst_discoverer_video_info_get_par_num(info)),
          Int32(clamping: gst_discoverer_video_info_get_par_denom(info))),
        isInterlaced: gst_discoverer_video_info_is_interlaced(info) != 0,
        bitrate: rate(gst_discoverer_video_info_get_bitrate(info)))
      return unsafe gst_discoverer_video_info_is_image(info) != 0 ? .image(video) : .video(video)
    }
    if unsafe cgst_discovered_is_audio(object) != 0 {
      return .audio(
        unsafe Audio(
          channels: Int(gst_discoverer_audio_info_get_channels(info)),
          sampleRate: Int(gst_discoverer_audio_info_get_sample_rate(info)),
          depth: Int(gst_discoverer_audio_info_get_depth(info)),
          bitrate: rate(gst_discoverer_audio_info_get_bitrate(info)),
          language: text(gst_discoverer_audio_info_get_language(info))))
    }
    if unsafe cgst_discovered_is_subtitle(object) != 0 {
      return .subtitles(language: unsafe text(gst_discoverer_subtitle_info_get_language(info)))
    }
    return unsafe cgst_discovered_is_container(object) != 0 ? .container : .other
  }
}
