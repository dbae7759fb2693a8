// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Knows the format of each access unit of an H.265 stream before it is decoded.
  package struct Tracker: FormatTracking {
    /// Whose stream it looks at.
    package typealias Codec = H265

    private var tracker: H26x.FormatTracker<H265>

    /// Creates a tracker that knows no parameter sets.
    package init(nalLengthSize: NALLengthSize?) { tracker = H26x.FormatTracker(nalLengthSize: nalLengthSize) }

    /// VPS, SPS and PPS so far.
    package var parameterSets: ParameterSets { tracker.parameterSets }
    /// The format of the last access unit; nil as long as no slice had its parameter sets.
    package var format: FormatDescription? { tracker.format }
    /// Whether the SPS in force has a VUI, whose absent fields then have their inferred values (E.2.1).
    package var hasVUI: Bool { tracker.hasVUI }
    /// How NAL units are packed: bytes of length in front, or nil for start codes.
    package var nalLengthSize: NALLengthSize? { tracker.nalLengthSize }
    /// How the picture is meant to be shown, by the SEI of the access units so far; kept up only on demand.
    package var display: DisplayMetadata { tracker.display }
    /// Whether `display` is kept up.
    package var followsDisplay: Bool {
      get { tracker.followsDisplay }
      set { tracker.followsDisplay = newValue }
    }
    /// Takes parameter sets from out of band; those that cannot be read are left out.
    ///
    /// The first SPS describes the format until an access unit says otherwise.
    package mutating func insert(_ nalUnits: [[UInt8]]) { tracker.insert(nalUnits) }
    /// Reads an access unit as far as its first slice, and takes the parameter sets and SEI on the way.
    ///
    /// - Parameter accessUnit: the whole access unit, packed as the tracker was told.
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
