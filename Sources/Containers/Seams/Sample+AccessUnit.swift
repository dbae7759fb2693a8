// SPDX-License-Identifier: MPL-2.0
import AVFormat
package import GStreamer
import H26x

extension Caps {
  /// The configuration record (avcC or hvcC) in it.
  package var codecData: [UInt8]? {
    guard let buffer = first.buffer("codec_data") else { return nil }
    return try? buffer.copiedBytes()
  }
}

extension Sample {
  /// A field of the caps.
  package func capsField(_ name: String) -> FieldValue? {
    guard let caps else { return nil }
    return caps.first.value(name)
  }

  /// The video, by its caps; `nil` if they are of another codec.
  var videoFormat: MediaOutput.VideoFormat? {
    guard let caps else { return nil }
    return MediaOutput.VideoFormat(caps)
  }

  /// The access unit in it, with times of the media.
  ///
  /// - Parameters:
  ///   - origin: the distance of the pipeline's timestamps from times of the media, in nanoseconds.
  ///   - needsTime: whether it must have a presentation time.
  func accessUnit(origin: Int64, needsTime: Bool) throws(CopyRefusal) -> MediaOutput.AccessUnit {
    let bytes: [UInt8]
    do throws(FlowError) { bytes = try copiedBytes() } catch {
      throw .failure(Failure("an access unit could not be read (flow \(error.rawValue))"))
    }
    let attributes = attributes
    guard attributes.pts != nil || !needsTime else { throw .untimed }
    let presentation = Int64(clamping: attributes.pts?.nanoseconds ?? 0) &- origin
    return MediaOutput.AccessUnit(
      bytes: bytes, presentation: presentation,
      decoding: attributes.dts.map { Int64(clamping: $0.nanoseconds) &- origin } ?? presentation,
      duration: Int64(clamping: attributes.duration?.nanoseconds ?? 0),
      isKeyframe: !attributes.flags.contains(.deltaUnit))
  }
}

extension MediaOutput.VideoFormat {
  /// Reads caps.
  ///
  /// - Returns: `nil` if they are of another codec.
  package init?(_ caps: borrowing Caps) {
    let fields = caps.first
    guard let codec = FormatDescription.Codec(mediaType: fields.name) else { return nil }
    self.init(
      codec: codec, size: (fields.value("width")?.integer ?? 0, fields.value("height")?.integer ?? 0),
      pixelAspect: fields.fraction("pixel-aspect-ratio").flatMap { TimeBase($0.numerator, $0.denominator) },
      frameDuration: fields.fraction("framerate").flatMap { TimeBase($0.denominator, $0.numerator) },
      configuration: caps.codecData ?? [],
      allowsInBandParameterSets: fields.string("stream-format") == codec.syntax.inBandStreamFormat)
  }
}
