// SPDX-License-Identifier: MPL-2.0
import AVFormat
import GStreamer
import H26x
import StreamReport

/// Copies the access units of a container whose packaging stays. Each is inspected, and loses parameter sets that the
/// configuration record also has.
struct SampleCopy {
  let format: MediaOutput.VideoFormat
  private var inspector: any SampleInspecting
  /// Derives decoding times for containers that have presentation times only.
  private var decodingTimes: DecodingTimeRebuilder

  /// - Returns: `nil` if the samples' packaging or their description must change.
  init?(_ track: VideoTrack) {
    guard case .lengthPrefixed(let configuration, allowsInBandParameterSets: false) = track.packaging else {
      return nil
    }
    let inspector: (any SampleInspecting)? =
      switch track.codec {
      case .h264: SampleInspector<H264>(configuration)
      case .h265: SampleInspector<H265>(configuration)
      }
    guard let inspector else { return nil }
    let description = inspector.description
    let rate = track.framerate ?? description.frameRate.map { Fraction($0) }
    let aspect = track.pixelAspect ?? description.pixelAspectRatio.map { Fraction($0) }
    format = MediaOutput.VideoFormat(
      codec: track.codec, size: (description.frameSize.width, description.frameSize.height),
      pixelAspect: aspect.flatMap { TimeBase($0.numerator, $0.denominator) },
      frameDuration: rate.flatMap { TimeBase($0.denominator, $0.numerator) }, configuration: inspector.configuration)
    self.inspector = inspector
    decodingTimes = DecodingTimeRebuilder(
      reorderDepth: description.maximumReorderFrames,
      frameDuration: format.frameDuration.map { $0.nanoseconds(1) } ?? 0)
  }

  /// The access unit of the next sample.
  ///
  /// - Throws: `CopyRefusal.irregular` for samples that cannot be copied as they are.
  mutating func accessUnit(_ next: VideoSample) throws(CopyRefusal) -> MediaOutput.AccessUnit {
    var sample = next
    guard sample.packaging == nil, let presentation = sample.composition,
      let isKeyframe = inspector.inspect(&sample.bytes)
    else { throw .irregular }
    let decoding: Int64
    if let known = sample.decoding {
      decoding = known
    } else {
      // If a frame is coded in two fields, the depth counts each field. The first times depend on the frame rate.
      guard presentation >= 0, format.frameDuration != nil, !inspector.description.isInterlacedAllowed else {
        throw .irregular
      }
      decoding = decodingTimes.next(presentation: presentation)
    }
    guard decoding <= presentation else { throw .irregular }
    return MediaOutput.AccessUnit(
      bytes: sample.bytes, presentation: presentation, decoding: decoding, duration: sample.duration,
      isKeyframe: isKeyframe)
  }
}

/// Inspects access units with length prefixes.
private protocol SampleInspecting {
  /// The video, by its configuration record.
  var description: FormatDescription { get }
  /// The configuration record, with its parameter sets in sending order: libavcodec reads no others.
  var configuration: [UInt8] { get }
  /// Removes parameter sets that repeat sets of the configuration record, as most muxers of byte streams leave in
  /// samples.
  ///
  /// - Returns: whether decoders begin with the access unit, by the parser's rule. `nil` if it does not hold exactly
  ///   one picture in the format that the configuration record describes.
  mutating func inspect(_ accessUnit: inout [UInt8]) -> Bool?
}

private struct SampleInspector<Codec: VideoCodecSyntax>: SampleInspecting {
  let description: FormatDescription
  let configuration: [UInt8]
  private let packaging: NALPackaging
  private var inspector: Codec.Inspector
  /// The stream signals random access points, so that pictures of I slices only are none.
  private var marksRandomAccess = false

  /// - Returns: `nil` for a configuration record that cannot be read, or lacks parameter sets.
  init?(_ configuration: [UInt8]) {
    do throws(BitstreamError) {
      let record = try Codec.ConfigurationRecord(configuration.span)
      // In sending order, and without start codes of a careless muxer.
      self.configuration = try record.inOrder.bytes()
      description = try Codec.formatDescription(record)
      packaging = .lengthPrefixed(record.nalLengthSize)
      inspector = Codec.Inspector(parameterSets: Codec.ParameterSets())
      inspector.insert(record.nalUnits)
    } catch { return nil }
    guard inspector.parameterSets.canReadSlices else { return nil }
  }

  mutating func inspect(_ accessUnit: inout [UInt8]) -> Bool? {
    let info = inspector.inspect(accessUnit.span, packaging: packaging)
    guard info.error == nil, info.hasPicture, !info.changesParameterSets,
      !info.hasParameterSets || removeParameterSets(&accessUnit)
    else { return nil }
    switch info.randomAccess {
    case .idr, .irap:
      // H.264 has no other type for them.
      if description.codec == .h265 { marksRandomAccess = true }
      return true
    case .recoveryPoint:
      marksRandomAccess = true
      return true
    case .none:
      return description.isIntraOnly || !marksRandomAccess && info.isIntra && !info.isSecondField
    }
  }

  /// - Returns: false if the packaging cannot be read.
  private func removeParameterSets(_ accessUnit: inout [UInt8]) -> Bool {
    var kept: [UInt8] = []
    kept.reserveCapacity(accessUnit.count)
    do throws(BitstreamError) {
      for range in packaging.nalUnits(of: accessUnit.span) where !range.isEmpty {
        let type = Codec.NALUnitType(headerByte: accessUnit[range.lowerBound])
        if Codec.typesInConfigurationRecord.contains(type.rawValue) { continue }
        try packaging.append(accessUnit.span.extracting(range), to: &kept)
      }
    } catch { return false }
    accessUnit = kept
    return true
  }
}
