// SPDX-License-Identifier: MPL-2.0

/// Dynamic metadata of HDR10+ (SMPTE ST 2094-40; `user_data_registered_itu_t_t35()` of CTA-861-H, annex S).
///
/// It has the luminance of a scene, and a curve to map it to displays. Bits behind the syntax of versions 0 and 1 are
/// kept.
public struct HDR10PlusMetadata: Sendable, Hashable {
  /// `application_version`: 0 or 1.
  public var version: UInt8
  /// The windows that are processed apart: 1 to 3. The first is the whole picture.
  public var windows: [Window]
  /// `targeted_system_display_maximum_luminance`, in cd/m²; 0 to 10,000.
  public var targetedMaximumLuminance: UInt32
  /// `targeted_system_display_actual_peak_luminance`; nil if it is not sent.
  public var targetedPeakLuminance: PeakLuminance?
  /// `mastering_display_actual_peak_luminance`; nil if it is not sent.
  public var masteringPeakLuminance: PeakLuminance?
  /// The bits behind the last window, up to the end of the message.
  public var trailingBits = UnreadBits()

  /// A window, with the luminance of its pixels.
  public struct Window: Sendable, Hashable {
    /// Its place; nil in the first window.
    public var region: Region?
    /// `maxscl`: the maxima of red, green and blue, in 0.1 cd/m²; three numbers.
    public var maximumComponents: [UInt32]
    /// `average_maxrgb`, in 0.1 cd/m².
    public var averageMaximum: UInt32
    /// `distribution_maxrgb_percentages` and `distribution_maxrgb_percentiles`, 15 at most.
    public var distribution: [Percentile]
    /// `fraction_bright_pixels`, in steps of 0.001.
    public var fractionBrightPixels: UInt16
    /// The curve for displays; nil if `tone_mapping_flag` is 0.
    public var toneMapping: ToneMapping?
    /// `color_saturation_weight`, in steps of an eighth; nil if `color_saturation_mapping_flag` is 0.
    public var colourSaturationWeight: UInt8?

    /// Creates a window without pixels.
    public init(region: Region? = nil) {
      self.region = region
      (maximumComponents, averageMaximum, distribution, fractionBrightPixels) = ([0, 0, 0], 0, [], 0)
    }
  }

  /// A rectangle and an ellipse in it.
  public struct Region: Sendable, Hashable {
    /// `window_upper_left_corner_x` and `_y`, in samples.
    public var upperLeft: Point
    /// `window_lower_right_corner_x` and `_y`, in samples.
    public var lowerRight: Point
    /// `center_of_ellipse_x` and `_y`, in samples.
    public var centre: Point
    /// `rotation_angle`, in degrees, clockwise; 0 to 180.
    public var rotationAngle: UInt8
    /// `semimajor_axis_internal_ellipse`, in samples.
    public var internalSemimajorAxis: UInt16
    /// `semimajor_axis_external_ellipse`, in samples.
    public var externalSemimajorAxis: UInt16
    /// `semiminor_axis_external_ellipse`, in samples.
    public var externalSemiminorAxis: UInt16
    /// `overlap_process_option`: whether windows that overlap are layered, rather than weighted.
    public var isLayered: Bool

    /// Creates a region.
    public init(
      upperLeft: Point, lowerRight: Point, centre: Point, rotationAngle: UInt8 = 0, internalSemimajorAxis: UInt16,
      externalSemimajorAxis: UInt16, externalSemiminorAxis: UInt16, isLayered: Bool = false
    ) {
      (self.upperLeft, self.lowerRight, self.centre) = (upperLeft, lowerRight, centre)
      self.rotationAngle = rotationAngle
      self.internalSemimajorAxis = internalSemimajorAxis
      self.externalSemimajorAxis = externalSemimajorAxis
      self.externalSemiminorAxis = externalSemiminorAxis
      self.isLayered = isLayered
    }
  }

  /// A place in the picture, in samples.
  public struct Point: Sendable, Hashable {
    /// From the left edge.
    public var x: UInt16
    /// From the upper edge.
    public var y: UInt16

    /// Creates a point.
    public init(x: UInt16, y: UInt16) { (self.x, self.y) = (x, y) }
  }

  /// A share of the pixels, and the luminance that they do not exceed.
  public struct Percentile: Sendable, Hashable {
    /// `distribution_maxrgb_percentages`, in percent.
    public var percentage: UInt8
    /// `distribution_maxrgb_percentiles`, in 0.1 cd/m².
    public var luminance: UInt32

    /// Creates a percentile.
    public init(percentage: UInt8, luminance: UInt32) { (self.percentage, self.luminance) = (percentage, luminance) }
  }

  /// Peak luminances of the parts of a display.
  public struct PeakLuminance: Sendable, Hashable {
    /// The number of rows, 0 to 31; 2 to 25 are legal.
    public var rows: UInt8
    /// The number of columns, 0 to 31; 2 to 25 are legal.
    public var columns: UInt8
    /// The values, row by row, in steps of a 15th of the maximum.
    public var values: [UInt8]

    /// Creates luminances; values beyond the rows and columns are left out, and missing ones are 0.
    public init(rows: UInt8, columns: UInt8, values: [UInt8]) {
      self.rows = rows & 31
      self.columns = columns & 31
      let count = Int(self.rows) * Int(self.columns)
      self.values = Array(values.prefix(count)) + [UInt8](repeating: 0, count: max(count - values.count, 0))
    }
  }

  /// A curve: a line up to the knee point, a Bézier curve behind it.
  public struct ToneMapping: Sendable, Hashable {
    /// `knee_point_x`, in steps of 1/4095.
    public var kneePointX: UInt16
    /// `knee_point_y`, in steps of 1/4095.
    public var kneePointY: UInt16
    /// `bezier_curve_anchors`, in steps of 1/1023; 15 at most.
    public var anchors: [UInt16]

    /// Creates a curve.
    public init(kneePointX: UInt16, kneePointY: UInt16, anchors: [UInt16]) {
      (self.kneePointX, self.kneePointY, self.anchors) = (kneePointX, kneePointY, anchors)
    }
  }

  /// What displays get of the metadata (HDR10+ System Whitepaper, 3.3).
  public enum Profile: Sendable, Hashable {
    /// The luminance of scenes only.
    case a
    /// A curve, too.
    case b

    /// "A" or "B".
    public var name: StaticString {
      switch self {
      case .a: "A"
      case .b: "B"
      }
    }
  }

  /// Creates metadata of a whole picture.
  public init(
    version: UInt8 = 1, windows: [Window] = [Window()], targetedMaximumLuminance: UInt32 = 0,
    targetedPeakLuminance: PeakLuminance? = nil, masteringPeakLuminance: PeakLuminance? = nil
  ) {
    self.version = version
    self.windows = windows
    self.targetedMaximumLuminance = targetedMaximumLuminance
    self.targetedPeakLuminance = targetedPeakLuminance
    self.masteringPeakLuminance = masteringPeakLuminance
  }

  /// The profile; nil if the metadata fit neither.
  public var profile: Profile? {
    guard let window = windows.first else { return nil }
    switch (window.toneMapping, targetedMaximumLuminance) {
    case (nil, 0): return .a
    case (let curve?, 1...) where !curve.anchors.isEmpty: return .b
    default: return nil
    }
  }

  // MARK: Reading

  /// Samsung's provider code, oriented code 1, application 4.
  static var prefix: [UInt8] { [0x00, 0x3C, 0x00, 0x01, 0x04] }

  /// Reads a message for which ``RegisteredUserData/isHDR10Plus`` is true.
  ///
  /// - Parameters:
  ///   - userData: the message.
  ///   - trace: records the syntax elements; nil for no record. Their places count from the provider code on.
  /// - Throws: `.unsupported` for other user data and other versions; `.valueOutOfRange` without a window;
  ///   `.truncated`.
  public init(_ userData: RegisteredUserData, trace: SyntaxTrace? = nil) throws(BitstreamError) {
    guard userData.isHDR10Plus else { throw BitstreamError(.unsupported, "application_identifier", bitOffset: 32) }
    var reader = BitReader(userData.data.span, removesEmulationPrevention: false, trace: trace)
    _ = try reader.u(16, "itu_t_t35_terminal_provider_code")
    _ = try reader.u(16, "itu_t_t35_terminal_provider_oriented_code")
    _ = try reader.byte("application_identifier")
    version = try reader.byte("application_version")
    guard version <= 1 else { throw BitstreamError(.unsupported, "application_version", bitOffset: 40) }
    let count = try reader.u(2, "num_windows")
    guard count > 0 else { throw BitstreamError(.valueOutOfRange, "num_windows", bitOffset: 48) }
    windows = [Window()]
    for _ in 1..<count { windows.append(Window(region: try Self.region(&reader))) }
    targetedMaximumLuminance = try reader.u(27, "targeted_system_display_maximum_luminance")
    targetedPeakLuminance = try Self.peakLuminance(&reader, .targetedDisplay)
    for index in windows.indices { try Self.readLuminance(&reader, of: &windows[index]) }
    masteringPeakLuminance = try Self.peakLuminance(&reader, .masteringDisplay)
    for index in windows.indices {
      windows[index].toneMapping = try Self.toneMapping(&reader)
      let isWeighted = try reader.flag("color_saturation_mapping_flag")
      windows[index].colourSaturationWeight = isWeighted ? try reader.u8(6, "color_saturation_weight") : nil
    }
    trailingBits = try UnreadBits(&reader, "itu_t_t35_payload_byte")
  }

  private static func point(
    _ reader: inout BitReader, _ x: StaticString, _ y: StaticString
  ) throws(BitstreamError) -> Point {
    let left = try reader.u16(x)
    return Point(x: left, y: try reader.u16(y))
  }

  private static func region(_ reader: inout BitReader) throws(BitstreamError) -> Region {
    let upperLeft = try point(&reader, "window_upper_left_corner_x", "window_upper_left_corner_y")
    let lowerRight = try point(&reader, "window_lower_right_corner_x", "window_lower_right_corner_y")
    let centre = try point(&reader, "center_of_ellipse_x", "center_of_ellipse_y")
    let angle = try reader.byte("rotation_angle")
    let inner = try reader.u16("semimajor_axis_internal_ellipse")
    let outer = try reader.u16("semimajor_axis_external_ellipse")
    let minor = try reader.u16("semiminor_axis_external_ellipse")
    return Region(
      upperLeft: upperLeft, lowerRight: lowerRight, centre: centre, rotationAngle: angle, internalSemimajorAxis: inner,
      externalSemimajorAxis: outer, externalSemiminorAxis: minor, isLayered: try reader.flag("overlap_process_option"))
  }

  /// The names of the syntax elements of peak luminances.
  private enum PeakLuminanceNames {
    case targetedDisplay
    case masteringDisplay

    var flag: StaticString {
      switch self {
      case .targetedDisplay: "targeted_system_display_actual_peak_luminance_flag"
      case .masteringDisplay: "mastering_display_actual_peak_luminance_flag"
      }
    }

    var rows: StaticString {
      switch self {
      case .targetedDisplay: "num_rows_targeted_system_display_actual_peak_luminance"
      case .masteringDisplay: "num_rows_mastering_display_actual_peak_luminance"
      }
    }

    var columns: StaticString {
      switch self {
      case .targetedDisplay: "num_cols_targeted_system_display_actual_peak_luminance"
      case .masteringDisplay: "num_cols_mastering_display_actual_peak_luminance"
      }
    }

    var value: StaticString {
      switch self {
      case .targetedDisplay: "targeted_system_display_actual_peak_luminance"
      case .masteringDisplay: "mastering_display_actual_peak_luminance"
      }
    }
  }

  private static func peakLuminance(
    _ reader: inout BitReader, _ names: PeakLuminanceNames
  ) throws(BitstreamError) -> PeakLuminance? {
    guard try reader.flag(names.flag) else { return nil }
    let rows = try reader.u8(5, names.rows)
    let columns = try reader.u8(5, names.columns)
    var values: [UInt8] = []
    for _ in 0..<Int(rows) * Int(columns) { values.append(try reader.u8(4, names.value)) }
    return PeakLuminance(rows: rows, columns: columns, values: values)
  }

  private static func readLuminance(_ reader: inout BitReader, of window: inout Window) throws(BitstreamError) {
    for index in 0..<3 { window.maximumComponents[index] = try reader.u(17, "maxscl") }
    window.averageMaximum = try reader.u(17, "average_maxrgb")
    let count = try reader.u(4, "num_distribution_maxrgb_percentiles")
    for _ in 0..<count {
      let percentage = try reader.u8(7, "distribution_maxrgb_percentages")
      let luminance = try reader.u(17, "distribution_maxrgb_percentiles")
      window.distribution.append(Percentile(percentage: percentage, luminance: luminance))
    }
    window.fractionBrightPixels = UInt16(truncatingIfNeeded: try reader.u(10, "fraction_bright_pixels"))
  }

  private static func toneMapping(_ reader: inout BitReader) throws(BitstreamError) -> ToneMapping? {
    guard try reader.flag("tone_mapping_flag") else { return nil }
    let x = UInt16(truncatingIfNeeded: try reader.u(12, "knee_point_x"))
    let y = UInt16(truncatingIfNeeded: try reader.u(12, "knee_point_y"))
    let count = try reader.u(4, "num_bezier_curve_anchors")
    var anchors: [UInt16] = []
    for _ in 0..<count { anchors.append(UInt16(truncatingIfNeeded: try reader.u(10, "bezier_curve_anchors"))) }
    return ToneMapping(kneePointX: x, kneePointY: y, anchors: anchors)
  }

  // MARK: Writing

  /// The message: the inverse of ``init(_:trace:)``. Zero bits fill its last byte.
  ///
  /// - Throws: `.valueOutOfRange` if there is no window, a window but the first has no region, or there are more
  ///   windows, percentiles or anchors than their counts can express.
  public func userData() throws(BitstreamError) -> RegisteredUserData {
    guard 1...3 ~= windows.count else { throw BitstreamError(.valueOutOfRange, "num_windows", bitOffset: 48) }
    var writer = BitWriter(addsEmulationPrevention: false)
    writer.append(Self.prefix)
    writer.u(8, UInt32(version))
    writer.u(2, UInt32(windows.count))
    for window in windows.dropFirst() {
      guard let region = window.region else {
        throw BitstreamError(.valueOutOfRange, "window_upper_left_corner_x", bitOffset: writer.bitCount)
      }
      Self.write(region, to: &writer)
    }
    writer.u(27, targetedMaximumLuminance)
    Self.write(targetedPeakLuminance, to: &writer)
    for window in windows { try Self.writeLuminance(of: window, to: &writer) }
    Self.write(masteringPeakLuminance, to: &writer)
    for window in windows {
      writer.flag(window.toneMapping != nil)
      if let curve = window.toneMapping { try Self.write(curve, to: &writer) }
      writer.flag(window.colourSaturationWeight != nil)
      if let weight = window.colourSaturationWeight { writer.u(6, UInt32(weight)) }
    }
    trailingBits.write(to: &writer)
    writer.align()
    return RegisteredUserData(countryCode: 0xB5, data: writer.bytes)
  }

  private static func write(_ region: Region, to writer: inout BitWriter) {
    for point in [region.upperLeft, region.lowerRight, region.centre] {
      writer.u(16, UInt32(point.x))
      writer.u(16, UInt32(point.y))
    }
    writer.u(8, UInt32(region.rotationAngle))
    writer.u(16, UInt32(region.internalSemimajorAxis))
    writer.u(16, UInt32(region.externalSemimajorAxis))
    writer.u(16, UInt32(region.externalSemiminorAxis))
    writer.flag(region.isLayered)
  }

  private static func write(_ luminance: PeakLuminance?, to writer: inout BitWriter) {
    writer.flag(luminance != nil)
    guard let luminance else { return }
    // A caller may have changed the numbers without the values.
    let whole = PeakLuminance(rows: luminance.rows, columns: luminance.columns, values: luminance.values)
    writer.u(5, UInt32(whole.rows))
    writer.u(5, UInt32(whole.columns))
    for value in whole.values { writer.u(4, UInt32(value)) }
  }

  private static func writeLuminance(of window: Window, to writer: inout BitWriter) throws(BitstreamError) {
    guard window.maximumComponents.count == 3 else {
      throw BitstreamError(.valueOutOfRange, "maxscl", bitOffset: writer.bitCount)
    }
    for maximum in window.maximumComponents { writer.u(17, maximum) }
    writer.u(17, window.averageMaximum)
    guard window.distribution.count <= 15 else {
      throw BitstreamError(.valueOutOfRange, "num_distribution_maxrgb_percentiles", bitOffset: writer.bitCount)
    }
    writer.u(4, UInt32(window.distribution.count))
    for percentile in window.distribution {
      writer.u(7, UInt32(percentile.percentage))
      writer.u(17, percentile.luminance)
    }
    writer.u(10, UInt32(window.fractionBrightPixels))
  }

  private static func write(_ curve: ToneMapping, to writer: inout BitWriter) throws(BitstreamError) {
    writer.u(12, UInt32(curve.kneePointX))
    writer.u(12, UInt32(curve.kneePointY))
    guard curve.anchors.count <= 15 else {
      throw BitstreamError(.valueOutOfRange, "num_bezier_curve_anchors", bitOffset: writer.bitCount)
    }
    writer.u(4, UInt32(curve.anchors.count))
    for anchor in curve.anchors { writer.u(10, UInt32(anchor)) }
  }
}
