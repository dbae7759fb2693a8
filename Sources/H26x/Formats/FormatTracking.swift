// SPDX-License-Identifier: MPL-2.0

/// Reads the format of each access unit before it is decoded: follows parameter sets, in-band and out of band, and
/// finds the SPS of an access unit's first slice.
package protocol FormatTracking: Sendable {
  /// The codec of the stream.
  associatedtype Codec: ElementCodecSyntax

  /// Creates a tracker without parameter sets.
  ///
  /// - Parameter nalLengthSize: size of the stream's length prefixes; nil for start codes.
  init(nalLengthSize: NALLengthSize?)
  /// The parameter sets received so far.
  var parameterSets: Codec.ParameterSets { get }
  /// The format of the last access unit; nil until a slice came with its parameter sets.
  var format: FormatDescription? { get }
  /// Whether the active SPS has a VUI, whose absent fields have inferred values (H.264 E.2.1, H.265 E.3.1).
  var hasVUI: Bool { get }
  /// Size of the stream's length prefixes; nil for start codes.
  var nalLengthSize: NALLengthSize? { get }
  /// Mastering display and content light level, by the SEI so far, followed only on demand.
  var display: DisplayMetadata { get }
  /// Whether ``display`` is followed.
  var followsDisplay: Bool { get set }
  /// Takes parameter sets from out of band; unreadable ones are ignored.
  ///
  /// The first SPS describes the format until an access unit says otherwise.
  mutating func insert(_ nalUnits: [[UInt8]])
  /// Reads an access unit as far as its first slice.
  mutating func inspect(_ accessUnit: Span<UInt8>) -> FormatSummary<Codec.NALUnitType>
}

extension FormatTracking {
  /// What it finds in an access unit.
  package typealias Summary = FormatSummary<Codec.NALUnitType>
}

/// What a ``FormatTracking`` found in an access unit.
package struct FormatSummary<NALUnitType: NALUnitTypeSyntax>: Sendable, Hashable {
  /// The format differs from the last access unit's.
  package var formatChanged = false
  /// ``FormatTracking/display`` differs from the last access unit's.
  package var displayChanged = false
  /// There is a slice, whether or not its parameter sets are known.
  package var hasSlice = false
  /// The first slice refers to parameter sets that never came.
  package var lacksParameterSets = false
  /// The first slice is of an IDR picture.
  package var isIDR = false
  /// The first slice is of a picture whose type marks a random access point: IDR, in H.265 every IRAP picture.
  package var isRandomAccessPoint = false
  /// The picture is one field.
  package var isField = false
  /// How the picture was scanned, as far as its coding tells; nil when the first slice cannot be read.
  package var scan: PictureScan?
  /// `nal_unit_type` of the first slice.
  package var sliceType: NALUnitType?
  /// NAL units up to and including the first slice.
  package var nalUnitCount = 0
}
