// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import CGStreamerDiscovery
public import GStreamer

/// A stream that a ``Discoverer`` finds (`GstDiscovererStreamInfo`).
public struct DiscoveredStream: Sendable, Identifiable {
  /// The content of the stream.
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
    /// Bits a second; `nil` if unknown.
    public var bitrate: Int?
  }

  /// Sound (`GstDiscovererAudioInfo`).
  public struct Audio: Hashable, Sendable {
    /// Channels.
    public var channels: Int
    /// Samples a second of each channel.
    public var sampleRate: Int
    /// Bits a sample; 0 if unknown.
    public var depth: Int
    /// Bits a second; `nil` if unknown.
    public var bitrate: Int?
    /// The language as the stream states it, such as `en`.
    public var language: String?
  }

  /// The stream's id, the same whenever the stream is played; "" if there is none.
  public var id: String
  /// The content of the stream.
  public var content: Content
  /// The stream's tags, such as title and codec; `nil` if none are known.
  public var tags: Tags?
  private let format: CapsBox?

  /// The format; `nil` while it is unknown.
  public var caps: Caps? { format?.caps.share() }
}

extension DiscoveredStream {
  @unsafe init(_ object: UnsafeMutableRawPointer) {
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
