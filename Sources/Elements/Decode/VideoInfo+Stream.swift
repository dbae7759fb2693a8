// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

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
