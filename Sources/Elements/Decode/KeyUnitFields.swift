// SPDX-License-Identifier: MPL-2.0
import H26x

/// Which access units make the key units of trick modes: where a keyframe is coded in two fields, its second field
/// belongs to it, although that is no sync point and mostly refers to the first one.
struct KeyUnitFields<Codec: DecoderCodec> {
  private var fields = FieldPairing<Codec>()
  /// A keyframe's first field has come, and its second one may be next.
  private(set) var awaitsSecondField = false

  /// Takes the next access unit; returns whether it is a key unit, or a part of one.
  ///
  /// - Parameter parameterSets: those before it.
  mutating func take(
    _ accessUnit: Span<UInt8>, isSyncPoint: Bool, packaging: NALPackaging, parameterSets: Codec.ParameterSets
  ) -> Bool {
    guard isSyncPoint || awaitsSecondField else { return false }
    var inspector = Codec.Inspector(parameterSets: parameterSets)
    let slice = inspector.inspect(accessUnit, packaging: packaging).slice
    let isSecondField = slice.map { fields.isSecond($0) } ?? false
    awaitsSecondField = isSyncPoint && !isSecondField && (slice?.isField ?? false)
    if !awaitsSecondField { fields = FieldPairing() }
    return isSyncPoint || isSecondField
  }
}
