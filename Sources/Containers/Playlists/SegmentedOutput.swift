// SPDX-License-Identifier: MPL-2.0
import AVFormat
import H26x
import StreamReport
import SystemPackage

/// Playlists and segments for HTTP live streaming (RFC 8216). The video is a rendition, and so is each sound: a movie
/// of one stream in fragments, whose files are in the target's folder.
final class SegmentedOutput: ContainerOutput {
  private let target: OutputFile
  /// `nil` for a trial, in which nothing is written.
  private let folder: OutputFolder?
  /// The requested duration of segments, in nanoseconds.
  private let duration: Int64
  private let video: Rendition
  private var sounds: [Rendition] = []
  private var format: MediaOutput.VideoFormat?
  /// Its parameter sets; `nil` if they cannot be read.
  private var description: FormatDescription?
  private var signalled = SignalledContents()

  // MARK: The video so far

  /// Frames; fields if each picture is one.
  private var pictureCount = 0
  private var peakPictureRate = PeakFrameRate()
  /// When segments begin, but for the first one, by their first access unit in decoding order.
  private var starts: [Int64] = []
  /// When the last segment begins; `nil` before the first one.
  private var start: Int64?
  /// Whether leading pictures of the last segment may refer to the segment in front of it.
  private var isOpen = false
  /// Whether each segment can be decoded without another one.
  private var isIndependent = true

  /// - Parameters:
  ///   - duration: the requested duration of segments, in nanoseconds.
  ///   - isTrial: whether nothing is written: shows whether the muxer takes streams.
  init(_ target: OutputFile, duration: Int64, isTrial: Bool = false) throws(Failure) {
    guard let folder = target.folder else { throw Failure("\(target.name): segments need a folder") }
    (self.target, self.duration, self.folder) = (target, duration, isTrial ? nil : folder)
    // Another attempt may have written into it.
    if !isTrial { folder.empty() }
    video = try Rendition(target, self.folder, name: "video")
  }

  // MARK: Streams

  func canHold(_ stream: StreamDescription, of source: InputContext) -> Bool {
    stream.kind == .audio && CodecsParameter.name(of: stream) != nil && video.output.canHold(stream, of: source)
  }

  func displayName(of stream: StreamDescription) -> String { stream.displayName }

  var losses: [String] {
    let silent = sounds.filter { !$0.hasSegments }.compactMap(\.sound)
    return ([video] + sounds).flatMap(\.output.losses) + silent.map { "\($0.summary), which has no packets" }
  }

  /// The initialization of the video.
  var front: [UInt8] { video.output.front }
  /// The initializations of sounds.
  var soundFronts: [(stream: StreamDescription, front: [UInt8])] {
    sounds.compactMap { sound in sound.sound.map { ($0, sound.output.front) } }
  }

  func begin(
    _ video: MediaOutput.VideoFormat?, _ timeBase: TimeBase, _ source: OtherStreams?,
    keeping streams: [StreamDescription], _ chapters: [Chapter], beginsLate: Bool
  ) throws(Failure) {
    format = video
    if let descriptor = source?.captionServices { signalled.add(descriptor.services) }
    description = video.flatMap { FormatDescription($0.codec, configuration: $0.configuration) }
    try self.video.output.begin(video, timeBase, source, keeping: [], [], beginsLate: beginsLate)
    for (number, stream) in streams.enumerated() {
      let sound = try Rendition(target, folder, name: "audio-\(number + 1)", stream)
      try sound.output.begin(nil, timeBase, source, keeping: [stream], [], beginsLate: beginsLate)
      sounds.append(sound)
    }
  }

  // MARK: Packets

  func write(_ accessUnit: MediaOutput.AccessUnit) throws(Failure) {
    let (time, role) = (accessUnit.presentation, accessUnit.role)
    if let start {
      if accessUnit.isSync, time &- start >= duration &- Window.tolerance {
        video.output.endSegment()
        starts.append(time)
        (self.start, isOpen) = (time, role.start == .open)
      } else if isOpen, time < start, !role.isDecodableLeading {
        isIndependent = false
      }
    } else {
      (start, isIndependent) = (time, accessUnit.isSync)
    }
    // In decoding order, other fields may be between those of a frame of H.265.
    if picturesPerFrame == 2 || !role.isSecondField {
      pictureCount += 1
      peakPictureRate.add(time)
    }
    if let format { signalled.add(accessUnit, format.codec, .lengthPrefixed(description?.nalLengthSize ?? .four)) }
    try video.output.write(accessUnit)
  }

  func write(_ other: consuming OtherStreams.Packet, zero: Int64) throws(Failure) {
    let stream = other.stream
    guard let sound = sounds.first(where: { $0.sound?.index == stream.index }) else { return }
    if let ticks = other.packet.presentation ?? other.packet.decoding {
      sound.reach(stream.timeBase.nanoseconds(ticks) &- zero, starts, duration)
    }
    try sound.output.write(other, zero: zero)
  }

  // MARK: At the end

  /// Writes the rest, and the playlists.
  ///
  /// - Parameter extras: the parts of the video's description that libavformat does not write.
  func finish(_ extras: SampleEntryExtras) throws(Failure) {
    guard let folder else { return }
    for rendition in [video] + sounds { try rendition.output.finish() }
    video.complete(extras)
    let renditions = [video] + sounds.filter(\.hasSegments)
    let origin = renditions.map(\.beginning).min() ?? 0
    let timelines = renditions.map { $0.timeline(from: origin) }
    // The same for all playlists (RFC 8216, 6.2.4). Segments of sound are up to a packet longer than those of pictures:
    // their durations are rounded to the nearest second (4.3.3.1).
    let targetDuration = zip(renditions, timelines)
      .map { rendition, timeline in timeline.longestInSeconds(roundedUp: rendition.sound == nil) }.reduce(1, max)
    for (rendition, timeline) in zip(renditions, timelines) {
      try rendition.write(
        timeline, targetDuration: targetDuration, isIndependent: isIndependent || rendition.sound != nil, to: folder)
    }
    remark(on: timelines[0])
    let media = zip(renditions, timelines).map { rendition, timeline in
      MultivariantPlaylist.Media(
        reference: "\(folder.reference)/\(rendition.playlistName)",
        peak: timeline.peakBitrate(targetDuration: targetDuration), average: timeline.averageBitrate)
    }
    let sounds = zip(renditions, media).compactMap { rendition, media in
      rendition.sound.map {
        MultivariantPlaylist.Sound(media: media, stream: $0, codec: CodecsParameter.name(of: $0) ?? "")
      }
    }
    try write(
      MultivariantPlaylist(video: announced(media[0], timelines[0]), sounds: sounds, isIndependent: isIndependent))
  }

  private func write(_ playlist: MultivariantPlaylist) throws(Failure) {
    let (file, bytes) = (try target.open(), Array(playlist.text.utf8))
    do throws(Errno) { try file.descriptor.writeFully(bytes.span) } catch { throw Failure("\(target.name): \(error)") }
  }

  /// The properties of the video that players choose by.
  private func announced(
    _ media: MultivariantPlaylist.Media, _ timeline: SegmentTimeline
  ) -> MultivariantPlaylist.Video {
    let track = video.movie?.videoTrack
    let entry = track?.video?.description
    var size = (width: entry?.width ?? format?.size.width ?? 0, height: entry?.height ?? format?.size.height ?? 0)
    if let aspect = format?.pixelAspect {
      // The entry has at most 16 bits.
      size.width = max(1, (size.width * Int(aspect.numerator) + Int(aspect.denominator) / 2) / Int(aspect.denominator))
    }
    if let rotation = track?.rotation, rotation % 180 != 0 { size = (width: size.height, height: size.width) }
    return MultivariantPlaylist.Video(
      media: media, codec: entry.flatMap(CodecsParameter.name(of:)),
      supplementalCodec: entry.flatMap(CodecsParameter.supplementalName(of:)), size: size,
      frameRate: frameRate(over: timeline), range: range(entry), captions: signalled.captions)
  }

  private var picturesPerFrame: Double { description?.isFieldSequence == true ? 2 : 1 }

  /// The highest frame rate of the pictures (RFC 8216, 4.3.4.2). It is the stated one or the average if these differ by
  /// no more than rounding explains.
  private func frameRate(over timeline: SegmentTimeline) -> Double? {
    let duration = timeline.segments.reduce(0) { $0 + $1.duration }
    guard duration > 0 else { return nil }
    let average = Double(pictureCount) * 1e9 / Double(duration) / picturesPerFrame
    let measured = peakPictureRate.framesPerSecond.map { $0 / picturesPerFrame } ?? average
    let period = format?.frameDuration.map { Double($0.denominator) / Double($0.numerator) }
    let stated = format?.statedFrameRate.map { Double($0.numerator) / Double($0.denominator) }
    return [stated, period, average].compactMap(\.self).first { abs($0 - measured) <= measured / 100 } ?? measured
  }

  /// By the transfer: of the message that replaces the others, of the container, of the VUI.
  private func range(_ entry: MP4.VisualSampleDescription?) -> String {
    if let record = entry?.dolbyVision, record.isIncompatible { return "PQ" }
    let stated = entry?.colour.map { UInt8(truncatingIfNeeded: $0.transfer) }
    return Text.dynamicRange(transfer: signalled.preferredTransfer ?? stated ?? description?.colour?.transfer)
  }

  /// Properties of the segments that not every player expects, for the user.
  private(set) var remarks: [String] = []

  private func remark(on timeline: SegmentTimeline) {
    if timeline.longest >= 2 * duration {
      let longest = Text.fixed(Double(timeline.longest) / 1e9, 3)
      remarks.append("a segment lasts \(longest) s, because no keyframe comes earlier")
    }
    if !isIndependent {
      remarks.append("segments need pictures of others in front of them, so they are not announced as independent")
    }
    if format?.allowsInBandParameterSets == true {
      remarks.append("parameter sets change within the stream, and stay in it, which some players do not support")
    }
  }
}
