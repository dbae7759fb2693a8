// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Inspects whole access units of an H.265 stream, one by one.
  public struct Inspector: AccessUnitInspecting {
    /// H.265.
    public typealias Codec = H265

    private var inspector: H26x.AccessUnitInspector<H265>

    /// Creates an inspector, with parameter sets from out of band if there are any.
    public init(parameterSets: ParameterSets = ParameterSets()) {
      inspector = H26x.AccessUnitInspector(parameterSets: parameterSets)
    }

    /// The parameter sets received so far.
    public var parameterSets: ParameterSets {
      get { inspector.parameterSets }
      set { inspector.parameterSets = newValue }
    }
    /// Forgets the picture before, as after a seek. Parameter sets are kept.
    public mutating func reset() { inspector.reset() }
    /// Inspects one access unit.
    ///
    /// - Parameters:
    ///   - bytes: the whole access unit.
    ///   - packaging: its packaging.
    ///   - depth: how far to read the first slice header.
    /// - Returns: what it holds. ``AccessUnitInfo/error`` reports damage.
    public mutating func inspect(
      _ bytes: Span<UInt8>, packaging: NALPackaging, depth: SliceHeaderDepth
    ) -> AccessUnitInfo {
      inspector.inspect(bytes, packaging: packaging, depth: depth)
    }
  }

  /// What ``Inspector`` finds in an access unit.
  public typealias AccessUnitInfo = H26x.AccessUnitInfo<H265>
  /// The inspector.
  public typealias AccessUnitInspector = Inspector
}
