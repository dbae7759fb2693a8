// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Looks at whole access units of an H.265 stream one by one.
  public struct Inspector: AccessUnitInspecting {
    public typealias Codec = H265

    private var inspector: H26x.AccessUnitInspector<H265>

    public init(parameterSets: ParameterSets = ParameterSets()) {
      inspector = H26x.AccessUnitInspector(parameterSets: parameterSets)
    }

    public var parameterSets: ParameterSets {
      get { inspector.parameterSets }
      set { inspector.parameterSets = newValue }
    }
    public mutating func reset() { inspector.reset() }
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
