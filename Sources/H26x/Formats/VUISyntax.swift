// SPDX-License-Identifier: MPL-2.0

/// The front of `vui_parameters()`, which all codecs share: how the video is displayed.
public protocol VUISyntax: Sendable, Hashable {
  /// `aspect_ratio_idc`; nil if absent. 255 is Extended_SAR.
  var aspectRatioIDC: UInt8? { get set }
  /// `sar_width`, meaningful for Extended_SAR.
  var sampleAspectRatioWidth: UInt16 { get set }
  /// `sar_height`, meaningful for Extended_SAR.
  var sampleAspectRatioHeight: UInt16 { get set }
  /// `overscan_appropriate_flag`; nil if absent.
  var isOverscanAppropriate: Bool? { get set }
  /// `video_format`, range and colour; nil if absent.
  var videoSignal: VideoSignal? { get set }
  /// Location of chroma samples; nil if absent.
  var chromaLocation: ChromaLocation? { get set }
  /// The Recommendation's name for the syntax element of ``ColourDescription/matrix``.
  static var matrixElement: StaticString { get }
  /// The Recommendation and the clause of its semantics: "H.264 E.2.1".
  static var semanticsClause: StaticString { get }
}

extension VUISyntax {
  /// The sample aspect ratio (H.264 table E-1, H.265 table E.1); nil if absent, unspecified or with a term of 0.
  public var sampleAspectRatio: Ratio? {
    guard let aspectRatioIDC else { return nil }
    if aspectRatioIDC == 255 {
      guard sampleAspectRatioWidth > 0, sampleAspectRatioHeight > 0 else { return nil }
      return Ratio(UInt32(sampleAspectRatioWidth), UInt32(sampleAspectRatioHeight))
    }
    return SampleAspectRatios.ratio(aspectRatioIDC)
  }

  mutating func readDisplay(_ reader: inout BitReader) throws(BitstreamError) {
    if try reader.flag("aspect_ratio_info_present_flag") {
      let idc = try reader.byte("aspect_ratio_idc")
      aspectRatioIDC = idc
      if idc == 255 {
        sampleAspectRatioWidth = UInt16(truncatingIfNeeded: try reader.u(16, "sar_width"))
        sampleAspectRatioHeight = UInt16(truncatingIfNeeded: try reader.u(16, "sar_height"))
      }
    }
    if try reader.flag("overscan_info_present_flag") {
      isOverscanAppropriate = try reader.flag("overscan_appropriate_flag")
    }
    if try reader.flag("video_signal_type_present_flag") {
      var signal = VideoSignal(
        format: try reader.u8(3, "video_format"), isFullRange: try reader.flag("video_full_range_flag"), colour: nil)
      if try reader.flag("colour_description_present_flag") {
        signal.colour = ColourDescription(
          primaries: try reader.byte("colour_primaries"), transfer: try reader.byte("transfer_characteristics"),
          matrix: try reader.byte(Self.matrixElement))
      }
      videoSignal = signal
    }
    if try reader.flag("chroma_loc_info_present_flag") {
      chromaLocation = ChromaLocation(
        topField: try reader.ue8(in: 0...5, "chroma_sample_loc_type_top_field"),
        bottomField: try reader.ue8(in: 0...5, "chroma_sample_loc_type_bottom_field"))
    }
  }

  func writeDisplay(to writer: inout BitWriter) {
    writer.flag(aspectRatioIDC != nil)
    if let aspectRatioIDC {
      writer.u(8, UInt32(aspectRatioIDC))
      if aspectRatioIDC == 255 {
        writer.u(16, UInt32(sampleAspectRatioWidth))
        writer.u(16, UInt32(sampleAspectRatioHeight))
      }
    }
    writer.flag(isOverscanAppropriate != nil)
    if let isOverscanAppropriate { writer.flag(isOverscanAppropriate) }
    writer.flag(videoSignal != nil)
    if let videoSignal {
      writer.u(3, UInt32(videoSignal.format))
      writer.flag(videoSignal.isFullRange)
      writer.flag(videoSignal.colour != nil)
      if let colour = videoSignal.colour {
        writer.u(8, UInt32(colour.primaries))
        writer.u(8, UInt32(colour.transfer))
        writer.u(8, UInt32(colour.matrix))
      }
    }
    writer.flag(chromaLocation != nil)
    if let chromaLocation {
      writer.ue(UInt32(chromaLocation.topField))
      writer.ue(UInt32(chromaLocation.bottomField))
    }
  }
}
