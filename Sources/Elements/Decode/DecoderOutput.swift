// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// The decoder's output: planned by the stream and by what downstream takes, then negotiated.
struct DecoderOutput<Codec: DecoderCodec> {
  /// Gives the session memory for its pictures.
  let allocator = PoolPictureAllocator()
  /// The output negotiated last.
  private(set) var agreed: OutputPlan?
  /// The plan to negotiate next.
  private(set) var proposal: OutputPlan?
  /// Converts the session's pictures, when downstream requires another format.
  private(set) var conversion: PictureConversion?

  /// How pictures are made of fields, if the sink caps do not specify it.
  private var interlacing: Interlacing?
  /// The interlacing of the next format, while pictures of the current format are still to be output.
  private var nextInterlacing: Interlacing?
  /// The output of the next picture has not been decided, because the picture will show it.
  private var awaitsPicture = false

  // MARK: Planning

  /// Chooses the output for the access units to come.
  ///
  /// - Parameters:
  ///   - layout: the layout of the session's pictures that has to stay; `nil` when another session can be made. In the
  ///     middle of a group it would have no references.
  ///   - allowed: what both pads allow; `nil` when nothing is linked.
  /// - Returns: the plan, and whether it is what a new session would output for this format.
  func plan(
    _ format: FormatDescription, of input: DecoderInput<Codec>, stream: borrowing FormatFollower<Codec>,
    keeping layout: SessionConfiguration.OutputLayout?, preferring preference: OutputPreference,
    allowed: borrowing Caps?
  ) throws(ElementError) -> (OutputPlan, isOfSession: Bool) {
    guard let native = PictureLayout(format, completesMonochrome: Codec.completesMonochrome) else {
      throw ElementError(
        .stream(.format), "The stream's sample format cannot be decoded.",
        debug: "\(format.chromaFormat.name) with \(format.lumaBitDepth) bits luma and \(format.chromaBitDepth) chroma")
    }
    let plan = try plan(
      format, as: native, interlacing: nextInterlacing ?? interlacing, of: input, stream: stream,
      prefersSemiPlanar: preference.isSemiPlanar,
      surface: preference.surfaces == .kept || preference.surfaces == .wanted && layout == nil
        ? DMABufMemory.Surface(modifier: agreed?.layout.modifier ?? 0, isKnown: false) : nil, allowed: allowed)
    guard let layout, layout != plan.sessionLayout else {
      return (plan, layout == nil || preference.surfaces != .wanted)
    }
    var kept = native
    if layout == .semiPlanar, let semiPlanar = native.pixelFormat.semiPlanar { kept.pixelFormat = semiPlanar }
    return (try plan.converting(from: kept, of: layout), false)
  }

  /// Chooses the output for a decoded picture.
  ///
  /// - Returns: the plan, and whether it is what a new session would output for this format.
  func plan(
    _ picture: DecodedPicture, _ format: FormatDescription, of input: DecoderInput<Codec>,
    stream: borrowing FormatFollower<Codec>, preferring preference: OutputPreference, allowed: borrowing Caps?
  ) throws(ElementError) -> (OutputPlan, isOfSession: Bool) {
    var layout = PictureLayout(of: picture)
    var native = layout
    let isKept = preference.surfaces != .unwanted || !picture.hasSamples
    native.pixelFormat = layout.pixelFormat.planar
    let plan = try plan(
      format, as: native, interlacing: interlacing, of: input, stream: stream,
      prefersSemiPlanar: preference.isSemiPlanar,
      surface: isKept ? picture.deviceModifier.map { DMABufMemory.Surface(modifier: $0, isKnown: true) } : nil,
      allowed: allowed)
    layout.modifier = plan.layout.modifier
    return plan.layout == layout
      ? (plan, preference.surfaces != .wanted) : (try plan.converting(from: layout), false)
  }

  private func plan(
    _ format: FormatDescription, as native: PictureLayout, interlacing: Interlacing?, of input: DecoderInput<Codec>,
    stream: borrowing FormatFollower<Codec>, prefersSemiPlanar: Bool, surface: DMABufMemory.Surface?,
    allowed: borrowing Caps?
  ) throws(ElementError) -> OutputPlan {
    let interlacing = interlacing ?? Interlacing(format, scan: nil)
    let hasVUI = stream.hasVUI
    let transfer = stream.display.alternativeTransfer?.preferredTransfer
    return try OutputPlan(
      native: native, interlacing: interlacing,
      describe: { info in
        info.copyDescription(from: input.info)
        info.describe(
          format, preferringTransfer: transfer, besides: input.caps, infersChromaLocation: hasVUI,
          interlacing: interlacing)
      },
      displayFields: displayFields(stream.display, besides: input.caps), prefersSemiPlanar: prefersSemiPlanar,
      surface: surface, allowed: allowed)
  }

  /// HDR fields of the caps, from the stream if the sink caps have none.
  private func displayFields(_ display: DisplayMetadata, besides input: CompressedCaps<Codec>) -> [String: String] {
    var fields: [String: String] = [:]
    if !input.fields.contains(.masteringDisplay) {
      fields["mastering-display-info"] = display.masteringDisplay?.capsText
    }
    if !input.fields.contains(.contentLight) { fields["content-light-level"] = display.contentLight?.capsText }
    return fields
  }

  /// Takes how the first picture of a format is scanned.
  mutating func expect(_ format: FormatDescription, scan: PictureScan?, isNew: Bool) {
    guard isNew || interlacing == nil else { return }
    nextInterlacing = Interlacing(format, scan: Codec.pairsFields ? scan : nil)
  }

  /// The pictures that come from now on are of the format that was expected.
  mutating func beginFormat() { interlacing = nextInterlacing.take() ?? interlacing }

  // MARK: Agreeing

  /// Whether this is the agreed plan.
  func isAgreed(_ plan: OutputPlan) -> Bool { agreed?.isAgreed(plan) ?? false }

  /// Whether a plan is for the next picture to complete, and to be negotiated then.
  mutating func defers(_ plan: OutputPlan) -> Bool {
    awaitsPicture = awaitsPicture || plan.awaitsPicture
    return plan.awaitsPicture
  }

  /// The plan is negotiated next.
  mutating func propose(_ plan: OutputPlan) { proposal = plan }

  /// The plan to negotiate. It applies from now on: downstream may request buffers during negotiation.
  mutating func takeProposal() -> OutputPlan? {
    guard let plan = proposal.take() else { return nil }
    agreed = plan
    conversion = nil
    allocator.useNone()
    return plan
  }

  /// Sets whether libavcodec can decode into downstream's buffers.
  mutating func choosePool(isDirect: Bool) { agreed?.isDirect = isDirect }

  /// Downstream has accepted: the session's pictures go into this pool, or into the conversion's.
  ///
  /// - Returns: a line for the log.
  /// - Throws: when the session's pictures cannot be converted.
  mutating func negotiated(_ plan: OutputPlan, pool: consuming BufferPool?) throws(ElementError) -> String? {
    guard let agreed else { return nil }
    guard !agreed.layout.isOfDevice else { return "pictures stay in the device's memory" }
    if agreed.isSessionFormat {
      guard agreed.isDirect else {
        return "not direct, or downstream takes no GstVideoMeta: pictures with padding between rows are copied"
      }
      if let pool = pool.take() { allocator.use(pool, info: agreed.info, for: agreed.layout) }
      return nil
    }
    guard
      let conversion = PictureConversion(
        of: plan.layout, from: plan.source, through: plan.intermediate, to: plan.info)
    else {
      self.agreed = nil
      throw ElementError(
        .resource(.noSpaceLeft), "No memory for converting pictures.",
        debug: "from \(plan.source.format.name) to \(plan.info.format.name)")
    }
    conversion.lendPool(to: allocator)
    self.conversion = conversion
    return "converting \(conversion.source.format.name) to \(agreed.info.format.name)"
  }

  /// Downstream has not accepted the plan.
  mutating func negotiationFailed() { agreed = nil }

  /// A flush: discards the plan to negotiate.
  mutating func flush() { proposal = nil }

  // MARK: Pictures

  /// Follows a picture that libavcodec has decoded to something other than its parameter sets declare. Returns whether
  /// it is as negotiated.
  mutating func follow(_ picture: DecodedPicture) -> Bool {
    defer { awaitsPicture = false }
    let hasOtherFields = interlacing?.correct(by: picture) ?? false
    var layout = PictureLayout(of: picture)
    layout.modifier = picture.deviceModifier
    return agreed?.layout == layout && !hasOtherFields && !awaitsPicture
  }
}
