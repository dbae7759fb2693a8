// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// The raw video that was negotiated with downstream.
struct RawOutput {
  /// Layout of the session's pictures.
  var layout: PictureLayout
  /// The video that downstream gets.
  var info: VideoInfo
  /// The way the caps name the format of pictures in a device's memory.
  var naming: DMABufMemory.Naming?
  /// Fields of the caps that `info` has no place for, by name.
  var displayFields: [String: String]
  /// Downstream's buffers are laid out so that libavcodec can decode into them.
  var isDirect = false

  /// Whether the plan matches this output.
  func isAgreed(_ plan: OutputPlan) -> Bool {
    layout == plan.layout && naming == plan.naming && displayFields == plan.displayFields
      && info.isEqual(to: plan.info)
  }

  /// Pictures go downstream in the session's format.
  var isSessionFormat: Bool { layout.pixelFormat.videoFormat == info.format }
}

extension RawOutput {
  /// Configures a pool for buffers that libavcodec can decode into: downstream's if it can, else one of our own.
  /// Returns whether that worked.
  func configurePool(_ offer: consuming Query.PoolOffer, caps: borrowing Caps, in query: borrowing Query) -> Bool {
    let alignment = layout.videoAlignment
    var padded = info
    padded.align(alignment)
    var configuration = BufferPool.Configuration(
      size: UInt32(clamping: max(padded.size, Int(offer.size))), minimum: offer.minimum, maximum: 0)
    configuration.alignmentMask = PictureLayout.alignment - 1
    configuration.videoMeta = true
    configuration.videoAlignment = alignment
    // The decoder holds reference pictures: a pool with an upper limit could run dry.
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

extension PictureLayout {
  /// The layout for this format; `nil` when libavcodec cannot decode it.
  init?(_ format: FormatDescription, completesMonochrome: Bool) {
    let size = format.codedSize
    let shown = format.cropRectangle
    guard let pixelFormat = PixelFormat(decodedFrom: format, completesMonochrome) else { return nil }
    self.init(
      pixelFormat: pixelFormat, codedWidth: size.width, codedHeight: size.height,
      crop: PictureCrop(
        left: shown.left, right: size.width - shown.left - shown.width, top: shown.top,
        bottom: size.height - shown.top - shown.height))
  }
}

extension PixelFormat {
  /// The session's output format for a stream; `nil` when libavcodec cannot decode it.
  fileprivate init?(decodedFrom format: FormatDescription, _ completesMonochrome: Bool) {
    guard format.lumaBitDepth == format.chromaBitDepth || format.chromaFormat == .monochrome else { return nil }
    // matrix_coefficients 0 is GBR (Table E-5).
    let isGBR = format.chromaFormat == .yuv444 && format.colour?.matrix == 0
    switch (format.chromaFormat, format.lumaBitDepth) {
    // Deeper monochrome is decoded to 4:2:0, with chroma at mid-range.
    case (.monochrome, 8): self = completesMonochrome ? .yuv420p : .gray
    case (.yuv420, 8): self = .yuv420p
    case (.yuv420, 9): self = .yuv420p9
    case (.monochrome, 10), (.yuv420, 10): self = .yuv420p10
    case (.monochrome, 12), (.yuv420, 12): self = .yuv420p12
    case (.yuv420, 14): self = .yuv420p14
    case (.yuv422, 8): self = .yuv422p
    case (.yuv422, 9): self = .yuv422p9
    case (.yuv422, 10): self = .yuv422p10
    case (.yuv422, 12): self = .yuv422p12
    case (.yuv422, 14): self = .yuv422p14
    case (.yuv444, 8): self = isGBR ? .gbrp : .yuv444p
    case (.yuv444, 9): self = isGBR ? .gbrp9 : .yuv444p9
    case (.yuv444, 10): self = isGBR ? .gbrp10 : .yuv444p10
    case (.yuv444, 12): self = isGBR ? .gbrp12 : .yuv444p12
    case (.yuv444, 14): self = isGBR ? .gbrp14 : .yuv444p14
    default: return nil
    }
  }
}

extension VideoInfo {
  private mutating func describe(_ interlacing: Interlacing) {
    switch interlacing {
    case .progressive: interlaceMode = .progressive
    case .mixed: interlaceMode = .mixed
    // Whole fields, as pictures of their own.
    case .fields: interlaceMode = .progressive
    case .interleaved(let isTopFirst):
      interlaceMode = .interleaved
      setFieldOrder(isTopFirst: isTopFirst)
    }
  }

  /// Fills in from the stream what the sink caps do not specify.
  ///
  /// - Parameters:
  ///   - transfer: `preferred_transfer_characteristics` of the alternative transfer characteristics SEI.
  ///   - infersChromaLocation: the stream has a VUI, whose absent chroma location means 0.
  mutating func describe<Codec: ElementCodecSyntax>(
    _ format: FormatDescription, preferringTransfer transfer: UInt8?, besides input: CompressedCaps<Codec>,
    infersChromaLocation: Bool, interlacing: Interlacing
  ) {
    if !input.fields.contains(.pixelAspectRatio), let ratio = format.pixelAspectRatioOfCaps { pixelAspectRatio = ratio }
    if input.frameRate == nil, let rate = format.frameRateOfCaps { setFrameRate(rate) }
    if !input.fields.contains(.multiviewMode) { clearViews() }
    if !input.fields.contains(.interlaceMode) { describe(interlacing) }
    if !input.fields.contains(.chromaSite) {
      let isSubsampled = format.chromaFormat == .yuv420 || format.chromaFormat == .yuv422
      setChromaSampleLocation(format.chromaSampleLocation ?? (infersChromaLocation && isSubsampled ? 0 : nil))
    }
    let unspecified: UInt8 = 2
    if !input.fields.contains(.colorimetry) {
      setColorimetry(isFullRange: nil, primaries: unspecified, transfer: unspecified, matrix: unspecified)
    }
    if let colorimetry = format.colorimetry(preferringTransfer: transfer) { completeColorimetry(from: colorimetry) }
    completeColorimetryBySize()
    if self.format.kind == .rgb { setColorimetryToRGB() }
    if interlacing == .fields {
      // The ratio is the frame's; a field covers the same height with half the rows.
      let ratio = pixelAspectRatio
      let (denominator, overflows) = ratio.denominator.multipliedReportingOverflow(by: 2)
      if !overflows { pixelAspectRatio = Fraction(ratio.numerator, denominator) }
    }
  }
}
