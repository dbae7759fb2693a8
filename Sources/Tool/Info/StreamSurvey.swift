// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Containers
import GStreamer
import H26x
import StreamReport

/// A summary of a whole stream, from the items of a report.
struct StreamSurvey {
  private var codec = FormatDescription.Codec.h264
  /// Parameter sets that come before the first picture or with it.
  private var parameterSets: [[UInt8]] = []
  /// The picture parameter set that the first picture refers to.
  private var pictureParameterSet: PictureParameterSetID?
  private var fields = 0
  private(set) var display = DisplayMetadata()
  private(set) var found = MediaInfo.Counts()
  /// Access units with a picture.
  private(set) var accessUnits = 0
  /// The offset in bytes behind the last access unit that was read.
  private(set) var end: UInt64 = 0
  /// Layers above the base layer of H.265.
  private(set) var layers: Set<UInt8> = []
  private var metadata = StreamMetadata()
  private(set) var peak = PeakBitrate()
  /// How long a frame lasts by the first picture's parameter sets, in seconds; `nil` if that is not known.
  private var frameDuration: Double?
  /// SEI of the first picture with picture timing.
  private var timing: [[UInt8]] = []
  /// The fewest and the most pictures from a keyframe to the next one.
  private(set) var group: ClosedRange<Int>?
  /// Pictures since the last keyframe; `nil` before the first one.
  private var groupLength: Int?

  mutating func add(_ item: ReportItem) {
    switch item {
    case .stream(let stream): codec = stream.codec
    case .parameterSet(let set): if accessUnits == 0 { parameterSets.append(set.nalUnit.bytes) }
    case .accessUnit(let accessUnit):
      end = accessUnit.offset + accessUnit.size
      layers.formUnion(accessUnit.layers)
      guard accessUnit.letter != nil else { return }
      if accessUnits == 0 {
        timing = accessUnit.nalUnits.filter { $0.messages.contains(SEIPayloadType.pictureTiming.rawValue) }.map(\.bytes)
        pictureParameterSet =
          accessUnit.nalUnits.lazy.filter { $0.layerID ?? 0 == 0 }.compactMap(\.slice).first?
          .pictureParameterSetID
      }
      accessUnits += 1
      addToPeak(accessUnit)
      if accessUnit.isField { fields += 1 }
      found.add(accessUnit)
      addToGroup(accessUnit)
      metadata.add(accessUnit, codec)
      for nalUnit in accessUnit.nalUnits where !nalUnit.messages.isEmpty {
        display.read(nalUnit.bytes.span, headerLength: codec.syntax.nalUnitHeaderLength)
      }
    default: break
    }
  }

  /// Takes the languages of captions by the container.
  mutating func take(_ services: CaptionDistributionPacket.ServiceInformation) { metadata.take(services) }

  /// Times come from the container in nanoseconds, or from the frame rate.
  private mutating func addToPeak(_ accessUnit: AccessUnitRecord) {
    let size = Int(clamping: accessUnit.size)
    if let sample = accessUnit.sample {
      peak.add(size, at: Double(sample.dts ?? sample.pts) / 1e9)
      return
    }
    if accessUnits == 1 {
      frameDuration = format?.plausibleFrameRate.map { Double($0.denominator) / Double($0.numerator) }
    }
    guard let frameDuration else { return }
    // The fields of a frame are counted as one picture.
    peak.add(size, at: Double(found.pictures) * frameDuration)
  }

  private mutating func addToGroup(_ accessUnit: AccessUnitRecord) {
    guard !accessUnit.isSecondField else { return }
    if accessUnit.keyframe != .none {
      if let length = groupLength {
        group = min(group?.lowerBound ?? length, length)...max(group?.upperBound ?? length, length)
      }
      groupLength = 0
    }
    groupLength = groupLength.map { $0 + 1 }
  }

  /// The metadata in the stream, and of the container.
  ///
  /// - Parameters:
  ///   - colour: the colour that the container states; `nil` for none.
  ///   - record: the container's record of Dolby Vision; `nil` for none.
  ///   - rate: pictures a second, if they are known.
  func videoMetadata(
    colour: StreamDescription.Colour?, record: DolbyVision.Configuration?, rate: Fraction?
  ) -> VideoMetadata {
    var video = metadata.videoMetadata(codec, format, display, colour: colour, record: record, rate: rate)
    (video.referenceFrames, video.group, video.scanOrder) = (referenceFrames, group, scanOrder)
    return video
  }

  /// The most reference frames by the SPS of the first picture: `max_num_ref_frames`, or
  /// `sps_max_dec_pic_buffering_minus1`.
  private var referenceFrames: Int? {
    switch codec {
    case .h264: h264SPS.map { Int($0.maximumReferenceFrames) }
    case .h265: h265SPS.map { max(0, $0.decodedPictureBufferPictures - 1) }
    }
  }

  private var h264SPS: H264.SequenceParameterSet? {
    let sets = stored(H264.ParameterSets())
    return pictureParameterSet.flatMap { sets.pictureParameterSet($0) }
      .flatMap { sets.sequenceParameterSet($0.sequenceParameterSetID) }
  }

  private var h265SPS: H265.SequenceParameterSet? {
    let sets = stored(H265.ParameterSets())
    return pictureParameterSet.flatMap { sets.pictureParameterSet($0) }
      .flatMap { sets.sequenceParameterSet($0.sequenceParameterSetID) }
  }

  /// `progressive`, or the first field by the first picture timing SEI: `top-field-first`, `bottom-field-first`; `nil`
  /// if that is not sent.
  private var scanOrder: String? {
    guard format != nil else { return nil }
    guard interlaceMode != nil else { return "progressive" }
    for nalUnit in timing {
      var messages = SEIMessages(nalUnit.span, headerLength: codec.syntax.nalUnitHeaderLength)
      do throws(BitstreamError) {
        while let message = try messages.next() {
          guard message.type == .pictureTiming, let isTopFirst = try isTopFirst(message) else { continue }
          return isTopFirst ? "top-field-first" : "bottom-field-first"
        }
      } catch { continue }
    }
    return nil
  }

  private func isTopFirst(_ message: borrowing SEIMessages.Message) throws(BitstreamError) -> Bool? {
    switch codec {
    case .h264:
      guard let sps = h264SPS else { return nil }
      return switch try H264.PictureTiming(message, sps: sps).structure {
      case .topField, .topBottom, .topBottomTop: true
      case .bottomField, .bottomTop, .bottomTopBottom: false
      default: nil
      }
    case .h265:
      guard let sps = h265SPS else { return nil }
      // Fields that are paired with one before have the other parity first (Table D.2).
      return switch try H265.PictureTiming(message, sps: sps).display?.structure.rawValue {
      case 1, 3, 5, 10, 11: true
      case 2, 4, 6, 9, 12: false
      default: nil
      }
    }
  }

  /// The format by the parameter sets of the first picture; `nil` if they cannot be read.
  var format: FormatDescription? {
    do throws(BitstreamError) {
      switch codec {
      case .h264:
        let sets = stored(H264.ParameterSets())
        let id = pictureParameterSet.flatMap { sets.pictureParameterSet($0)?.sequenceParameterSetID }
        return try FormatDescription(sets, sequenceParameterSetID: id)
      case .h265:
        let sets = stored(H265.ParameterSets())
        let id = pictureParameterSet.flatMap { sets.pictureParameterSet($0)?.sequenceParameterSetID }
        return try FormatDescription(sets, sequenceParameterSetID: id)
      }
    } catch { return nil }
  }

  private func stored<Sets: ParameterSetStore>(_ empty: Sets) -> Sets {
    var sets = empty
    // Twice, because a PPS may precede its SPS.
    for nalUnit in parameterSets + parameterSets { _ = try? sets.insert(nalUnit.span) }
    return sets
  }

  /// The caps field interlace-mode; `nil` for progressive pictures.
  var interlaceMode: String? {
    guard let format else { return nil }
    if format.isFieldSequence || accessUnits > 0 && fields == accessUnits { return "interleaved" }
    return fields > 0 || codec == .h264 && format.isInterlacedAllowed ? "mixed" : nil
  }
}
