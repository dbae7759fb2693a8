// SPDX-License-Identifier: MPL-2.0
import AVCodec
public import H26x

/// Decodes the access units of one stream to pictures in presentation order.
///
/// The counterpart of VideoToolbox's `VTDecompressionSession`: made from a format description, fed with access units,
/// polled for results. One caller at a time; libavcodec's threads work inside.
///
/// Every access unit that `decode` takes gets exactly one result: a frame, a drop with its reason, or a failure.
/// When the codec itself is lost, the session opens a new one, decodes again what is needed from the last random access
/// point on, and continues as if nothing had happened.
///
/// ```swift
/// import H26x
/// import VideoDecoding
///
/// /// Decodes an Annex B stream and shows each picture, as NV12, in presentation order.
/// func decode(annexB stream: Span<UInt8>, show: (DecodedPicture) -> Void) throws {
///   var configuration = SessionConfiguration()
///   configuration.outputLayout = .semiPlanar
///   var session: DecompressionSession?
///   var parameterSets = H264.ParameterSets()
///   var detector = H264.AccessUnitDetector()
///   var nalUnits = AnnexB.NALUnits(stream)
///   var (start, number, isAtEnd) = (0, UInt64(0), false)
///   while !isAtEnd {
///     let nalUnit = nalUnits.next()
///     isAtEnd = nalUnit == nil
///     if let nalUnit {
///       let bytes = stream.extracting(nalUnit.range)
///       _ = try? parameterSets.insert(bytes)  // Takes parameter sets only.
///       guard detector.feed(bytes, parameterSets: parameterSets).boundary == .begins else { continue }
///     }
///     let end = nalUnit?.startCodeOffset ?? stream.count
///     if end > start && parameterSets.canReadSlices {
///       let current = try session ?? DecompressionSession(format: .init(parameterSets), configuration: configuration)
///       session = current
///       try current.decode(stream.extracting(start..<end), tag: number)
///       if isAtEnd { current.drain() }
///       while let result = current.nextResult() {
///         if case .frame(let picture) = result { show(picture) }
///       }
///     }
///     (start, number) = (end, number + 1)
///   }
/// }
/// ```
public final class DecompressionSession {
  /// How the session decodes.
  public let configuration: SessionConfiguration
  /// The stream's format, as given last.
  public private(set) var format: FormatDescription

  let bridge: PictureBridge
  let openCodec: CodecOpener
  let packets = PacketPool()
  var setup: StreamSetup

  // An access unit passes these in turn: inspected, admitted, checked for damage, remembered until its result is known,
  // kept for a replay, decoded, output.
  var input: SessionInput
  var gate: StartGate
  var damage = DamageTracker()
  var pending = PendingAccessUnits()
  /// Access units so far that have no picture, because they were dropped or skipped.
  var countWithoutPicture: UInt64 = 0
  var replay: ReplayBuffer
  /// The codec; nil after it was lost, until the next random access point.
  var running: RunningCodec?
  var output = SessionOutput()

  var isInvalid = false
  /// An empty frame to receive into next.
  var spareFrame: Frame?

  /// Creates a session, and opens the codec.
  ///
  /// - Parameters:
  ///   - format: the stream's format, with its packaging: length-prefixed access units where it has a NAL length size,
  ///     Annex B where it has none.
  ///   - configuration: how to decode.
  ///   - allocator: where pictures go; nil for memory of the session's own.
  /// - Throws: `DecodeError` with `invalidFormatDescription`, `decoderNotFound`, `allocationFailed` or `malfunction`.
  public convenience init(
    format: FormatDescription, configuration: SessionConfiguration = SessionConfiguration(),
    allocator: (any PictureAllocator)? = nil
  ) throws(DecodeError) {
    try self.init(format: format, configuration: configuration, allocator: allocator) {
      (settings, buffers) throws(AVError) in try CodecContext(settings, buffers: buffers)
    }
  }

  /// As the public initialiser, with a codec of the caller's choice.
  package init(
    format: FormatDescription, configuration: SessionConfiguration, allocator: (any PictureAllocator)?,
    openCodec: @escaping CodecOpener
  ) throws(DecodeError) {
    self.format = format
    self.configuration = configuration
    self.openCodec = openCodec
    skipFrames = configuration.skipFrames
    setup = try StreamSetup(format)
    input = SessionInput(
      format.codec.sessionCodec.makeInspector(
        lengthSize: setup.nalLengthSize, verifiesPictureHash: configuration.verifiesPictureHash),
      codec: format.codec, lengthSize: setup.nalLengthSize)
    bridge = PictureBridge(allocator: allocator, layout: configuration.outputLayout)
    gate = StartGate(configuration)
    replay = ReplayBuffer(byteLimit: configuration.replayByteLimit, countLimit: configuration.replayCountLimit)
    input.insert(setup.parameterSets)
    try openInitially()
  }

  /// Counts of what has happened so far.
  public var statistics: SessionStatistics {
    var statistics = output.statistics
    statistics.allocatorMisses = bridge.misses
    return statistics
  }

  /// Which pictures are skipped, from the next access unit on.
  public var skipFrames: SessionConfiguration.SkipFrames {
    didSet { codec?.skip = setup.codecSkip(skipFrames) }
  }

  var codec: (any CodecBoundary)? { running?.codec }

  /// How far output is behind input: the stream's reordering as known by now, and the threads' share.
  public var latency: SessionLatency {
    SessionLatency(
      reorderDepth: max(
        codec?.reorderDepth ?? replay.reorderDepth,
        setup.reorderDepth ?? (configuration.expectsReordering ? setup.deepestReordering : 0)),
      threadDelay: codec?.threadDelay ?? 0)
  }

  /// The next result; nil when there is none until more is decoded. Frames come in presentation order.
  public func nextResult() -> SessionResult? { output.nextResult() }

  /// The next notice for the user; nil when there is none. The last 16 are kept.
  public func nextNotice() -> SessionNotice? { output.nextNotice() }

  /// Access units are held back until a random access point comes: request one. Their results come with it, or when the
  /// session begins without it (``SessionConfiguration/startPatience``).
  public var isAwaitingRandomAccessPoint: Bool { !isInvalid && gate.isHolding }

  /// The codec was lost and could not be restarted: nothing is decoded before the next random access point. At the end
  /// of a stream this means that the rest is missing: it is false as long as every picture so far has come.
  public var isLost: Bool { gate.isLost && gate.unreportedLoss == nil }

  /// Whether access units of another format may follow in this session.
  ///
  /// They may when codec and packaging are the same; sizes, bit depths and all other parameter sets may differ: every
  /// picture says what it is. Pass the format to `accept(_:)`. Otherwise `drain`, fetch the results, and create a new
  /// session.
  public func canAccept(_ format: FormatDescription) -> Bool {
    guard !isInvalid, let other = try? StreamSetup(format) else { return false }
    return other.codec == setup.codec && other.nalLengthSize == setup.nalLengthSize
  }

  /// Continues with access units of another format. Its parameter sets go in front of the next access unit.
  ///
  /// - Throws: `DecodeError` with `formatChangeNotSupported` where `canAccept` is false, `invalidSession`.
  public func accept(_ format: FormatDescription) throws(DecodeError) {
    guard !isInvalid else { throw DecodeError(.invalidSession) }
    guard canAccept(format) else { throw DecodeError(.formatChangeNotSupported) }
    guard format != self.format else { return }
    self.format = format
    setup = try StreamSetup(format)
    input.accept(setup.parameterSets)
  }

  /// Ends the session: nothing is decoded any more. Results can still be fetched; access units without one are dropped
  /// as `flushed`.
  public func invalidate() {
    guard !isInvalid else { return }
    dropHeld(.flushed)
    dropPending(.flushed)
    isInvalid = true
    // Closed when `running` is no longer being changed: the codec releases pictures.
    _ = running.take()
    replay.removeAll()
  }
}
