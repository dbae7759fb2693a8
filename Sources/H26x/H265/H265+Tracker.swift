// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Reads the format of each access unit of an H.265 stream before it is decoded.
  package struct Tracker: FormatTracking {
    /// H.265.
    package typealias Codec = H265

    private var tracker: H26x.FormatTracker<H265>

    /// Creates a tracker without parameter sets.
    package init(nalLengthSize: NALLengthSize?) { tracker = H26x.FormatTracker(nalLengthSize: nalLengthSize) }

    /// The parameter sets received so far.
    package var parameterSets: ParameterSets { tracker.parameterSets }
    /// The format of the last access unit; nil until a slice came with its parameter sets.
    package var format: FormatDescription? { tracker.format }
    /// Whether the active SPS has a VUI, whose absent fields have inferred values (E.3.1).
    package var hasVUI: Bool { tracker.hasVUI }
    /// Size of the stream's length prefixes; nil for start codes.
    package var nalLengthSize: NALLengthSize? { tracker.nalLengthSize }
    /// Mastering display and content light level, by the SEI so far, followed only on demand.
    package var display: DisplayMetadata { tracker.display }
    /// Whether `display` is followed.
    package var followsDisplay: Bool {
      get { tracker.followsDisplay }
      set { tracker.followsDisplay = newValue }
    }
    /// Takes parameter sets from out of band; unreadable ones are ignored.
    ///
    /// The first SPS describes the format until an access unit says otherwise.
    package mutating func insert(_ nalUnits: [[UInt8]]) { tracker.insert(nalUnits) }
    /// Reads an access unit as far as its first slice, with its parameter sets and SEI.
    ///
    /// - Parameter accessUnit: the whole access unit, packaged as ``nalLengthSize`` says.
    /// - Returns: what its first slice says, and whether the format has changed with it.
    package mutating func inspect(_ accessUnit: Span<UInt8>) -> FormatSummary<NALUnitType> {
      tracker.inspect(accessUnit)
    }
  }

  /// The tracker.
  package typealias FormatTracker = Tracker
  /// How a picture was scanned.
  package typealias PictureScan = H26x.PictureScan
}
