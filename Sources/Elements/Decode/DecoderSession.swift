// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// The decompression session in use, and what those before it did.
struct DecoderSession {
  /// The session; `nil` before the first access unit with parameter sets.
  private(set) var current: DecompressionSession?
  /// The sum of earlier sessions' counts.
  private var earlier = SessionStatistics()
  private let make: Maker
  /// Ends waits for an isolated codec.
  private let cancellation: Cancellation
  /// At the next IDR picture: a new session could decode without the conversion that this one needs.
  private(set) var isToBeReplaced = false
  /// Downstream takes a device's memory rather than the system's.
  private var keepsSurfaces = true

  /// Makes sessions; tests make some that fail.
  typealias Maker = (FormatDescription, SessionConfiguration, (any PictureAllocator)?) throws(DecodeError)
    -> DecompressionSession

  init(cancellation: Cancellation, _ make: @escaping Maker) {
    self.cancellation = cancellation
    self.make = make
  }

  var isOpen: Bool { current != nil }
  /// The layout of the session's pictures.
  var layout: SessionConfiguration.OutputLayout? { current?.configuration.outputLayout }

  /// Returns the best output for the next pictures, if downstream, whose caps are given, takes it.
  ///
  /// Starting at the next access unit, a device's pictures stay in its memory, or not, as downstream prefers.
  mutating func preference(_ settings: DecoderSettings, in caps: borrowing Caps?, isReverse: Bool) -> OutputPreference {
    keepsSurfaces = DMABufMemory.isPreferred(in: caps)
    var surfaces = OutputPreference.Surfaces.unwanted
    if keepsSurfaces, !isReverse, expectsDevice(settings) { surfaces = canKeepSurfaces ? .kept : .wanted }
    // A peer that takes anything gets the same format with every decoder, unless a device's pictures stay in its
    // memory.
    let mayBeSemiPlanar = RawFormatChoice.areListed(in: caps) || keepsSurfaces && canKeepSurfaces
    return OutputPreference(isSemiPlanar: mayBeSemiPlanar && prefersSemiPlanar(settings), surfaces: surfaces)
  }

  /// Interleaved chroma is no work, because a device decodes, or is expected to.
  private func prefersSemiPlanar(_ settings: DecoderSettings) -> Bool {
    // Layouts do not change with each fall-back.
    settings.hardware != .off && current?.configuration.outputLayout == .semiPlanar || expectsDevice(settings)
  }

  /// A device decodes, or is expected to.
  private func expectsDevice(_ settings: DecoderSettings) -> Bool {
    guard settings.hardware != .off else { return false }
    guard let current else { return settings.sessionConfiguration(layout: .native, isLive: false).expectsDevice }
    return current.decoder.map { $0 != .software } ?? false
  }

  /// A device's pictures can stay in its memory.
  var canKeepSurfaces: Bool { current?.configuration.outputMemory == .device }

  /// Downloads a device's pictures, starting at the next access unit, until downstream's preference is queried again.
  mutating func stopKeepingSurfaces() { keepsSurfaces = false }

  /// The picture with samples that can be read, whatever memory it lies in; `nil` if they are lost.
  func readable(_ picture: DecodedPicture) -> DecodedPicture? {
    picture.hasSamples ? picture : current?.readable(picture)
  }

  /// Pictures that are held back; `nil` without a session.
  var latency: Int? { current?.latency.frames }

  /// The statistics of all sessions together.
  var statistics: SessionStatistics {
    var sum = earlier
    if let current { sum.add(current.statistics) }
    return sum
  }

  /// Whether access units of this format may follow.
  func canContinue(with format: FormatDescription) -> Bool { current?.canAccept(format) ?? false }

  /// Sets whether the session is replaced at the next IDR picture.
  mutating func replaceSoon(_ replace: Bool) { isToBeReplaced = replace }

  /// Opens a session in place of the previous session, whose pictures were output.
  mutating func open(
    _ format: FormatDescription, layout: SessionConfiguration.OutputLayout, keepsSurfaces: Bool,
    settings: DecoderSettings, isLive: Bool, allocator: PoolPictureAllocator
  ) throws(DecodeError) {
    close()
    var configuration = settings.sessionConfiguration(layout: layout, isLive: isLive)
    configuration.outputMemory = keepsSurfaces ? .device : .system
    configuration.cancellation = cancellation
    // Another process cannot write into downstream's buffers: its own memory goes there.
    current = try make(format, configuration, configuration.isolation == .none ? allocator : nil)
    isToBeReplaced = false
  }

  /// Continues with access units of another format.
  func accept(_ format: FormatDescription) throws(DecodeError) { try current?.accept(format) }

  /// Ends the session.
  mutating func close() {
    guard let current else { return }
    current.invalidate()
    earlier.add(current.statistics)
    self.current = nil
  }

  /// Takes the settings that have an immediate effect.
  func apply(_ settings: DecoderSettings, for request: FrameRequest) {
    guard let current else { return }
    let skipFrames = settings.skipFrames(for: request)
    if current.skipFrames != skipFrames { current.skipFrames = skipFrames }
    current.outputCorrupt = settings.outputCorrupt
    current.retries = Int(settings.sessionRetries)
    // More pictures are held back in a group than a device can spare, under caps that come before all of them.
    if canKeepSurfaces { current.keepsSurfaces = keepsSurfaces && !request.isReverse }
  }

  /// A flush or a stop has ended all waits: a failure that follows from it is not reported.
  var isCancelled: Bool { cancellation.isCancelled }

  /// Decodes an access unit, or leaves it out where only key units are played.
  func decode(
    _ accessUnit: Span<UInt8>, _ description: AccessUnitDescription, _ request: DecodeRequest
  ) throws(DecodeError) {
    try current?.decode(accessUnit, description, request)
  }

  /// The codec was lost for good, and no random access point has come since.
  var isLost: Bool { current?.isLost ?? false }

  /// The next message for the application; `nil` when there is none.
  func nextNotice() -> SessionNotice? { current?.nextNotice() }

  /// It holds access units back until a random access point comes.
  var isAwaitingRandomAccessPoint: Bool { current?.isAwaitingRandomAccessPoint ?? false }

  /// After a splice: outputs what belongs to the stream before it.
  func finishSequence(before accessUnit: Span<UInt8>, _ description: AccessUnitDescription) {
    current?.finishSequence(before: accessUnit, description)
  }

  /// Outputs everything inside.
  func drain() { current?.drain() }

  /// Discards everything inside. The results identify the frames concerned.
  func flush() { current?.flush() }

  /// The result of an access unit; `nil` when there is none until more is decoded.
  func nextResult() -> SessionResult? { current?.nextResult() }
}

extension DecoderSettings {
  /// The configuration of a session.
  func sessionConfiguration(
    layout: SessionConfiguration.OutputLayout, isLive: Bool
  ) -> SessionConfiguration {
    var configuration = SessionConfiguration()
    configuration.threadCount = threadCount
    // Each frame thread adds a frame of latency.
    configuration.threadType = threadType == .automatic && isLive ? .slice : threadType.sessionValue
    configuration.outputCorrupt = outputCorrupt
    configuration.skipFrames = skipFrame.sessionValue
    configuration.lowDelay = lowDelay
    configuration.retries = Int(sessionRetries)
    // A live stream that does not signal reordering is taken to have none; a file must not lose a picture.
    configuration.unknownReordering = compliance.sessionValue(isUrgent: isLive || lowDelay)
    configuration.outputLayout = layout
    configuration.verifiesPictureHash = verifiesPictureHash
    configuration.verifiesSlices = verifiesSlices
    configuration.isolation = sessionIsolation
    configuration.hardware = hardware.sessionValue
    configuration.hardwareDevice = hardwareDevice.isEmpty ? nil : hardwareDevice
    return configuration
  }
}
