// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Knows the format of each access unit of an H.264 stream before it is decoded.
  public struct Tracker: FormatTracking {
    /// H.264.
    public typealias Codec = H264

    private var tracker: H26x.FormatTracker<H264>

    /// Creates a tracker that knows no parameter sets.
    public init(nalLengthSize: NALLengthSize?) { tracker = H26x.FormatTracker(nalLengthSize: nalLengthSize) }

    /// The parameter sets received so far.
    public var parameterSets: ParameterSets { tracker.parameterSets }
    /// The format of the last access unit; nil as long as no slice had its parameter sets.
    public var format: FormatDescription? { tracker.format }
    /// Whether the SPS in force has a VUI.
    public var hasVUI: Bool { tracker.hasVUI }
    /// How access units are packaged; nil for start codes.
    public var nalLengthSize: NALLengthSize? { tracker.nalLengthSize }
    /// How the picture is meant to be shown; kept up only on demand.
    public var display: DisplayMetadata { tracker.display }
    /// Whether ``display`` is kept up.
    public var followsDisplay: Bool {
      get { tracker.followsDisplay }
      set { tracker.followsDisplay = newValue }
    }
    /// Takes parameter sets from out of band; those that cannot be read are left out.
    public mutating func insert(_ nalUnits: [[UInt8]]) { tracker.insert(nalUnits) }
    /// Reads an access unit as far as its first slice.
    public mutating func inspect(_ accessUnit: Span<UInt8>) -> FormatSummary<NALUnitType> {
      tracker.inspect(accessUnit)
    }
  }

  /// The tracker.
  public typealias FormatTracker = Tracker
  /// How a picture was scanned.
  public typealias PictureScan = H26x.PictureScan
}
