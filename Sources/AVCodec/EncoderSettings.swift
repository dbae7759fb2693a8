// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// Settings for opening an encoder.
///
/// The first picture is an IDR picture, and every other one refers to earlier pictures only. A picture is one slice.
///
/// libx264 and libx265 obey all of them. Other encoders choose tools and level themselves, and use a constant quantizer.
package struct EncoderSettings: Sendable {
  /// The codec of the packets.
  package var codec: CodecSettings.Codec
  /// The encoder by libavcodec's name (`libx264`); nil for the best one that takes the format.
  package var encoder: String?
  /// Coded size in luma samples, which is not cropped. For H.264, a multiple of 16, and of 32 in height if
  /// interlaced; for H.265, a multiple of 8.
  package var width: Int, height: Int
  /// The sample format of the pictures: bit depth and chroma format.
  package var format: FrameFormat
  /// Pictures per second, from 1/10 to 1000; for H.265, the numerator must not be a multiple of 65536. The encoder
  /// writes them as timing information, and keeps to a ``rateLimit`` by them.
  package var frameRate: (numerator: Int, denominator: Int) = (25, 1)
  /// Width and height of a sample, at most 65535; nil to signal none.
  package var sampleAspectRatio: (width: Int, height: Int)?
  /// Full-range samples; nil to signal nothing.
  package var isFullRange: Bool?
  /// `colour_primaries` code point (H.273), 2 for unspecified.
  package var colourPrimaries: UInt8 = 2
  /// `transfer_characteristics` code point (H.273), 2 for unspecified.
  package var transferCharacteristics: UInt8 = 2
  /// `matrix_coefficients` code point (H.273), 2 for unspecified.
  package var matrixCoefficients: UInt8 = 2
  /// `chroma_sample_loc_type` (H.264 E.2.1), 0 to 5; nil to signal none.
  package var chromaSampleLocation: UInt8?
  /// The H.264 profile to stay within (`profile_idc`, H.264 Annex A): 66, 77, 100, 110, 122 or 244. Nil for no limit.
  /// The encoder signals the lowest profile that has what it uses. For H.265, that follows from the format.
  package var profile: UInt8?
  /// The level to signal (`level_idc`, H.264 Annex A; `general_level_idc`, H.265 Annex A); nil for the lowest that
  /// fits. Not checked for H.264.
  package var level: UInt8?
  /// The most reference pictures to use, 1 to 16.
  package var referenceCount = 3
  /// Constant quality as a rate factor (CRF), from 1, the best, to 51.
  package var quality = 18.0
  /// A limit of the bit rate, by a buffer that the packets go through (VBV): bits per second into it, and its size in
  /// bits, both at least 1000. Nil for no limit.
  package var rateLimit: (bitRate: Int, bufferSize: Int)?
  /// How full the buffer of the ``rateLimit`` is at first, from 0 to 1. An encoder may assume the bits of a picture more.
  package var initialFullness = 0.9
  /// Frames are interlaced and coded as such (H.264: MBAFF), the top field being the first; nil for progressive frames.
  package var isTopFieldFirst: Bool?
  /// H.264: the entropy coder is CABAC, not CAVLC (`entropy_coding_mode_flag`, 7.4.2.2), if the profile has it.
  package var usesCABAC = true
  /// H.264: transforms of 8×8 samples are allowed (`transform_8x8_mode_flag`, 7.4.2.2), if the profile has them.
  package var uses8x8Transform = true
  /// Threads, 1 to 64. For H.264, each but one delays output by a picture.
  package var threadCount = 1

  /// Settings for pictures of a size and format, the rest at their defaults.
  package init(codec: CodecSettings.Codec, width: Int, height: Int, format: FrameFormat) {
    self.codec = codec
    self.width = width
    self.height = height
    self.format = format
  }

  /// Settings for pictures such as this decoded one: with its coded size, sample format, color description and sample
  /// aspect ratio.
  package init(codec: CodecSettings.Codec, like frame: borrowing Frame) {
    self.init(codec: codec, width: frame.width, height: frame.height, format: frame.format)
    isFullRange = frame.isFullRange
    colourPrimaries = frame.colourPrimaries
    transferCharacteristics = frame.transferCharacteristics
    matrixCoefficients = frame.matrixCoefficients
    chromaSampleLocation = frame.chromaSampleLocation
    sampleAspectRatio = frame.sampleAspectRatio
  }

  /// Checks all ranges, so that no encoder gets a number that it does not expect.
  ///
  /// - Throws: `AVError.invalidArgument`; `AVError.unsupportedFeature` for other profiles, and for interlaced frames if
  ///   the encoder does not code them as such.
  func check(encoder name: String) throws(AVError) {
    guard name == "libx264" || isTopFieldFirst == nil else { throw .unsupportedFeature }
    let (columns, rows) = codec == .h265 ? (8, 8) : (16, isTopFieldFirst == nil ? 16 : 32)
    let sizes = 16...16384
    guard sizes ~= width, sizes ~= height, width % columns == 0, height % rows == 0 else { throw .invalidArgument }
    let terms = 1...1 << 24
    guard terms ~= frameRate.numerator, terms ~= frameRate.denominator,
      frameRate.numerator <= frameRate.denominator * 1000, frameRate.denominator <= frameRate.numerator * 10
    else { throw .invalidArgument }
    // libx265 omits the last emulation prevention byte of an SPS that ends with such a vui_time_scale.
    guard codec == .h264 || !frameRate.numerator.isMultiple(of: 1 << 16) else { throw .invalidArgument }
    if let ratio = sampleAspectRatio {
      guard 1...65535 ~= ratio.width, 1...65535 ~= ratio.height else { throw .invalidArgument }
    }
    if let rateLimit {
      let rates = 1000...1 << 30
      guard rates ~= rateLimit.bitRate, rates ~= rateLimit.bufferSize else { throw .invalidArgument }
    }
    guard 0...1 ~= initialFullness else { throw .invalidArgument }
    guard 1...16 ~= referenceCount, 1...51 ~= quality, 1...64 ~= threadCount, chromaSampleLocation ?? 0 <= 5 else {
      throw .invalidArgument
    }
    if codec == .h264, let profile { try check(profile: profile) }
  }

  /// Checks that a profile of H.264 has the sample format, and interlaced frames (A.2). libx264 prints its own refusal.
  private func check(profile: UInt8) throws(AVError) {
    let limits: (depth: Int32, chroma: ClosedRange<Int32>)
    switch profile {
    case 66, 77: limits = (8, 1...1)
    case 100: limits = (8, 0...1)
    case 110: limits = (10, 0...1)
    case 122: limits = (10, 0...2)
    case 244: limits = (14, 0...3)
    default: throw .unsupportedFeature
    }
    guard profile != 66 || isTopFieldFirst == nil,
      let samples = unsafe cav_pix_fmt_desc_get(AVPixelFormat(format.rawValue)),
      unsafe samples.pointee.comp.0.depth <= limits.depth, unsafe limits.chroma ~= cav_chroma_format(samples)
    else { throw .invalidArgument }
  }

  /// The options of an encoder, by libavcodec's names and its own.
  func options(ofEncoder name: String) -> [(name: String, value: String)] {
    switch name {
    case "libx264", "libx264rgb":
      return [("preset", "medium"), ("crf", "\(quality)"), ("forced-idr", "1"), ("x264-params", x264Parameters)]
    case "libx265":
      return [("preset", "medium"), ("crf", "\(quality)"), ("forced-idr", "1"), ("x265-params", x265Parameters)]
    default:
      // Encoders without a rate factor: a constant quantizer.
      let quantizer = "\(Int(quality))"
      return [("qmin", quantizer), ("qmax", quantizer)]
    }
  }

  // Pictures are neither reordered nor looked ahead at, so that each packet comes out before the next picture.

  private var x264Parameters: String {
    let hasCABAC = usesCABAC && profile != 66
    let has8x8Transform = uses8x8Transform && profile ?? 100 >= 100
    return [
      "keyint=infinite", "scenecut=0", "open-gop=0", "bframes=0", "rc-lookahead=0", "sync-lookahead=0", "mbtree=0",
      "sliced-threads=0", "slices=1", "weightp=0", "aud=0", "nal-hrd=none", "force-cfr=1",
      "ref=\(referenceCount)", "cabac=\(hasCABAC ? 1 : 0)", "8x8dct=\(has8x8Transform ? 1 : 0)",
      "fps=\(frameRate.numerator)/\(frameRate.denominator)",
    ].joined(separator: ":") + (isTopFieldFirst.map { $0 ? ":tff=1" : ":bff=1" } ?? "") + fullnessParameter
  }

  private var x265Parameters: String {
    // Coding tree blocks are no larger than the picture.
    let side = min(width, height)
    let treeSize = side >= 64 ? 64 : side >= 32 ? 32 : 16
    var parameters = [
      "log-level=none", "keyint=-1", "scenecut=0", "open-gop=0", "bframes=0", "b-adapt=0", "rc-lookahead=0",
      "lookahead-slices=0", "cutree=0", "weightp=0", "frame-threads=1", "slices=1", "aud=0", "hrd=0", "info=0",
      "ref=\(min(referenceCount, Self.mostReferencesOfX265))", "ctu=\(treeSize)",
      threadCount == 1 ? "pools=none:wpp=0" : "pools=\(threadCount):wpp=1",
    ]
    // The level in tenths; general_level_idc has thirtieths.
    if let level { parameters.append("level-idc=\(level / 3)") }
    return parameters.joined(separator: ":") + fullnessParameter
  }

  private var fullnessParameter: String { rateLimit == nil ? "" : ":vbv-init=\(max(initialFullness, 0.001))" }

  /// libx265 refuses more.
  private static let mostReferencesOfX265 = 8
}
