// SPDX-License-Identifier: MPL-2.0

extension H264.SequenceParameterSet {
  /// The level, with 1b.
  public var level: H264.Level { H264.Level(idc: levelIDC, profile: profile) }

  /// The limits of its level and profile; nil for an unknown level.
  package var levelLimits: LevelLimits? { level.limits(in: profile) }

  /// `FrameHeightInMbs`.
  public var heightInMacroblocks: Int { heightInMapUnits * (isFrameOnly ? 1 : 2) }

  /// Size of the coded frame in luma samples.
  public var codedSize: VideoSize { VideoSize(width: widthInMacroblocks * 16, height: heightInMacroblocks * 16) }

  /// `ChromaArrayType`: ``chromaFormat``, or monochrome with separate colour planes.
  public var chromaArrayType: ChromaFormat { hasSeparateColourPlanes ? .monochrome : chromaFormat }

  /// Frames a second by the VUI (E.2.1); nil if absent or absurd: with a term of 0, or more than 1000.
  public var frameRate: Ratio? {
    guard let timing = vui?.timing else { return nil }
    let ticks = UInt64(timing.unitsInTick) * 2
    guard UInt64(timing.timeScale) <= 1000 * ticks else { return nil }
    return Ratio(wide: UInt64(timing.timeScale), ticks)
  }

  /// `MaxDpbFrames` (A.3.1), 1 to 16: how many frames the level lets a decoder hold at this size.
  public var maximumDecodedPictureBufferFrames: Int {
    let size = max(1, widthInMacroblocks * heightInMacroblocks)
    return max(1, min(level.maximumDecodedPictureBufferMacroblocks / size, FormatDescription.deepestReordering))
  }

  /// Size of the decoded picture buffer in frames: `max_dec_frame_buffering` if sent, else inferred from profile and
  /// level (E.2.1). At least `max_num_ref_frames`.
  public var decodedPictureBufferFrames: Int {
    if let sent = vui?.bitstreamRestriction?.maximumDecodedFrameBuffering {
      return max(Int(sent), Int(maximumReferenceFrames), 1)
    }
    return max(profile.isIntraOnly ? 1 : maximumDecodedPictureBufferFrames, Int(maximumReferenceFrames))
  }

  /// `max_num_reorder_frames` as sent; nil if absent, and when it is above `max_dec_frame_buffering`, which no
  /// decoder can satisfy (E.2.1).
  public var sentReorderFrames: Int? {
    guard let restriction = vui?.bitstreamRestriction,
      restriction.maximumReorderFrames <= restriction.maximumDecodedFrameBuffering
    else { return nil }
    return Int(restriction.maximumReorderFrames)
  }

  /// How many frames at most may precede a frame in decoding order and follow it in output order, as sent or else
  /// inferred (E.2.1). The inferred value is 0 for intra-only profiles and `pic_order_cnt_type` 2, else the size of
  /// the decoded picture buffer.
  public var maximumReorderFrames: Int {
    if let sentReorderFrames { return sentReorderFrames }
    if pictureOrderCountType == .decodingOrder || profile.isIntraOnly { return 0 }
    return decodedPictureBufferFrames
  }

  /// Whether pictures with this and with the other SPS may be of one coded video sequence: whether all is equal that
  /// decoding depends on. VUI, profile, level and id may differ: these are rewritten on the way, and sets repeated with
  /// another id.
  public func codesPictures(like other: H264.SequenceParameterSet) -> Bool {
    var other = other
    other.id = id
    other.profile = profile
    other.levelIDC = levelIDC
    other.vui = vui
    other.hasProperEnd = hasProperEnd
    return self == other
  }

  /// The cropping rectangle (7.4.2.1.1); the whole frame without cropping.
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
}
