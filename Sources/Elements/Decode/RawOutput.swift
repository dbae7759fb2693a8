// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// The raw video that has been agreed on with downstream, and how pictures get there.
struct RawOutput {
  /// How the session's pictures come.
  var layout: PictureLayout
  /// What downstream gets.
  var info: VideoInfo
  /// Fields of the caps that `info` has no place for, by name.
  var displayFields: [String: String]
  /// Downstream's buffers are laid out so that libavcodec can decode into them.
  var isDirect = false

  /// Whether this is what was planned.
  func isAgreed(_ plan: OutputPlan) -> Bool {
    layout == plan.layout && displayFields == plan.displayFields && info.isEqual(to: plan.info)
  }

  /// Pictures reach downstream in the format in which the session puts them out.
  var isSessionFormat: Bool { layout.pixelFormat.videoFormat == info.format }
}

extension RawOutput {
  /// Has the pool make buffers that libavcodec can decode into: downstream's pool if it can, else one of our own.
  /// Answers whether that worked.
  func configurePool(_ offer: consuming Query.PoolOffer, caps: borrowing Caps, in query: borrowing Query) -> Bool {
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

extension PictureLayout {
  /// What the session will produce for this format; `nil` when libavcodec cannot decode that.
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
  /// What the session produces for a stream; `nil` when libavcodec cannot decode it.
  fileprivate init?(decodedFrom format: FormatDescription, _ completesMonochrome: Bool) {
    guard format.lumaBitDepth == format.chromaBitDepth || format.chromaFormat == .monochrome else { return nil }
    // matrix_coefficients 0 is GBR (Table E-5).
    let isGBR = format.chromaFormat == .yuv444 && format.colour?.matrix == 0
    switch (format.chromaFormat, format.lumaBitDepth) {
    // Other monochrome comes with chroma in the middle of its range.
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
    // Nothing is between its rows.
    case .fields: interlaceMode = .progressive
    case .interleaved(let isTopFirst):
      interlaceMode = .interleaved
      setFieldOrder(isTopFirst: isTopFirst)
    }
  }

  /// Fills in what the caps of the compressed stream do not say from the stream itself.
  ///
  /// - Parameter infersChromaLocation: the stream has a VUI, so that not to say where chroma lies means location 0.
  mutating func describe<Codec: ElementCodecSyntax>(
    _ format: FormatDescription, besides input: CompressedCaps<Codec>, infersChromaLocation: Bool,
    interlacing: Interlacing
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
    if let colorimetry = format.colorimetry { completeColorimetry(from: colorimetry) }
    completeColorimetryBySize()
    if self.format.kind == .rgb { setColorimetryToRGB() }
    if interlacing == .fields {
      // The caps mean the frame: a field shows as much with half the rows.
      let ratio = pixelAspectRatio
      pixelAspectRatio = GStreamer.Fraction(ratio.numerator, ratio.denominator * 2)
    }
  }
}
