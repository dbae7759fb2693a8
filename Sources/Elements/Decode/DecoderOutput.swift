// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// What goes downstream: planned by the stream and by what downstream takes, then agreed on.
struct DecoderOutput<Codec: DecoderCodec> {
  /// Where the session's pictures go.
  let allocator = PoolPictureAllocator()
  /// What was agreed on last.
  private(set) var agreed: RawOutput?
  /// What is to be agreed on now.
  private(set) var proposal: OutputPlan?
  /// Sits between the session's pictures and what downstream wants, when that differs.
  private(set) var conversion: PictureConversion?

  /// What is known of fields, where the sink caps do not say.
  private var interlacing: Interlacing?

  // MARK: Planning

  /// Chooses the output for the access units to come.
  ///
  /// - Parameters:
  ///   - layout: how the session goes on to lay its pictures out; `nil` when another can be made. In the middle of a group
  ///     a new session would have nothing to refer to.
  ///   - allowed: what both pads allow; `nil` when nothing is linked.
  /// - Returns: the plan, and whether it is made of what a session would best put out.
  func plan(
    _ format: FormatDescription, of input: DecoderInput<Codec>, stream: borrowing FormatFollower<Codec>,
    keeping layout: SessionConfiguration.OutputLayout?, allowed: borrowing Caps?
  ) throws(ElementError) -> (OutputPlan, isOfSession: Bool) {
    guard let native = PictureLayout(format, completesMonochrome: Codec.completesMonochrome) else {
      throw ElementError(
        .stream(.format), "The stream's sample format cannot be decoded.",
        debug: "\(format.chromaFormat.name) with \(format.lumaBitDepth) bits luma and \(format.chromaBitDepth) chroma")
    }
    var plan = try plan(format, as: native, of: input, stream: stream, allowed: allowed)
    guard let layout, layout != plan.sessionLayout else { return (plan, true) }
    var kept = native
    if layout == .semiPlanar && native.pixelFormat == .yuv420p { kept.pixelFormat = .nv12 }
    plan = try plan.converting(from: kept)
    plan.sessionLayout = layout
    return (plan, false)
  }

  /// Chooses the output for a picture that is there.
  ///
  /// - Returns: the plan, and whether it is made of what a session would best put out.
  func plan(
    _ picture: DecodedPicture, _ format: FormatDescription, of input: DecoderInput<Codec>,
    stream: borrowing FormatFollower<Codec>, allowed: borrowing Caps?
  ) throws(ElementError) -> (OutputPlan, isOfSession: Bool) {
    let layout = PictureLayout(of: picture)
    var native = layout
    if layout.pixelFormat == .nv12 { native.pixelFormat = .yuv420p }
    let plan = try plan(format, as: native, of: input, stream: stream, allowed: allowed)
    return plan.layout == layout ? (plan, true) : (try plan.converting(from: layout), false)
  }

  private func plan(
    _ format: FormatDescription, as native: PictureLayout, of input: DecoderInput<Codec>,
    stream: borrowing FormatFollower<Codec>, allowed: borrowing Caps?
  ) throws(ElementError) -> OutputPlan {
    let interlacing = interlacing ?? Interlacing(format, scan: nil)
    let hasVUI = stream.hasVUI
    return try OutputPlan(
      native: native, interlacing: interlacing,
      describe: { info in
        info.copyDescription(from: input.info)
        info.describe(format, besides: input.caps, infersChromaLocation: hasVUI, interlacing: interlacing)
      },
      displayFields: displayFields(stream.display, besides: input.caps), allowed: allowed)
  }

  /// HDR fields of the caps, from the stream where the sink caps have none.
  private func displayFields(_ display: DisplayMetadata, besides input: CompressedCaps<Codec>) -> [String: String] {
    var fields: [String: String] = [:]
    if !input.fields.contains(.masteringDisplay) {
      fields["mastering-display-info"] = display.masteringDisplay?.capsText
    }
    if !input.fields.contains(.contentLight) { fields["content-light-level"] = display.contentLight?.capsText }
    return fields
  }

  /// Takes note of how the first picture of a format is scanned.
  mutating func expect(_ format: FormatDescription, scan: PictureScan?, isNew: Bool) {
    if isNew || interlacing == nil { interlacing = Interlacing(format, scan: Codec.pairsFields ? scan : nil) }
  }

  // MARK: Agreeing

  /// Whether this is what was agreed on.
  func isAgreed(_ plan: OutputPlan) -> Bool { agreed?.isAgreed(plan) ?? false }

  /// The plan is to be agreed on next.
  mutating func propose(_ plan: OutputPlan) { proposal = plan }

  /// The plan to agree on, which holds from now on: downstream is asked for buffers on the way.
  mutating func takeProposal() -> OutputPlan? {
    guard let plan = proposal.take() else { return nil }
    agreed = RawOutput(layout: plan.layout, info: plan.info, displayFields: plan.displayFields)
    conversion = nil
    allocator.useNone()
    return plan
  }

  /// Downstream's buffers are laid out so that libavcodec can decode into them, or not.
  mutating func choosePool(isDirect: Bool) { agreed?.isDirect = isDirect }

  /// Downstream agreed: the session's pictures go into this pool, or into the conversion's.
  ///
  /// - Returns: a line for the log.
  /// - Throws: when there is no way from the session's pictures to what was agreed on.
  mutating func negotiated(_ plan: OutputPlan, pool: consuming BufferPool?) throws(ElementError) -> String? {
    guard let agreed else { return nil }
    if agreed.isSessionFormat {
      guard agreed.isDirect else {
        return "not direct, or downstream takes no GstVideoMeta: pictures with padding between rows are copied"
      }
      if let pool = pool.take() { allocator.use(pool, info: agreed.info, for: agreed.layout) }
      return nil
    }
    guard let conversion = PictureConversion(of: plan.layout, from: plan.source, to: plan.info) else {
      self.agreed = nil
      throw ElementError(
        .resource(.noSpaceLeft), "No memory to convert pictures with.",
        debug: "from \(plan.source.format.name) to \(plan.info.format.name)")
    }
    conversion.lendPool(to: allocator)
    self.conversion = conversion
    return "converting \(conversion.source.format.name) to \(agreed.info.format.name)"
  }

  /// Downstream did not agree.
  mutating func negotiationFailed() { agreed = nil }

  /// A flush: nothing is to be agreed on any more.
  mutating func flush() { proposal = nil }

  // MARK: Pictures

  /// Whether a picture is as agreed: should libavcodec see a stream otherwise than its parameter sets were read, it is
  /// right, and the output has to follow.
  mutating func fits(_ picture: DecodedPicture) -> Bool {
    let hasOtherFields = interlacing?.isCorrected(by: picture) ?? false
    return agreed?.layout == PictureLayout(of: picture) && !hasOtherFields
  }
}
