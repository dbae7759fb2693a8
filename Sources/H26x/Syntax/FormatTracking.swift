// SPDX-License-Identifier: MPL-2.0

/// Knows the format of each access unit before it is decoded: follows parameter sets, in-band and out of band, and
/// finds the SPS that an access unit's first slice is coded with.
package protocol FormatTracking: Sendable {
  /// Whose stream it follows.
  associatedtype Codec: ElementCodecSyntax

  /// Creates a tracker that knows no parameter sets.
  ///
  /// - Parameter nalLengthSize: how access units are packaged; nil for start codes.
  init(nalLengthSize: NALLengthSize?)
  /// The parameter sets received so far.
  var parameterSets: Codec.ParameterSets { get }
  /// The format of the last access unit; nil as long as no slice had its parameter sets.
  var format: FormatDescription? { get }
  /// Whether the SPS in force has a VUI, whose absent fields then have their inferred values (E.2.1).
  var hasVUI: Bool { get }
  /// How access units are packaged; nil for start codes.
  var nalLengthSize: NALLengthSize? { get }
  /// How the picture is meant to be shown, by the SEI of the access units so far; kept up only on demand.
  var display: DisplayMetadata { get }
  /// Whether ``display`` is kept up.
  var followsDisplay: Bool { get set }
  /// Takes parameter sets from out of band; those that cannot be read are left out.
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
  /// The format differs from the access unit's before.
  package var formatChanged = false
  /// What SEI says of how to show the pictures differs from the access unit's before.
  package var displayChanged = false
  /// There is a slice, whether or not its parameter sets are known.
  package var hasSlice = false
  /// The first slice names parameter sets that were never sent.
  package var lacksParameterSets = false
  /// The first slice is of an IDR picture.
  package var isIDR = false
  /// The first slice is of a picture at which decoding may begin by its type: IDR, in H.265 every IRAP picture.
  package var isRandomAccessPoint = false
  /// The picture is one field.
  package var isField = false
  /// How the picture is scanned, as far as the way it is coded tells; nil when the first slice cannot be read.
  package var scan: PictureScan?
  /// `nal_unit_type` of the first slice.
  package var sliceType: NALUnitType?
  /// NAL units up to and including the first slice.
  package var nalUnitCount = 0
}
