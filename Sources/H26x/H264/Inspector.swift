// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Inspects whole access units of an H.264 stream, one by one.
  public struct Inspector: AccessUnitInspecting {
    /// H.264.
    public typealias Codec = H264

    private var inspector: H26x.AccessUnitInspector<H264>

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
    /// Inspects one access unit; see ``AccessUnitInspecting``.
    public mutating func inspect(
      _ bytes: Span<UInt8>, packaging: NALPackaging, depth: SliceHeaderDepth
    ) -> AccessUnitInfo {
      inspector.inspect(bytes, packaging: packaging, depth: depth)
    }
  }

  /// The findings of ``Inspector`` in an access unit.
  public typealias AccessUnitInfo = H26x.AccessUnitInfo<H264>
  /// The inspector.
  public typealias AccessUnitInspector = Inspector
}

extension H264.Inspector: FormatTracking {}
