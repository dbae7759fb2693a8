// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Looks at whole access units of an H.265 stream one by one.
  public struct Inspector: AccessUnitInspecting {
    /// Whose stream it looks at.
    public typealias Codec = H265

    private var inspector: H26x.AccessUnitInspector<H265>

    /// Creates an inspector, with the parameter sets from out of band if there are any.
    public init(parameterSets: ParameterSets = ParameterSets()) {
      inspector = H26x.AccessUnitInspector(parameterSets: parameterSets)
    }

    /// VPS, SPS and PPS so far.
    public var parameterSets: ParameterSets {
      get { inspector.parameterSets }
      set { inspector.parameterSets = newValue }
    }
    /// Starts over, as after a seek.
    public mutating func reset() { inspector.reset() }
    /// Looks at one access unit.
    ///
    /// - Parameters:
    ///   - bytes: the whole access unit.
    ///   - packaging: how its NAL units are packed.
    ///   - depth: how far to read the first slice header.
    /// - Returns: what it holds. Nothing is thrown: damage is told in ``AccessUnitInfo/error``.
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
