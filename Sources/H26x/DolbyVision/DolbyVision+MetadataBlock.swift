// SPDX-License-Identifier: MPL-2.0

extension DolbyVision {
  /// `ext_dm_data_block()` (ETSI GS CCM 001, 5.3.5): a level of metadata.
  ///
  /// A block keeps its bytes, so that unknown levels and reserved bits come back as they were.
  public struct MetadataBlock: Sendable, Hashable {
    /// `ext_block_level`.
    public let level: UInt8
    /// `ext_dm_data_block_payload()`, `ext_block_length` bytes.
    public private(set) var payload: [UInt8]

    /// Creates a block from its bytes.
    public init(level: UInt8, payload: [UInt8]) { (self.level, self.payload) = (level, payload) }

    /// Creates a block of a known level.
    public init(_ content: Content) {
      var writer = BitWriter(addsEmulationPrevention: false)
      content.write(to: &writer)
      writer.align()
      self.init(level: content.level, payload: writer.bytes)
    }

    init(_ reader: inout BitReader) throws(BitstreamError) {
      // Longer blocks do not fit into a NAL unit that a decoder takes.
      let length = try reader.ue(in: 0...0xFFFF, "ext_block_length")
      level = try reader.byte("ext_block_level")
      payload = try reader.bytes(Int(length), "ext_dm_data_block_payload")
    }

    func write(to writer: inout BitWriter) {
      writer.ue(UInt32(clamping: payload.count))
      writer.u(8, UInt32(level))
      writer.append(payload)
    }

    /// The fields of the block; nil for unknown levels and blocks that are too short.
    public var content: Content? { content(trace: nil) }

    /// Reads the fields of the block.
    ///
    /// - Parameter trace: records the syntax elements up to the end of the block; nil for no record.
    /// - Returns: nil for unknown levels and blocks that are too short.
    package func content(trace: SyntaxTrace?) -> Content? {
      var reader = BitReader(payload.span, removesEmulationPrevention: false, trace: trace)
      do throws(BitstreamError) {
        let content = try Content(&reader, level: level, length: payload.count)
        guard trace != nil else { return content }
        _ = try reader.u(reader.maximumRemainingBits & 7, "ext_dm_alignment_zero_bit")
        _ = try reader.bytes(reader.maximumRemainingBits / 8, "ext_dm_data_block_payload")
        return content
      } catch {
        return nil
      }
    }

    /// Replaces the fields of the block, and keeps the bits behind them.
    ///
    /// - Returns: false if the fields are of another level, or longer than the block; nothing is changed then.
    @discardableResult
    public mutating func replace(with content: Content) -> Bool {
      var writer = BitWriter(addsEmulationPrevention: false)
      content.write(to: &writer)
      guard content.level == level, writer.bitCount <= payload.count * 8 else { return false }
      let phase = writer.bitCount & 7
      if phase > 0 { writer.u(8 - phase, UInt32(payload[writer.bitCount / 8])) }
      payload.replaceSubrange(0..<writer.bytes.count, with: writer.bytes)
      return true
    }
  }

  /// `trim_slope` and so on of levels 2 and 8, 0 to 4095 each; 2048 changes nothing.
  public struct Trim: Sendable, Hashable {
    /// `trim_slope`.
    public var slope: UInt16
    /// `trim_offset`.
    public var offset: UInt16
    /// `trim_power`.
    public var power: UInt16
    /// `trim_chroma_weight`.
    public var chromaWeight: UInt16
    /// `trim_saturation_gain`.
    public var saturationGain: UInt16

    /// Creates a trim.
    public init(
      slope: UInt16 = 2048, offset: UInt16 = 2048, power: UInt16 = 2048, chromaWeight: UInt16 = 2048,
      saturationGain: UInt16 = 2048
    ) {
      (self.slope, self.offset, self.power) = (slope, offset, power)
      (self.chromaWeight, self.saturationGain) = (chromaWeight, saturationGain)
    }

    init(_ reader: inout BitReader) throws(BitstreamError) {
      slope = try reader.u12("trim_slope")
      offset = try reader.u12("trim_offset")
      power = try reader.u12("trim_power")
      chromaWeight = try reader.u12("trim_chroma_weight")
      saturationGain = try reader.u12("trim_saturation_gain")
    }

    func write(to writer: inout BitWriter) {
      for value in [slope, offset, power, chromaWeight, saturationGain] { writer.u(12, UInt32(value)) }
    }
  }

  /// Chromaticities of a display: x and y of red, green, blue and white, in steps of 1/32767; eight numbers.
  public struct Primaries: Sendable, Hashable {
    /// x and y of red, green, blue and white.
    public var coordinates: [Int16]

    /// Creates primaries; values beyond the eighth are left out, and missing ones are 0.
    public init(_ coordinates: [Int16]) {
      self.coordinates = Array((coordinates + [Int16](repeating: 0, count: 8)).prefix(8))
    }

    init(_ reader: inout BitReader) throws(BitstreamError) {
      coordinates = []
      for _ in 0..<8 { coordinates.append(Int16(bitPattern: try reader.u16("display_primary"))) }
    }

    func write(to writer: inout BitWriter) {
      for coordinate in Primaries(coordinates).coordinates { writer.u(16, UInt32(UInt16(bitPattern: coordinate))) }
    }
  }
}

extension BitReader {
  /// Reads `u(12)`.
  fileprivate mutating func u12(_ element: StaticString) throws(BitstreamError) -> UInt16 {
    UInt16(truncatingIfNeeded: try u(12, element))
  }

  /// Reads `u(13)`.
  fileprivate mutating func u13(_ element: StaticString) throws(BitstreamError) -> UInt16 {
    UInt16(truncatingIfNeeded: try u(13, element))
  }
}

extension DolbyVision.MetadataBlock {
  /// The fields of a block of a known level. Luminances are PQ codes of 12 bits.
  public enum Content: Sendable, Hashable {
    /// Level 1: `min_PQ`, `max_PQ` and `avg_PQ` of the picture.
    case level1(minimum: UInt16, maximum: UInt16, average: UInt16)
    /// Level 2: `target_max_PQ`, a trim for displays of this luminance, and `ms_weight`, −1 to 4095.
    case level2(targetMaximum: UInt16, DolbyVision.Trim, multiscaleWeight: Int16)
    /// Level 3: offsets to level 1, plus 2048.
    case level3(minimumOffset: UInt16, maximumOffset: UInt16, averageOffset: UInt16)
    /// Level 4: `anchor_PQ` and `anchor_power` for a filter over time.
    case level4(anchor: UInt16, power: UInt16)
    /// Level 5: `active_area_…_offset`: the bars around the picture, in luma samples; 0 to 8191.
    case level5(left: UInt16, right: UInt16, top: UInt16, bottom: UInt16)
    /// Level 6: the mastering display, in cd/m² and 0.0001 cd/m², and the light levels, in cd/m².
    case level6(
      maximumLuminance: UInt16, minimumLuminance: UInt16, maximumContentLight: UInt16, maximumAverageLight: UInt16)
    /// Level 8: a trim for the target display of an index.
    case level8(Level8)
    /// Level 9: `source_primary_index`, and the primaries for index 255; nil if they are not sent.
    case level9(primaryIndex: UInt8, DolbyVision.Primaries?)
    /// Level 10: a target display: its index, luminances, `target_primary_index`, and primaries if they are sent.
    case level10(
      displayIndex: UInt8, maximum: UInt16, minimum: UInt16, primaryIndex: UInt8, DolbyVision.Primaries?)
    /// Level 11: the type of content.
    case level11(Level11)
    /// Level 254: `dm_mode` and `dm_version_index`.
    case level254(mode: UInt8, version: UInt8)
    /// Level 255: `dm_run_mode`, `dm_run_version` and `dm_debug`, four numbers.
    case level255(runMode: UInt8, runVersion: UInt8, debug: [UInt8])

    /// `ext_block_level`.
    public var level: UInt8 {
      switch self {
      case .level1: 1
      case .level2: 2
      case .level3: 3
      case .level4: 4
      case .level5: 5
      case .level6: 6
      case .level8: 8
      case .level9: 9
      case .level10: 10
      case .level11: 11
      case .level254: 254
      case .level255: 255
      }
    }
  }

  /// Level 8, whose block is longer the more fields it has.
  public struct Level8: Sendable, Hashable {
    /// `target_display_index`.
    public var displayIndex: UInt8
    /// The trim.
    public var trim: DolbyVision.Trim
    /// `ms_weight`, 0 to 4095.
    public var multiscaleWeight: UInt16
    /// `target_mid_contrast`, 0 to 4095; nil in blocks of 10 bytes.
    public var midContrast: UInt16?
    /// `clip_trim`, 0 to 4095; nil in blocks of up to 12 bytes.
    public var clipTrim: UInt16?
    /// `saturation_vector_field`: six; nil in blocks of up to 13 bytes.
    public var saturation: [UInt8]?
    /// `hue_vector_field`: six; nil in blocks of up to 19 bytes.
    public var hue: [UInt8]?

    /// Creates a trim for a display. A field has all fields in front of it.
    public init(
      displayIndex: UInt8, trim: DolbyVision.Trim = DolbyVision.Trim(), multiscaleWeight: UInt16 = 2048,
      midContrast: UInt16? = nil, clipTrim: UInt16? = nil, saturation: [UInt8]? = nil, hue: [UInt8]? = nil
    ) {
      self.displayIndex = displayIndex
      self.trim = trim
      self.multiscaleWeight = multiscaleWeight
      (self.midContrast, self.clipTrim, self.saturation, self.hue) = (midContrast, clipTrim, saturation, hue)
    }

    fileprivate init(_ reader: inout BitReader, length: Int) throws(BitstreamError) {
      displayIndex = try reader.byte("target_display_index")
      trim = try DolbyVision.Trim(&reader)
      multiscaleWeight = try reader.u12("ms_weight")
      if length >= 12 { midContrast = try reader.u12("target_mid_contrast") }
      if length >= 13 { clipTrim = try reader.u12("clip_trim") }
      if length >= 19 { saturation = try reader.bytes(6, "saturation_vector_field") }
      if length >= 25 { hue = try reader.bytes(6, "hue_vector_field") }
    }

    fileprivate func write(to writer: inout BitWriter) {
      writer.u(8, UInt32(displayIndex))
      trim.write(to: &writer)
      writer.u(12, UInt32(multiscaleWeight))
      let hasVectors = saturation != nil || hue != nil
      if midContrast != nil || clipTrim != nil || hasVectors { writer.u(12, UInt32(midContrast ?? 0)) }
      if clipTrim != nil || hasVectors { writer.u(12, UInt32(clipTrim ?? 0)) }
      // 128 changes nothing.
      let neutral = [UInt8](repeating: 128, count: 6)
      if hasVectors { writer.append(((saturation ?? []) + neutral).prefix(6)) }
      if let hue { writer.append((hue + neutral).prefix(6)) }
    }
  }

  /// Level 11: the type of content, and what displays should do to it.
  public struct Level11: Sendable, Hashable {
    /// `content_type`.
    public var contentType: UInt8
    /// `whitepoint`, 0 to 15.
    public var whitePoint: UInt8
    /// `reference_mode_flag`.
    public var isReferenceMode: Bool
    /// Three reserved bits.
    public var reserved: UInt8
    /// `sharpness`, 0 to 3, as all of the following.
    public var sharpness: UInt8
    /// `noise_reduction`.
    public var noiseReduction: UInt8
    /// `mpeg_noise_reduction`.
    public var mpegNoiseReduction: UInt8
    /// `frame_rate_conversion`.
    public var frameRateConversion: UInt8
    /// `brightness`.
    public var brightness: UInt8
    /// `color`.
    public var colour: UInt8

    /// Creates the type of content without wishes for displays.
    public init(contentType: UInt8, whitePoint: UInt8 = 0, isReferenceMode: Bool = false) {
      (self.contentType, self.whitePoint, self.isReferenceMode) = (contentType, whitePoint & 0xF, isReferenceMode)
      (reserved, sharpness, noiseReduction, mpegNoiseReduction) = (0, 0, 0, 0)
      (frameRateConversion, brightness, colour) = (0, 0, 0)
    }

    fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
      contentType = try reader.byte("content_type")
      whitePoint = try reader.u8(4, "whitepoint")
      isReferenceMode = try reader.flag("reference_mode_flag")
      reserved = try reader.u8(3, "reserved")
      sharpness = try reader.u8(2, "sharpness")
      noiseReduction = try reader.u8(2, "noise_reduction")
      mpegNoiseReduction = try reader.u8(2, "mpeg_noise_reduction")
      frameRateConversion = try reader.u8(2, "frame_rate_conversion")
      brightness = try reader.u8(2, "brightness")
      colour = try reader.u8(2, "color")
    }

    fileprivate func write(to writer: inout BitWriter) {
      writer.u(8, UInt32(contentType))
      writer.u(4, UInt32(whitePoint))
      writer.flag(isReferenceMode)
      writer.u(3, UInt32(reserved))
      for value in [sharpness, noiseReduction, mpegNoiseReduction, frameRateConversion, brightness, colour] {
        writer.u(2, UInt32(value))
      }
    }
  }
}

extension DolbyVision.MetadataBlock.Content {
  /// - Parameter length: of the block, in bytes.
  /// - Returns: nil for an unknown level.
  fileprivate init?(_ reader: inout BitReader, level: UInt8, length: Int) throws(BitstreamError) {
    switch level {
    case 1:
      let (minimum, maximum) = (try reader.u12("min_PQ"), try reader.u12("max_PQ"))
      self = .level1(minimum: minimum, maximum: maximum, average: try reader.u12("avg_PQ"))
    case 2:
      let target = try reader.u12("target_max_PQ")
      let trim = try DolbyVision.Trim(&reader)
      // i(13): the sign is the first bit.
      let weight = Int16(bitPattern: try reader.u13("ms_weight") << 3) >> 3
      self = .level2(targetMaximum: target, trim, multiscaleWeight: weight)
    case 3:
      let (minimum, maximum) = (try reader.u12("min_PQ_offset"), try reader.u12("max_PQ_offset"))
      self = .level3(minimumOffset: minimum, maximumOffset: maximum, averageOffset: try reader.u12("avg_PQ_offset"))
    case 4:
      let anchor = try reader.u12("anchor_PQ")
      self = .level4(anchor: anchor, power: try reader.u12("anchor_power"))
    case 5:
      let left = try reader.u13("active_area_left_offset")
      let right = try reader.u13("active_area_right_offset")
      let top = try reader.u13("active_area_top_offset")
      self = .level5(left: left, right: right, top: top, bottom: try reader.u13("active_area_bottom_offset"))
    case 6:
      let maximum = try reader.u16("max_display_mastering_luminance")
      let minimum = try reader.u16("min_display_mastering_luminance")
      let light = try reader.u16("max_content_light_level")
      self = .level6(
        maximumLuminance: maximum, minimumLuminance: minimum, maximumContentLight: light,
        maximumAverageLight: try reader.u16("max_frame_average_light_level"))
    case 8: self = .level8(try DolbyVision.MetadataBlock.Level8(&reader, length: length))
    case 9:
      let index = try reader.byte("source_primary_index")
      let primaries = length >= 17 ? try DolbyVision.Primaries(&reader) : nil
      self = .level9(primaryIndex: index, primaries)
    case 10:
      let display = try reader.byte("target_display_index")
      let (maximum, minimum) = (try reader.u12("target_max_PQ"), try reader.u12("target_min_PQ"))
      let index = try reader.byte("target_primary_index")
      let primaries = length >= 21 ? try DolbyVision.Primaries(&reader) : nil
      self = .level10(displayIndex: display, maximum: maximum, minimum: minimum, primaryIndex: index, primaries)
    case 11: self = .level11(try DolbyVision.MetadataBlock.Level11(&reader))
    case 254:
      let mode = try reader.byte("dm_mode")
      self = .level254(mode: mode, version: try reader.byte("dm_version_index"))
    case 255:
      let (mode, version) = (try reader.byte("dm_run_mode"), try reader.byte("dm_run_version"))
      self = .level255(runMode: mode, runVersion: version, debug: try reader.bytes(4, "dm_debug"))
    default: return nil
    }
  }

  /// Writes the fields, without the bits that fill the block.
  fileprivate func write(to writer: inout BitWriter) {
    switch self {
    case .level1(let first, let second, let third), .level3(let first, let second, let third):
      for value in [first, second, third] { writer.u(12, UInt32(value)) }
    case .level2(let target, let trim, let weight):
      writer.u(12, UInt32(target))
      trim.write(to: &writer)
      writer.u(13, UInt32(UInt16(bitPattern: weight)))
    case .level4(let anchor, let power):
      writer.u(12, UInt32(anchor))
      writer.u(12, UInt32(power))
    case .level5(let left, let right, let top, let bottom):
      for value in [left, right, top, bottom] { writer.u(13, UInt32(value)) }
    case .level6(let maximum, let minimum, let light, let average):
      for value in [maximum, minimum, light, average] { writer.u(16, UInt32(value)) }
    case .level8(let level8): level8.write(to: &writer)
    case .level9(let index, let primaries):
      writer.u(8, UInt32(index))
      primaries?.write(to: &writer)
    case .level10(let display, let maximum, let minimum, let index, let primaries):
      writer.u(8, UInt32(display))
      writer.u(12, UInt32(maximum))
      writer.u(12, UInt32(minimum))
      writer.u(8, UInt32(index))
      primaries?.write(to: &writer)
    case .level11(let level11): level11.write(to: &writer)
    case .level254(let mode, let version):
      writer.append([mode, version])
    case .level255(let mode, let version, let debug):
      writer.append([mode, version])
      writer.append((debug + [0, 0, 0, 0]).prefix(4))
    }
  }
}
