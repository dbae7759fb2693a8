// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Knows the format of each access unit of an H.265 stream before it is decoded.
  public struct Tracker: FormatTracking {
    public typealias Codec = H265

    private var tracker: H26x.FormatTracker<H265>

    public init(nalLengthSize: NALLengthSize?) { tracker = H26x.FormatTracker(nalLengthSize: nalLengthSize) }

    public var parameterSets: ParameterSets { tracker.parameterSets }
    public var format: FormatDescription? { tracker.format }
    public var hasVUI: Bool { tracker.hasVUI }
    public var nalLengthSize: NALLengthSize? { tracker.nalLengthSize }
    public var display: DisplayMetadata { tracker.display }
    public var followsDisplay: Bool {
      get { tracker.followsDisplay }
      set { tracker.followsDisplay = newValue }
    }
    public mutating func insert(_ nalUnits: [[UInt8]]) { tracker.insert(nalUnits) }
    public mutating func inspect(_ accessUnit: Span<UInt8>) -> FormatSummary<NALUnitType> {
      tracker.inspect(accessUnit)
    }
  }

  /// The tracker.
  public typealias FormatTracker = Tracker
  /// How a picture was scanned.
  public typealias PictureScan = H26x.PictureScan
}
