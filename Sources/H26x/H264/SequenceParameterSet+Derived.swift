// SPDX-License-Identifier: MPL-2.0

extension H264.SequenceParameterSet {
  /// The level, 1b recognised.
  public var level: H264.Level { H264.Level(idc: levelIDC, profile: profile) }

  /// `FrameHeightInMbs`.
  public var heightInMacroblocks: Int { heightInMapUnits * (isFrameOnly ? 1 : 2) }

  /// The coded frame in luma samples.
  public var codedSize: VideoSize { VideoSize(width: widthInMacroblocks * 16, height: heightInMacroblocks * 16) }

  /// `ChromaArrayType`: ``chromaFormat``, or monochrome with separate colour planes.
  public var chromaArrayType: ChromaFormat { hasSeparateColourPlanes ? .monochrome : chromaFormat }

  /// The part to show (7.4.2.1.1), the whole frame without cropping.
  public var cropRectangle: CropRectangle {
    let size = codedSize
    guard let cropping else { return CropRectangle(left: 0, top: 0, width: size.width, height: size.height) }
    let unitWidth = chromaArrayType == .yuv420 || chromaArrayType == .yuv422 ? 2 : 1
    let unitHeight = (chromaArrayType == .yuv420 ? 2 : 1) * (isFrameOnly ? 1 : 2)
    let left = Int(cropping.left) * unitWidth
    let top = Int(cropping.top) * unitHeight
    return CropRectangle(
      left: left, top: top, width: size.width - left - Int(cropping.right) * unitWidth,
      height: size.height - top - Int(cropping.bottom) * unitHeight)
  }

  /// The frame rate in frames a second by the VUI (E.2.1), nil when absent or senseless: a part of zero, or more
  /// than 1000 frames a second.
  public var frameRate: Fraction? {
    guard let timing = vui?.timing, timing.unitsInTick > 0, timing.timeScale > 0 else { return nil }
    let ticks = UInt64(timing.unitsInTick) * 2
    guard UInt64(timing.timeScale) <= 1000 * ticks else { return nil }
    return Fraction(wide: UInt64(timing.timeScale), ticks)
  }

  /// `MaxDpbFrames` (A.3.1), 1 to 16: how many frames the level lets the decoder hold for this size.
  public var maximumDecodedPictureBufferFrames: Int {
    let size = max(1, widthInMacroblocks * heightInMacroblocks)
    return max(1, min(level.maximumDecodedPictureBufferMacroblocks / size, 16))
  }

  /// The size of the decoded picture buffer in frames: `max_dec_frame_buffering` if sent, else what the level and the
  /// profile bound it to. At least `max_num_ref_frames`.
  public var decodedPictureBufferFrames: Int {
    if let sent = vui?.bitstreamRestriction?.maximumDecodedFrameBuffering {
      return max(Int(sent), Int(maximumReferenceFrames), 1)
    }
    return max(profile.isIntraOnly ? 0 : maximumDecodedPictureBufferFrames, Int(maximumReferenceFrames), 1)
  }

  /// `max_num_reorder_frames` as sent, nil when absent.
  public var sentReorderFrames: Int? { vui?.bitstreamRestriction.map { Int($0.maximumReorderFrames) } }

  /// How many frames may at most precede a frame in decoding order and follow it in output order: as sent, else
  /// inferred (E.2.1): 0 for intra-only profiles, for output in decoding order and for the Baseline profile without
  /// B slices; else the bound of the level.
  public var maximumReorderFrames: Int {
    if let sentReorderFrames { return sentReorderFrames }
    if pictureOrderCountType == .decodingOrder || profile.isIntraOnly { return 0 }
    return decodedPictureBufferFrames
  }

  /// Whether pictures coded with this and with the other one may be of the same coded video sequence, by all that
  /// decoding goes by. What says how to show them (VUI), what is asked of a decoder (profile, level) and the id may
  /// differ: such things are rewritten on the way, and sets repeated under another id.
  public func codesPictures(like other: H264.SequenceParameterSet) -> Bool {
    var other = other
    other.id = id
    other.profile = profile
    other.levelIDC = levelIDC
    other.vui = vui
    other.hasProperEnd = hasProperEnd
    return self == other
  }
}
