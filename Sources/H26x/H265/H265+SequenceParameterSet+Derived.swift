// SPDX-License-Identifier: MPL-2.0

extension H265.SequenceParameterSet {
  /// The profile of `profile_tier_level()`.
  public var profile: H265.Profile { profileTierLevel.profile }

  /// The level and tier.
  public var level: H265.Level { profileTierLevel.level }

  /// The value of the caps field `profile`; a profile that allows such pictures if the stream's own is unknown.
  public var profileName: String {
    profile.name(chromaFormat: chromaFormat, bitDepth: Int(max(lumaBitDepth, chromaBitDepth)))
  }

  /// `CtbLog2SizeY`, 3 to 6.
  public var log2CodingTreeBlockSize: UInt8 { log2MinimumCodingBlockSize + log2CodingBlockSizeRange }

  /// `PicWidthInCtbsY`.
  package var widthInCodingTreeBlocks: Int { codingTreeBlocks(along: codedSize.width) }

  /// `PicHeightInCtbsY`.
  package var heightInCodingTreeBlocks: Int { codingTreeBlocks(along: codedSize.height) }

  /// `PicSizeInCtbsY`: coding tree blocks in a picture.
  public var codingTreeBlockCount: Int { widthInCodingTreeBlocks * heightInCodingTreeBlocks }

  private func codingTreeBlocks(along length: Int) -> Int {
    let size = 1 << Int(log2CodingTreeBlockSize)
    return (length + size - 1) / size
  }

  /// `ChromaArrayType`: ``chromaFormat``, or monochrome with separate colour planes.
  public var chromaArrayType: ChromaFormat { hasSeparateColourPlanes ? .monochrome : chromaFormat }

  /// Size of the decoded picture buffer for all sub-layers.
  public var highestBuffering: SubLayerBuffering { buffering.last ?? SubLayerBuffering() }

  /// Whether each picture is a field (`field_seq_flag`).
  public var isFieldSequence: Bool { vui?.isFieldSequence ?? false }

  /// Size of the decoded picture buffer in pictures.
  public var decodedPictureBufferPictures: Int { Int(highestBuffering.maximumDecodedPictures) }

  /// How many pictures at most may precede a picture in decoding order and follow it in output order.
  public var maximumReorderPictures: Int { Int(highestBuffering.maximumReorderPictures) }

  /// The same in frames: two fields make one.
  public var maximumReorderFrames: Int {
    isFieldSequence ? (maximumReorderPictures + 1) / 2 : maximumReorderPictures
  }

  /// Frames a second by the VUI (E.3.1); nil if absent or absurd: with a term of 0, or more than 1000 pictures a
  /// second.
  public var frameRate: Ratio? { frameRate(of: vui?.timing) }

  /// Frames a second by the VUI, else by the VPS.
  public func frameRate(_ vps: H265.VideoParameterSet?) -> Ratio? { frameRate ?? frameRate(of: vps?.timing) }

  private func frameRate(of timing: H265.VUIParameters.Timing?) -> Ratio? {
    guard let rate = timing?.pictureRate else { return nil }
    guard isFieldSequence else { return rate }
    return Ratio(wide: UInt64(rate.numerator), UInt64(rate.denominator) * 2)
  }

  /// Whether pictures with this and with the other SPS may be of one coded video sequence: whether all is equal that
  /// decoding depends on. VUI, profile, level and ids may differ: these are rewritten on the way, and sets repeated
  /// with another id.
  public func codesPictures(like other: H265.SequenceParameterSet) -> Bool {
    var other = other
    other.id = id
    other.videoParameterSetID = videoParameterSetID
    other.profileTierLevel = profileTierLevel
    other.vui = vui
    other.hasProperEnd = hasProperEnd
    return self == other
  }

  /// The cropping rectangle (7.4.3.2.1); the whole picture without a conformance window.
  public var cropRectangle: CropRectangle {
    rectangle(conformanceWindow, in: CropRectangle(left: 0, top: 0, width: codedSize.width, height: codedSize.height))
  }

  /// The default display window, within ``cropRectangle``; nil without one, and for an empty one. Players ignore it.
  public var defaultDisplayRectangle: CropRectangle? {
    guard let window = vui?.defaultDisplayWindow else { return nil }
    let part = rectangle(window, in: cropRectangle)
    return part.width > 0 && part.height > 0 ? part : nil
  }

  private func rectangle(_ window: Window?, in whole: CropRectangle) -> CropRectangle {
    guard let window else { return whole }
    // SubWidthC and SubHeightC (Table 6-1).
    let unitWidth = chromaFormat == .yuv420 || chromaFormat == .yuv422 ? 2 : 1
    let unitHeight = chromaFormat == .yuv420 ? 2 : 1
    let (left, top) = (Int(window.left) * unitWidth, Int(window.top) * unitHeight)
    return CropRectangle(
      left: whole.left + left, top: whole.top + top, width: whole.width - left - Int(window.right) * unitWidth,
      height: whole.height - top - Int(window.bottom) * unitHeight)
  }
}
