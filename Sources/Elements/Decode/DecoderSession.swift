// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// The decompression session in use, and what those before it did.
struct DecoderSession {
  /// The session; `nil` before the first access unit with parameter sets.
  private(set) var current: DecompressionSession?
  /// Sessions that ended before this one, summed up.
  private var earlier = SessionStatistics()
  private let make: Maker
  /// Downstream wants what another session would make without a conversion: at the next IDR picture.
  private(set) var isToBeReplaced = false

  /// Makes sessions; tests put some in that fail.
  typealias Maker = (FormatDescription, SessionConfiguration, any PictureAllocator) throws(DecodeError)
    -> DecompressionSession

  init(_ make: @escaping Maker) { self.make = make }

  var isOpen: Bool { current != nil }
  /// How the session lays its pictures out.
  var layout: SessionConfiguration.OutputLayout? { current?.configuration.outputLayout }
  /// Pictures that are held back; `nil` without a session.
  var latency: Int? { current?.latency.frames }
  /// What all sessions did.
  var statistics: SessionStatistics {
    var sum = earlier
    if let current { sum.add(current.statistics) }
    return sum
  }

  /// Whether access units of this format may follow.
  func canContinue(with format: FormatDescription) -> Bool { current?.canAccept(format) ?? false }

  /// Replaces the session at the next IDR picture, or keeps it after all.
  mutating func replaceSoon(_ replace: Bool) { isToBeReplaced = replace }

  /// Opens a session in place of the one before, whose pictures are out.
  mutating func open(
    _ format: FormatDescription, layout: SessionConfiguration.OutputLayout, settings: DecoderSettings, isLive: Bool,
    allocator: PoolPictureAllocator
  ) throws(DecodeError) {
    close()
    current = try make(format, settings.sessionConfiguration(layout: layout, isLive: isLive), allocator)
    isToBeReplaced = false
  }

  /// Goes on with access units of another format.
  func accept(_ format: FormatDescription) throws(DecodeError) { try current?.accept(format) }

  /// Ends the session.
  mutating func close() {
    guard let current else { return }
    current.invalidate()
    earlier.add(current.statistics)
    self.current = nil
  }

  /// Leaves out such pictures from the next access unit on.
  func skip(_ frames: SessionConfiguration.SkipFrames) {
    if let current, current.skipFrames != frames { current.skipFrames = frames }
  }

  /// Decodes an access unit.
  func decode(_ accessUnit: Span<UInt8>, number: FrameNumber, as request: FrameRequest) throws(DecodeError) {
    let time = request.pts.map { Duration.nanoseconds(Int64(clamping: $0.nanoseconds)) }
    try current?.decode(accessUnit, tag: UInt64(number), time: time, doNotOutput: request.isDecodeOnly)
  }

  /// The codec was lost for good, and no random access point has come since.
  var isLost: Bool { current?.isLost ?? false }

  /// The next thing that the application should be told; `nil` for nothing.
  func nextNotice() -> SessionNotice? { current?.nextNotice() }

  /// It holds access units back until a random access point comes.
  var isAwaitingRandomAccessPoint: Bool { current?.isAwaitingRandomAccessPoint ?? false }

  /// Behind a splice: puts out what belongs to the stream before it.
  func finishSequence(before accessUnit: Span<UInt8>) { current?.finishSequence(before: accessUnit) }

  /// Puts out everything that is inside.
  func drain() { current?.drain() }

  /// Drops everything that is inside. The results tell which frames are concerned.
  func flush() { current?.flush() }

  /// What became of an access unit; `nil` when nothing is known until more goes in.
  func nextResult() -> SessionResult? { current?.nextResult() }
}

extension DecoderSettings {
  /// How a session is to decode.
  func sessionConfiguration(
    layout: SessionConfiguration.OutputLayout, isLive: Bool
  ) -> SessionConfiguration {
    var configuration = SessionConfiguration()
    configuration.threadCount = threadCount
    // Frame threads cost a live pipeline a frame of latency each.
    configuration.threadType = threadType == .automatic && isLive ? .slice : threadType.sessionValue
    configuration.outputCorrupt = outputCorrupt
    configuration.skipFrames = skipFrame.sessionValue
    configuration.lowDelay = lowDelay
    configuration.retries = Int(sessionRetries)
    // Live, a stream that does not speak of reordering has none; a file must not lose a picture.
    configuration.unknownReordering = compliance.sessionValue(isUrgent: isLive || lowDelay)
    configuration.outputLayout = layout
    configuration.verifiesPictureHash = verifiesPictureHash
    return configuration
  }
}
