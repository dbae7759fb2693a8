// SPDX-License-Identifier: MPL-2.0

extension DolbyVision {
  /// `DOVIDecoderConfigurationRecord` (Dolby Vision Streams within the ISO Base Media File Format, 3.1).
  ///
  /// MP4, MOV and Matroska have it. It takes 24 bytes, with reserved bits, which are kept.
  public struct Configuration: Sendable, Hashable {
    /// `dv_version_major`.
    public var majorVersion: UInt8
    /// `dv_version_minor`.
    public var minorVersion: UInt8
    /// `dv_profile`, 0 to 127.
    public var profile: UInt8
    /// `dv_level`, 0 to 63.
    public var level: UInt8
    /// `rpu_present_flag`: whether the track has metadata.
    public var hasRPU: Bool
    /// `el_present_flag`: whether the track has the enhancement layer.
    public var hasEnhancementLayer: Bool
    /// `bl_present_flag`: whether the track has the base layer.
    public var hasBaseLayer: Bool
    /// `dv_bl_signal_compatibility_id`, 0 to 15: what the base layer is to decoders without Dolby Vision.
    ///
    /// 0 nothing, 1 HDR10, 2 SDR, 4 HLG, 6 HDR10 as on UHD Blu-ray discs.
    public var compatibilityID: UInt8
    /// The bits behind it, the four of its own byte first; 0 in the versions known.
    public private(set) var reserved: [UInt8] = [UInt8](repeating: 0, count: 20)

    /// The size of the record in bytes.
    public static var byteCount: Int { 24 }

    /// Creates a record of version 1.0.
    ///
    /// - Parameters:
    ///   - profile: 0 to 127.
    ///   - level: 0 to 63.
    ///   - hasEnhancementLayer: whether the track has the enhancement layer.
    ///   - compatibilityID: 0 to 15.
    public init(profile: UInt8, level: UInt8, hasEnhancementLayer: Bool = false, compatibilityID: UInt8) {
      self.init(
        version: (1, 0), profile: profile, level: level, layers: (true, hasEnhancementLayer, true),
        compatibilityID: compatibilityID)
    }

    private init(
      version: (UInt8, UInt8), profile: UInt8, level: UInt8, layers: (rpu: Bool, enhancement: Bool, base: Bool),
      compatibilityID: UInt8
    ) {
      (majorVersion, minorVersion) = version
      self.profile = profile & 0x7F
      self.level = level & 0x3F
      (hasRPU, hasEnhancementLayer, hasBaseLayer) = layers
      self.compatibilityID = compatibilityID & 0xF
    }

    /// Creates a record from its values in the order of the syntax, as `AVDOVIDecoderConfigurationRecord` has them.
    ///
    /// - Returns: nil for fewer than eight values.
    package init?(values: [UInt8]) {
      guard values.count >= 8 else { return nil }
      self.init(
        version: (values[0], values[1]), profile: values[2], level: values[3],
        layers: (values[4] & 1 != 0, values[5] & 1 != 0, values[6] & 1 != 0), compatibilityID: values[7])
    }

    /// Its values in the order of the syntax, as `AVDOVIDecoderConfigurationRecord` has them.
    package var values: [UInt8] {
      [majorVersion, minorVersion, profile, level]
        + [hasRPU, hasEnhancementLayer, hasBaseLayer].map { $0 ? 1 : 0 } + [compatibilityID]
    }

    /// Reads a record: the content of a `dvcC`, `dvvC` or `dvwC` box.
    ///
    /// - Parameters:
    ///   - bytes: the record; bytes behind it are kept.
    ///   - trace: records the syntax elements; nil for no record.
    /// - Throws: `.truncated`.
    public init(_ bytes: Span<UInt8>, trace: SyntaxTrace? = nil) throws(BitstreamError) {
      var reader = BitReader(bytes, removesEmulationPrevention: false, trace: trace)
      majorVersion = try reader.byte("dv_version_major")
      minorVersion = try reader.byte("dv_version_minor")
      profile = try reader.u8(7, "dv_profile")
      level = try reader.u8(6, "dv_level")
      hasRPU = try reader.flag("rpu_present_flag")
      hasEnhancementLayer = try reader.flag("el_present_flag")
      hasBaseLayer = try reader.flag("bl_present_flag")
      compatibilityID = try reader.u8(4, "dv_bl_signal_compatibility_id")
      reserved = [try reader.u8(4, "reserved")]
      reserved += try reader.bytes(max(bytes.count, Self.byteCount) - 5, "reserved")
    }

    /// The record, of 24 bytes unless more were read.
    public var bytes: [UInt8] {
      var writer = BitWriter(addsEmulationPrevention: false)
      writer.u(8, UInt32(majorVersion))
      writer.u(8, UInt32(minorVersion))
      writer.u(7, UInt32(profile))
      writer.u(6, UInt32(level))
      writer.flag(hasRPU)
      writer.flag(hasEnhancementLayer)
      writer.flag(hasBaseLayer)
      writer.u(4, UInt32(compatibilityID))
      writer.u(4, UInt32(reserved.first ?? 0))
      writer.append(reserved.dropFirst())
      return writer.bytes
    }

    /// The type of the box that has the record, which depends on the profile: `dvcC`, `dvvC` or `dvwC`.
    public var boxType: StaticString { profile > 10 ? "dvwC" : profile > 7 ? "dvvC" : "dvcC" }

    /// Whether the base layer alone is not to be shown: its colours are wrong without the metadata.
    public var isIncompatible: Bool { profile == 5 || (profile == 20 && compatibilityID == 0) }
  }
}

// Values for a stream whose container has no record.
extension DolbyVision.Configuration {
  /// Creates the record that a stream calls for.
  ///
  /// - Parameters:
  ///   - profile: the profile by the RPU; see ``DolbyVision/RPU/profile(_:)``.
  ///   - hasEnhancementLayer: whether the stream has NAL units of the enhancement layer.
  ///   - colour: the base layer's, by its VUI; nil if it is not sent.
  ///   - width: of the pictures, in luma samples.
  ///   - height: of the pictures, in luma samples.
  ///   - rate: pictures a second.
  public init(
    profile: UInt8, hasEnhancementLayer: Bool, colour: ColourDescription?, width: Int, height: Int, rate: Ratio
  ) {
    self.init(
      profile: profile, level: Self.level(width: width, height: height, rate: rate),
      hasEnhancementLayer: hasEnhancementLayer, compatibilityID: Self.compatibilityID(profile: profile, colour: colour))
  }

  /// What the base layer of a stream is to decoders without Dolby Vision (`dv_bl_signal_compatibility_id`).
  ///
  /// - Parameters:
  ///   - profile: `dv_profile`.
  ///   - colour: the base layer's, by its VUI; nil if it is not sent.
  public static func compatibilityID(profile: UInt8, colour: ColourDescription?) -> UInt8 {
    switch profile {
    case 5: return 0
    case 7: return 6
    case 20: return colour?.transfer == 18 ? 4 : 0
    case 8:
      // 9 is BT.2020; 16 is PQ, 18 is HLG.
      guard let colour, colour.primaries == 9 else { return 2 }
      return colour.transfer == 16 ? 1 : colour.transfer == 18 ? 4 : 2
    default: return 2
    }
  }

  /// The record of the stream that ``DolbyVision/RPU/convertToProfile8()`` makes. The level stays.
  public func convertedToProfile8() -> Self {
    var record = self
    (record.profile, record.compatibilityID, record.hasRPU, record.hasEnhancementLayer) = (8, 1, true, false)
    return record
  }

  /// The most pixels a second and the greatest width of each level, from 1 on (Dolby Vision Profiles and Levels, 2).
  private static var levels: [(pixels: UInt64, width: Int)] {
    [
      (22_118_400, 1280), (27_648_000, 1280), (49_766_400, 1920), (62_208_000, 2560), (124_416_000, 3840),
      (199_065_600, 3840), (248_832_000, 3840), (398_131_200, 3840), (497_664_000, 3840), (995_328_000, 3840),
      (995_328_000, 7680), (1_990_656_000, 7680), (3_981_312_000, 7680),
    ]
  }

  /// The lowest level for pictures of a size and rate; the highest level if they exceed all.
  ///
  /// - Parameters:
  ///   - width: in luma samples.
  ///   - height: in luma samples.
  ///   - rate: pictures a second.
  public static func level(width: Int, height: Int, rate: Ratio) -> UInt8 {
    // No picture is larger, so the products fit in 64 bits.
    let size = UInt64(clamping: min(width, 1 << 16)) * UInt64(clamping: min(height, 1 << 16))
    let samples = size.multipliedReportingOverflow(by: UInt64(rate.numerator))
    let pixels = samples.overflow ? UInt64.max : samples.partialValue / UInt64(rate.denominator)
    let levels = levels
    let index = levels.firstIndex { pixels <= $0.pixels && width <= $0.width } ?? levels.count - 1
    return UInt8(truncatingIfNeeded: index + 1)
  }
}
