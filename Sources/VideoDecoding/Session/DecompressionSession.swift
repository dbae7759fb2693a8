// SPDX-License-Identifier: MPL-2.0
import AVCodec
public import H26x

/// Decodes the access units of one stream to pictures in presentation order.
///
/// The counterpart of VideoToolbox's `VTDecompressionSession`: made from a format description, fed with access units,
/// polled for results. One caller at a time; libavcodec's threads work inside.
///
/// Every access unit that `decode` takes gets exactly one result: a frame, a drop with its reason, or a failure. When
/// the codec itself is lost, the session opens a new one. It decodes the necessary access units again, starting at
/// the last random access point, and continues as if nothing had happened.
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
  private(set) var core: SessionCore
  let bridge: PictureBridge
  private let source: CodecSource
  /// Nil unless slices are verified.
  private let slices: SliceVerifier?
  /// Whether missing layers of a codec's protection were reported.
  private var hasReportedProtection = false
  /// The codec; nil after it was lost, until the next random access point.
  private(set) var codec: (any CodecBoundary)?
  /// The lost codec that got furthest.
  private var lost: (any CodecBoundary)?
  /// The loss that ``simulateLoss(_:)`` has requested and that has not happened yet.
  private var simulatedLoss: SimulatedLoss?

  /// Creates a session, and opens the codec.
  ///
  /// - Parameters:
  ///   - format: the stream's format, with its packaging: length-prefixed access units if it has a NAL length size,
  ///     Annex B if it has none.
  ///   - configuration: how to decode.
  ///   - allocator: the allocator of picture memory; nil for the session's own memory.
  /// - Throws: `DecodeError` with `invalidFormatDescription`, `decoderNotFound`, `allocationFailed` or `malfunction`.
  public convenience init(
    format: FormatDescription, configuration: SessionConfiguration = SessionConfiguration(),
    allocator: (any PictureAllocator)? = nil
  ) throws(DecodeError) {
    try self.init(format: format, configuration: configuration, allocator: allocator, starter: .shared)
  }

  /// The public initializer, with a starter of the caller's choice for codecs in processes of their own.
  package convenience init(
    format: FormatDescription, configuration: SessionConfiguration, allocator: (any PictureAllocator)?,
    starter: CodecStarter
  ) throws(DecodeError) {
    let device = HardwareRequest(place: configuration.hardwareDevice)
    let source: CodecSource
    switch configuration.isolation {
    case .none:
      source = CodecSource(open: DeviceOpener(device).open)
    case .process(let limits):
      let opener = ServiceOpener(limits, device, cancellation: configuration.cancellation, starter: starter)
      source = CodecSource(open: opener.open, missingDevices: starter.missingDevices)
    }
    try self.init(format: format, configuration: configuration, allocator: allocator, source: source)
  }

  /// The public initializer, with a codec of the caller's choice.
  package convenience init(
    format: FormatDescription, configuration: SessionConfiguration, allocator: (any PictureAllocator)?,
    openCodec: @escaping CodecOpener
  ) throws(DecodeError) {
    try self.init(
      format: format, configuration: configuration, allocator: allocator, source: CodecSource(open: openCodec))
  }

  private init(
    format: FormatDescription, configuration: SessionConfiguration, allocator: (any PictureAllocator)?,
    source: CodecSource
  ) throws(DecodeError) {
    self.source = source
    slices =
      configuration.verifiesSlices ? SliceVerifier(NALPackaging(lengthSize: format.nalLengthSize)) : nil
    bridge = PictureBridge(
      allocator: allocator, layout: configuration.outputLayout,
      surfaces: SurfaceExport(limit: configuration.surfaceCount))
    core = try SessionCore(format, configuration, started: bridge.started, missingDevices: source.missingDevices)
    runCodec()
    // Nothing else is lost so early.
    if let failure = core.gate.unreportedLoss { throw failure }
  }

  // MARK: State

  /// The current configuration. Changes of ``skipFrames``, ``outputCorrupt`` and ``retries`` update it.
  public var configuration: SessionConfiguration { core.configuration }

  /// The stream's format, as given last.
  public var format: FormatDescription { core.format }

  /// The session's counts so far.
  public var statistics: SessionStatistics {
    var statistics = core.statistics
    statistics.allocatorMisses = bridge.misses
    statistics.codecProcess = codec?.process?.identifier
    statistics.decoder = codec?.decoder
    return statistics
  }

  /// The decoder in use; `nil` after the codec was lost, until the next random access point.
  public var decoder: SessionDecoder? { codec?.decoder }

  /// The delay from input to output: the stream's reordering as known so far, and the threads' share.
  public var latency: SessionLatency { core.latency }

  /// Whether access units are held back until a random access point comes: request one. Their results come with it,
  /// or when the session begins without it (``SessionConfiguration/startPatience``).
  public var isAwaitingRandomAccessPoint: Bool { core.isAwaitingRandomAccessPoint }

  /// The codec was lost and could not be restarted: nothing is decoded before the next random access point. At the end
  /// of a stream this means that the rest is missing: it is false as long as every picture so far has come.
  public var isLost: Bool { core.isLost }

  // MARK: Settings that may change

  /// Which pictures are skipped, from the next access unit on.
  public var skipFrames: SessionConfiguration.SkipFrames {
    get { core.configuration.skipFrames }
    set {
      core.configuration.skipFrames = newValue
      codec?.skip(core.codecSkip)
    }
  }

  /// Whether damaged pictures are output, flagged as corrupted, instead of being dropped. A change applies to the
  /// next picture.
  public var outputCorrupt: Bool {
    get { core.configuration.outputCorrupt }
    set { core.configuration.outputCorrupt = newValue }
  }

  /// Attempts to restart a codec before an access unit fails, from the next time on that it is lost.
  public var retries: Int {
    get { core.configuration.retries }
    set { core.configuration.retries = newValue }
  }

  /// Whether access units of another format may follow in this session.
  ///
  /// They may if codec and packaging are the same. Sizes, bit depths and all other parameter sets may differ: every
  /// picture has its own. Pass the format to `accept(_:)`. Otherwise `drain`, fetch the results, and create a new
  /// session.
  public func canAccept(_ format: FormatDescription) -> Bool { core.canAccept(format) }

  /// Continues with access units of another format. Its parameter sets go in front of the next access unit.
  ///
  /// - Throws: `DecodeError` with `formatChangeNotSupported` if `canAccept` is false, `invalidSession`.
  public func accept(_ format: FormatDescription) throws(DecodeError) { try core.accept(format) }

  // MARK: Access units in, results out

  /// Decodes an access unit. `nextResult` gives its result, now or after more access units.
  ///
  /// - Parameters:
  ///   - accessUnit: all NAL units of one picture, or of one field, packaged as the format description describes.
  ///     Copied. Start codes that a careless muxer has left in place of lengths are replaced.
  ///   - tag: comes back with the result.
  ///   - time: presentation time, from any origin, if known. It comes back as ``DecodedPicture/time``, and is used for
  ///     ``SessionConfiguration/startPatience``.
  ///   - doNotOutput: decode only because later pictures refer to it; the result is a drop.
  /// - Throws: `DecodeError` when the access unit is not taken: `invalidSession`, or `invalidArgument` for an empty
  ///   one. Everything else is a result.
  public func decode(
    _ accessUnit: Span<UInt8>, tag: UInt64, time: Duration? = nil, doNotOutput: Bool = false
  ) throws(DecodeError) {
    try decode(accessUnit, DecodeRequest(tag: tag, time: time, doNotOutput: doNotOutput))
  }

  /// The public methods' implementation, with everything known about an access unit.
  func decode(_ accessUnit: Span<UInt8>, _ request: DecodeRequest) throws(DecodeError) {
    try check(accessUnit, request)
    guard let repaired = core.repaired(accessUnit) else {
      return try decode(accessUnit, core.read(accessUnit), request)
    }
    try decode(repaired.span, core.read(repaired.span), request)
  }

  /// Throws if an access unit is not taken.
  private func check(_ accessUnit: Span<UInt8>, _ request: DecodeRequest) throws(DecodeError) {
    guard !core.isInvalid else { throw DecodeError(.invalidSession, tag: request.tag) }
    guard !accessUnit.isEmpty else {
      throw DecodeError(.invalidArgument, tag: request.tag, detail: "the access unit is empty")
    }
  }

  /// The public method for an access unit that was read before, and has no start codes in place of lengths.
  package func decode(
    _ accessUnit: Span<UInt8>, _ description: AccessUnitDescription, _ request: DecodeRequest
  ) throws(DecodeError) {
    try check(accessUnit, request)
    let inspection = core.inspect(accessUnit, description)
    if inspection.summary.beginsOtherSequence { endSequence() }
    // Whether decoding recovers at this picture depends on damage before it.
    if inspection.summary.isIntra, !inspection.summary.randomAccess.isMarked { takeVerdicts(upTo: .max) }
    core.decode(accessUnit, description, inspection, request)
    runCodec()
  }

  /// Makes the session lose its codec when it decodes the next access unit, as if the codec's process had ended or
  /// memory were short. For tests of how an application handles that.
  public func simulateLoss(_ loss: SimulatedLoss) { simulatedLoss = loss }

  /// The next result; nil when there is none until more is decoded. Frames come in presentation order.
  public func nextResult() -> SessionResult? { core.nextResult() }

  /// The next notice for the user; nil when there is none. The last 16 are kept.
  public func nextNotice() -> SessionNotice? { core.nextNotice() }

  // MARK: Endings

  /// Drains if `accessUnit`, the next one to decode, begins another coded video sequence without being an IDR
  /// picture. That happens after a splice, at a random access point with another SPS.
  ///
  /// `decode` does so too; for callers that need the results of one sequence before they prepare the next.
  package func finishSequence(before accessUnit: Span<UInt8>, _ description: AccessUnitDescription) {
    if core.isSplice(accessUnit, description) { endSequence() }
  }

  /// Outputs everything inside; later pictures do not refer to it.
  func endSequence() {
    core.endSequence()
    runCodec()
  }

  /// Outputs everything inside: afterwards each access unit submitted has its result. Access units that wait for a
  /// random access point are decoded without one, as when `SessionConfiguration.startPatience` is over.
  ///
  /// Decoding may continue with any access unit. Unless that is an IDR picture, the session first decodes its
  /// references again, since draining libavcodec makes it forget them.
  public func drain() {
    core.drain()
    runCodec()
  }

  /// Discards everything inside, and all results not yet fetched: each of these access units is dropped as `flushed`.
  ///
  /// For a seek: the next access unit should be a random access point.
  public func flush() {
    // Released at the end, when the core is no longer being changed.
    let pictures = core.flush()
    configuration.cancellation?.reset()
    runCodec()
    extendLifetime(pictures)
  }

  /// Ends the session: nothing is decoded any more. Results can still be fetched; access units without one are dropped
  /// as `flushed`.
  public func invalidate() {
    core.invalidate()
    runCodec()
  }

  // MARK: The codec

  /// Has the codec carry out the core's orders, until there are none left.
  private func runCodec() {
    while let order = nextOrder() {
      var failure: CodecFailure?
      do throws(CodecFailure) {
        try carryOut(order)
      } catch {
        failure = error
      }
      core.finish(order, failure, codec?.status)
    }
  }

  /// The core's next order. The slices of the access unit that it is about are verified meanwhile.
  private func nextOrder() -> CodecOrder? {
    let order = core.nextOrder()
    while let task = core.nextSliceTask() { slices?.verify(task) }
    return order
  }

  /// Takes the damage in slices of the access units up to `index`.
  private func takeVerdicts(upTo index: UInt64?) {
    guard let slices, let index else { return }
    for verdict in slices.verdicts(upTo: index) { core.take(verdict) }
  }

  private func reportMissingProtection() {
    guard !hasReportedProtection, let missing = codec?.process?.missingProtection else { return }
    hasReportedProtection = true
    if !missing.isEmpty { core.reportMissingProtection("\(missing)") }
  }

  /// Whether the codec should be lost with this order.
  private func loses(_ order: CodecOrder) -> Bool {
    switch (simulatedLoss, order) {
    case (.recoverable, .decode):
      simulatedLoss = nil
      return true
    case (.lasting, .decode), (.lasting, .open): return true
    case (.lasting, .drainLost):
      simulatedLoss = nil
      return false
    default: return false
    }
  }

  private func carryOut(_ order: CodecOrder) throws(CodecFailure) {
    guard !loses(order) else { throw CodecFailure(.external) }
    switch order {
    case .open:
      setAside()
      // A lost codec that is kept must keep its strides.
      if lost == nil { bridge.unlockStrides() }
      codec = try source.open(core.codecSettings, bridge)
      reportMissingProtection()
    case .decode(let packet, let index, let isRepeated):
      if core.ledger.hash(of: index) != nil { bridge.surfaces.requireSamples(of: index) }
      try use { (codec) throws(AVError) in try codec.decode(packet, index: index) { take($0) } }
      // If a process ends in a replay, its access unit is then known.
      if isRepeated { try finishDecoding() }
    case .finishReplay: try finishDecoding()
    case .drain: try drainCodec()
    case .drainLost:
      setAside()
      codec = lost.take()
      try drainCodec()
    case .flush:
      slices?.discard()
      codec?.flush()
      bridge.surfaces.flush()
      bridge.unlockStrides()
    case .closeLost: lost = nil
    case .close:
      slices?.discard()
      // Released at the end, when the property is no longer being changed.
      let closed = codec.take()
      bridge.unlockStrides()
      extendLifetime(closed)
    }
  }

  /// Keeps the lost codec if none has come further.
  private func setAside() {
    guard let current = codec.take() else { return }
    if lost.map({ current.isAsFar(as: $0) }) ?? true { lost = current }
  }

  private func finishDecoding() throws(CodecFailure) {
    try use { (codec) throws(AVError) in try codec.finishDecoding { take($0) } }
  }

  private func drainCodec() throws(CodecFailure) {
    bridge.surfaces.isDraining = true
    defer { bridge.surfaces.isDraining = false }
    try use { (codec) throws(AVError) in try codec.drain { take($0) } }
    takeVerdicts(upTo: .max)
  }

  /// Uses the codec, if there is one.
  private func use(_ body: (any CodecBoundary) throws(AVError) -> Void) throws(CodecFailure) {
    guard let codec else { return }
    do throws(AVError) {
      try body(codec)
    } catch {
      throw CodecFailure(error)
    }
  }

  private func take(_ event: CodecEvent) {
    switch event {
    case .decoded(let index, let error, let errors):
      takeVerdicts(upTo: core.sliceEnd(ofDecoded: index))
      core.decoded(index, error, errors)
    case .failed(let index, let error): core.note(error, at: index)
    case .unplaced(let index, let error): core.unplaced(index, error)
    case .picture(let picture, let memory, let errors, let isDraining, let status):
      takeVerdicts(upTo: picture.index.flatMap { core.sliceEnd(ofPicture: $0) })
      let isOfDevice = configuration.hardware != .off && codec?.decoder != .software
      let shown = core.picture(
        picture, in: memory, errors, isDraining: isDraining, status, isOfDevice: isOfDevice)
      guard let shown else { return }
      core.show(DecodedPicture(picture, shown, in: bridge.complete(memory, picture)))
    }
  }
}
