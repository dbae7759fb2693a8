// SPDX-License-Identifier: MPL-2.0

/// Inspects whole access units one by one, and keeps the state that the next one needs: parameter sets and the last
/// field.
public protocol AccessUnitInspecting: Sendable {
  /// The codec of the stream.
  associatedtype Codec: VideoCodecSyntax

  /// Creates an inspector, with parameter sets from out of band if there are any.
  init(parameterSets: Codec.ParameterSets)
  /// The parameter sets received so far, including in-band sets.
  var parameterSets: Codec.ParameterSets { get set }
  /// Takes parameter sets from out of band; unreadable sets are ignored.
  mutating func insert(_ nalUnits: [[UInt8]])
  /// Forgets the picture before, as after a seek. Parameter sets are kept.
  mutating func reset()
  /// Inspects one access unit.
  ///
  /// - Parameters:
  ///   - bytes: the whole access unit.
  ///   - packaging: its packaging.
  ///   - depth: how far to read the first slice header.
  /// - Returns: its contents. ``AccessUnitInfo/error`` reports damage.
  mutating func inspect(_ bytes: Span<UInt8>, packaging: NALPackaging, depth: SliceHeaderDepth) -> AccessUnitInfo<Codec>
}

extension AccessUnitInspecting {
  /// Inspects one access unit, reading the slice header at depth ``SliceHeaderDepth/pictureIdentity``.
  public mutating func inspect(_ bytes: Span<UInt8>, packaging: NALPackaging) -> AccessUnitInfo<Codec> {
    inspect(bytes, packaging: packaging, depth: .pictureIdentity)
  }
}
