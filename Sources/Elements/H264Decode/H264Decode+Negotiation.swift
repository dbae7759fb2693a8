// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// What is to be agreed on with downstream.
struct OutputPlan {
  var layout: PictureLayout
  var sessionLayout: SessionConfiguration.OutputLayout
  /// What the session puts out.
  var source: VideoInfo
  /// What downstream gets.
  var info: VideoInfo
  /// Fields of the caps that `info` has no place for, by name.
  var displayFields: [String: String]
}

extension OutputPlan {
  /// The same output, made of pictures that the session lays out otherwise than planned.
  func converting(from layout: PictureLayout) throws(FlowError) -> OutputPlan {
    guard let format = layout.pixelFormat.videoFormat,
      var described = VideoInfo(
        format: format, width: UInt32(clamping: layout.width), height: UInt32(clamping: layout.height))
    else { throw .notNegotiated }
    described.copyDescription(from: source)
    guard let source = VideoInfo(described.caps()) else { throw .notNegotiated }
    var plan = self
    plan.layout = layout
    plan.source = source
    plan.sessionLayout = layout.pixelFormat == .nv12 ? .semiPlanar : .native
    return plan
  }
}

extension H264Decode {
  /// Chooses the output format for pictures that libavcodec will produce with this layout.
  func planOutput(native: PictureLayout, format: FormatDescription) throws(FlowError) -> OutputPlan {
    guard let input, let width = UInt32(exactly: native.width), let height = UInt32(exactly: native.height) else {
      throw .notNegotiated
    }
    guard let nativeFormat = native.pixelFormat.videoFormat else {
      throw fail(
        ElementError(
          .stream(.format), "GStreamer has no format for the stream's samples.",
          debug: "libavcodec decodes to \(native.pixelFormat.rawValue)"))
    }
    guard var described = VideoInfo(format: nativeFormat, width: width, height: height) else { throw .notNegotiated }
    if let inputInfo { described.copyDescription(from: inputInfo) }
    described.describe(
      format, besides: input, infersChromaLocation: tracker.hasVUI,
      interlacing: interlacing ?? Interlacing(format, scan: nil))
    let displayFields = displayFields(besides: input)
    for candidate in RawFormatChoice.candidates(for: nativeFormat, allowed: sourcePad.allowedCaps) {
      if candidate == nativeFormat {
        return OutputPlan(
          layout: native, sessionLayout: .native, source: described, info: described, displayFields: displayFields)
      }
      guard var info = VideoInfo(format: candidate, width: width, height: height) else { continue }
      if native.pixelFormat == .yuv420p && candidate.name == "NV12" {
        info.copyDescription(from: described)
        var layout = native
        layout.pixelFormat = .nv12
        return OutputPlan(
          layout: layout, sessionLayout: .semiPlanar, source: info, info: info, displayFields: displayFields)
      }
      // What the stream leaves open, a converter must know: as downstream would, it guesses by the size.
      guard let source = VideoInfo(described.caps()) else { continue }
      info.describeAsConverted(from: source)
      if PictureConversion.isPossible(from: source, to: info) {
        return OutputPlan(
          layout: native, sessionLayout: .native, source: source, info: info, displayFields: displayFields)
      }
    }
    throw fail(
      ElementError(
        .core(.negotiation), "Nothing that the decoder can produce is accepted downstream.",
        debug: "decodes to \(nativeFormat.name), accepted is \(describeAllowedCaps())"))
  }

  /// HDR fields of the caps, from the stream where the sink caps have none.
  private func displayFields(besides input: H264DecodeInput) -> [String: String] {
    var fields: [String: String] = [:]
    if !input.hasMasteringDisplay { fields["mastering-display-info"] = tracker.display.masteringDisplay?.capsText }
    if !input.hasContentLight { fields["content-light-level"] = tracker.display.contentLight?.capsText }
    return fields
  }

  private func describeAllowedCaps() -> String {
    let allowed = sourcePad.allowedCaps
    switch allowed {
    case .some(let caps): return caps.description
    case .none: return "nothing"
    }
  }

  /// Negotiates the plan with downstream, unless that is what holds already.
  func agree(on plan: OutputPlan) throws(FlowError) {
    if let output, output.isAgreed(plan), !sourcePad.needsReconfigure { return }
    let state = setOutputState(
      format: plan.info.format, width: UInt32(plan.info.width), height: UInt32(plan.info.height),
      reference: inputState)
    guard let state else { throw .notNegotiated }
    state.modifyInfo { $0 = plan.info }
    // Left to itself, the base class makes "unknown" views "mono".
    var caps = plan.info.caps()
    for (name, text) in plan.displayFields { caps.set(name, .string(text)) }
    state.setCaps(caps)
    output = RawOutput(layout: plan.layout, info: plan.info, displayFields: plan.displayFields)
    conversion = nil
    allocator.useNone()
    guard negotiateOutput() else {
      output = nil
      if sourcePad.isFlushing { throw .flushing }
      throw .notNegotiated
    }
    try connectPool(plan)
  }

  /// After negotiation: where the session's pictures go.
  private func connectPool(_ plan: OutputPlan) throws(FlowError) {
    guard let output else { throw .notNegotiated }
    if output.isSessionFormat {
      guard output.isDirect else {
        Self.log(
          .info, self, "not direct, or downstream takes no GstVideoMeta: pictures with padding between rows are copied")
        return
      }
      guard let pool = bufferPool else { return }
      allocator.use(pool, info: output.info, for: output.layout)
      return
    }
    guard let conversion = PictureConversion(of: plan.layout, from: plan.source, to: plan.info) else {
      throw .notNegotiated
    }
    Self.log(.info, self, "converting \(conversion.source.format.name) to \(output.info.format.name)")
    conversion.lendPool(to: allocator)
    self.conversion = conversion
  }

  /// Makes the pool that the base class chose one that libavcodec can decode into, where downstream permits that.
  func preparePool(in query: borrowing Query) -> Bool {
    guard let output, output.isSessionFormat, query.allowsVideoMeta, settings.snapshot.directRendering else {
      self.output?.isDirect = false
      return true
    }
    guard let offer = query.firstPool(), let caps = query.allocationCaps else { return true }
    self.output?.isDirect = configureDirectPool(offer, caps: caps, layout: output.layout, info: output.info, in: query)
    return true
  }

  /// Has the pool make buffers that libavcodec can decode into: downstream's pool if it can, else one of our own.
  private func configureDirectPool(
    _ offer: consuming Query.PoolOffer, caps: borrowing Caps, layout: PictureLayout, info: VideoInfo,
    in query: borrowing Query
  ) -> Bool {
    let alignment = layout.videoAlignment
    var padded = info
    padded.align(alignment)
    var configuration = BufferPool.Configuration(
      size: UInt32(clamping: max(padded.size, Int(offer.size))), minimum: offer.minimum, maximum: 0)
    configuration.alignmentMask = PictureLayout.alignment - 1
    configuration.videoMeta = true
    configuration.videoAlignment = alignment
    // The decoder keeps reference pictures: a pool with an upper limit could run dry.
    if offer.maximum == 0, let pool = offer.pool.take() {
      if pool.has(.videoAlignment), pool.has(.videoMeta), pool.configure(configuration, caps: caps) {
        query.setFirstPool(
          Query.PoolOffer(pool: pool, size: configuration.size, minimum: offer.minimum, maximum: 0))
        return true
      }
    }
    let own = BufferPool.video()
    guard own.configure(configuration, caps: caps) else { return false }
    query.setFirstPool(Query.PoolOffer(pool: own, size: configuration.size, minimum: offer.minimum, maximum: 0))
    return true
  }
}
