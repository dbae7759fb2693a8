// SPDX-License-Identifier: MPL-2.0

/// The samples that a VUI describes, which some of its values depend on.
struct SampleFormat {
  let chroma: ChromaFormat
  let lumaBitDepth: UInt8
  let chromaBitDepth: UInt8
}

extension VUISyntax {
  /// Applies an edit of the display part; any other one changes nothing.
  ///
  /// - Throws: `.valueOutOfRange` for a reserved value, `.forbiddenCombination` for a matrix that the sample format
  ///   forbids.
  mutating func applyDisplay(_ edit: StreamEdit, to format: SampleFormat) throws(StreamEditError) {
    switch edit {
    case .colour(let colour?):
      try Self.check(colour, format)
      setSignal { $0.colour = colour }
    case .colour(nil): videoSignal?.colour = nil
    case .primaries(let primaries): try setColour(format) { $0.primaries = primaries }
    case .transfer(let transfer): try setColour(format) { $0.transfer = transfer }
    case .matrix(let matrix): try setColour(format) { $0.matrix = matrix }
    case .fullRange(let isFullRange): setSignal { $0.isFullRange = isFullRange }
    case .videoFormat(let videoFormat):
      guard videoFormat <= 5 else { throw Self.reserved("video_format", videoFormat) }
      setSignal { $0.format = videoFormat }
    case .removeVideoSignal: videoSignal = nil
    case .chromaLocation(let location):
      if let location {
        guard location.topField <= 5 else {
          throw Self.reserved("chroma_sample_loc_type_top_field", location.topField)
        }
        guard location.bottomField <= 5 else {
          throw Self.reserved("chroma_sample_loc_type_bottom_field", location.bottomField)
        }
      }
      chromaLocation = location
    case .sampleAspectRatio(let ratio): try setSampleAspectRatio(ratio)
    case .overscanAppropriate(let isAppropriate): isOverscanAppropriate = isAppropriate
    default: break
    }
  }

  private mutating func setSignal(_ change: (inout VideoSignal) -> Void) {
    // The default is the signal that is inferred in its absence.
    var signal = videoSignal ?? VideoSignal(format: 5, isFullRange: false, colour: nil)
    change(&signal)
    videoSignal = signal
  }

  private mutating func setColour(
    _ format: SampleFormat, _ change: (inout ColourDescription) -> Void
  ) throws(StreamEditError) {
    var colour = videoSignal?.colour ?? .unspecified
    change(&colour)
    try Self.check(colour, format)
    setSignal { $0.colour = colour }
  }

  /// Tables E-3 to E-5 of H.264 and E.3 to E.5 of H.265.
  private static func check(_ colour: ColourDescription, _ format: SampleFormat) throws(StreamEditError) {
    switch colour.primaries {
    case 1, 2, 4...12, 22: break
    default: throw reserved("colour_primaries", colour.primaries)
    }
    switch colour.transfer {
    case 1, 2, 4...18: break
    default: throw reserved("transfer_characteristics", colour.transfer)
    }
    switch colour.matrix {
    case 0:
      guard format.chroma == .yuv444, format.chromaBitDepth == format.lumaBitDepth else {
        throw StreamEditError(
          .forbiddenCombination, matrixElement, 0, "needs 4:4:4 and equal bit depths", clause: semanticsClause)
      }
    case 8:
      let isDeeper = format.chromaBitDepth == format.lumaBitDepth + 1
      guard format.chromaBitDepth == format.lumaBitDepth || isDeeper && format.chroma == .yuv444 else {
        throw StreamEditError(
          .forbiddenCombination, matrixElement, 8, "needs equal bit depths, or 4:4:4 and one bit more of chroma",
          clause: semanticsClause)
      }
    case 1, 2, 4...7, 9...14: break
    default: throw reserved(matrixElement, colour.matrix)
    }
  }

  private mutating func setSampleAspectRatio(_ ratio: Ratio?) throws(StreamEditError) {
    guard ratio != sampleAspectRatio || ratio == nil else { return }
    guard let ratio else {
      aspectRatioIDC = nil
      (sampleAspectRatioWidth, sampleAspectRatioHeight) = (0, 0)
      return
    }
    if let code = SampleAspectRatios.code(of: ratio) {
      aspectRatioIDC = code
      (sampleAspectRatioWidth, sampleAspectRatioHeight) = (0, 0)
      return
    }
    guard let width = UInt16(exactly: ratio.numerator), let height = UInt16(exactly: ratio.denominator) else {
      throw StreamEditError(
        .valueOutOfRange, "sar_width", Int64(max(ratio.numerator, ratio.denominator)), "has 16 bits",
        clause: Self.semanticsClause)
    }
    (aspectRatioIDC, sampleAspectRatioWidth, sampleAspectRatioHeight) = (255, width, height)
  }

  private static func reserved(_ element: StaticString, _ value: UInt8) -> StreamEditError {
    StreamEditError(.valueOutOfRange, element, Int64(value), "the value is reserved", clause: semanticsClause)
  }
}

extension ColourDescription {
  /// The description that is inferred in its absence.
  fileprivate static var unspecified: Self { Self(primaries: 2, transfer: 2, matrix: 2) }
}
