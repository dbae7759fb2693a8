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

    /// Creates an inspector without parameter sets that follows the stream's format, too.
    ///
    /// - Parameter nalLengthSize: size of the stream's length prefixes; nil for start codes.
    package init(nalLengthSize: NALLengthSize?) {
      inspector = H26x.AccessUnitInspector(nalLengthSize: nalLengthSize)
    }

    /// The parameter sets received so far, including in-band sets.
    public var parameterSets: ParameterSets {
      get { inspector.parameterSets }
      set { inspector.replaceParameterSets(newValue) }
    }
    /// The format of the last access unit; nil until a slice came with its parameter sets.
    package var format: FormatDescription? { inspector.format }
    /// Whether the active SPS has a VUI.
    package var hasVUI: Bool { inspector.hasVUI }
    /// Takes parameter sets from out of band; unreadable sets are ignored.
    public mutating func insert(_ nalUnits: [[UInt8]]) { inspector.insert(nalUnits) }
    /// Forgets the picture before, as after a seek. Parameter sets are kept.
    public mutating func reset() { inspector.reset() }
    /// Inspects one access unit.
    ///
    /// - Parameters:
    ///   - bytes: the whole access unit.
    ///   - packaging: its packaging.
    ///   - depth: how far to read the first slice header.
    /// - Returns: its contents. ``AccessUnitInfo/error`` reports damage.
    public mutating func inspect(
      _ bytes: Span<UInt8>, packaging: NALPackaging, depth: SliceHeaderDepth
    ) -> AccessUnitInfo {
      inspector.inspect(bytes, packaging: packaging, depth: depth)
    }
  }

  /// The findings of ``Inspector`` in an access unit.
  public typealias AccessUnitInfo = H26x.AccessUnitInfo<H265>
  /// The inspector.
  public typealias AccessUnitInspector = Inspector
}

extension H265.Inspector: FormatTracking {}
