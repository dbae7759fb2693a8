// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Reads the format of each access unit of an H.264 stream before it is decoded.
  package struct Tracker: FormatTracking {
    /// H.264.
    package typealias Codec = H264

    private var tracker: H26x.FormatTracker<H264>

    /// Creates a tracker without parameter sets.
    package init(nalLengthSize: NALLengthSize?) { tracker = H26x.FormatTracker(nalLengthSize: nalLengthSize) }

    /// The parameter sets received so far.
    package var parameterSets: ParameterSets { tracker.parameterSets }
    /// The format of the last access unit; nil until a slice came with its parameter sets.
    package var format: FormatDescription? { tracker.format }
    /// Whether the active SPS has a VUI.
    package var hasVUI: Bool { tracker.hasVUI }
    /// Size of the stream's length prefixes; nil for start codes.
    package var nalLengthSize: NALLengthSize? { tracker.nalLengthSize }
    /// Mastering display and content light level, followed only on demand.
    package var display: DisplayMetadata { tracker.display }
    /// Whether ``display`` is followed.
    package var followsDisplay: Bool {
      get { tracker.followsDisplay }
      set { tracker.followsDisplay = newValue }
    }
    /// Takes parameter sets from out of band; unreadable ones are ignored.
    package mutating func insert(_ nalUnits: [[UInt8]]) { tracker.insert(nalUnits) }
    /// Reads an access unit as far as its first slice.
    package mutating func inspect(_ accessUnit: Span<UInt8>) -> FormatSummary<NALUnitType> {
      tracker.inspect(accessUnit)
    }
  }

  /// The tracker.
  package typealias FormatTracker = Tracker
  /// How a picture was scanned.
  package typealias PictureScan = H26x.PictureScan
}
