// SPDX-License-Identifier: MPL-2.0

extension DolbyVision {
  /// The mapping of a picture: the last part of `rpu_data_header()` and `vdr_rpu_data_payload()` (ETSI GS CCM 001,
  /// 5.3.2 and 5.3.3).
  public struct Mapping: Sendable, Hashable {
    /// `vdr_rpu_id`, 0 to 15: the number by which later pictures refer to the mapping.
    public var id: UInt32
    /// `mapping_color_space`; 0 for YCbCr.
    public var colourSpace: UInt32
    /// `mapping_chroma_format_idc`; 0 for 4:2:0.
    public var chromaFormat: UInt32
    /// The curves of the three components.
    public var curves: [Curve]
    /// The use of the enhancement layer (NLQ); nil if there is none.
    public var residual: Residual?

    /// The curve of a component, in pieces.
    public struct Curve: Sendable, Hashable {
      /// `pred_pivot_value`: the first value of the first piece, then differences; 2 to 9.
      public var pivots: [UInt16]
      /// The pieces between pivots, one fewer than those.
      public var pieces: [Piece]

      /// Creates a curve.
      public init(pivots: [UInt16], pieces: [Piece]) { (self.pivots, self.pieces) = (pivots, pieces) }
    }

    /// A piece of a curve (`rpu_data_mapping_param()`).
    public enum Piece: Sendable, Hashable {
      /// `poly_coef`: two for a line, three for a parabola, that of the lowest power first.
      case polynomial([Coefficient])
      /// `pred_linear_interp_value`: the value at the first pivot; in a curve's last piece also that at the last one.
      case interpolation([Coefficient])
      /// `MMR_constant` and `MMR_coef`: multivariate multiple regression of order 1 to 3, seven coefficients each.
      case regression(constant: Coefficient, coefficients: [[Coefficient]])
    }

    /// Nonlinear inverse quantization of the enhancement layer (`rpu_data_nlq()`), with a linear dead zone.
    public struct Residual: Sendable, Hashable {
      /// `NLQ_pred_pivot_value`: two.
      public var pivots: [UInt16]
      /// The parameters of the three components.
      public var components: [Component]

      /// Creates parameters.
      public init(pivots: [UInt16], components: [Component]) { (self.pivots, self.components) = (pivots, components) }

      /// The parameters of a component (`rpu_data_nlq_param()`).
      public struct Component: Sendable, Hashable {
        /// `NLQ_offset`.
        public var offset: UInt16
        /// `vdr_in_max`.
        public var maximum: Coefficient
        /// `linear_deadzone_slope`.
        public var slope: Coefficient
        /// `linear_deadzone_threshold`.
        public var threshold: Coefficient

        /// Creates parameters.
        public init(offset: UInt16, maximum: Coefficient, slope: Coefficient, threshold: Coefficient) {
          (self.offset, self.maximum, self.slope, self.threshold) = (offset, maximum, slope, threshold)
        }

        /// Whether the residual does nothing.
        var isMinimal: Bool {
          let zero = Coefficient(integer: 0)
          return offset == 0 && maximum == Coefficient(integer: 1) && slope == zero && threshold == zero
        }
      }
    }

    /// Creates a mapping.
    public init(id: UInt32 = 0, curves: [Curve], residual: Residual? = nil) {
      (self.id, colourSpace, chromaFormat) = (id, 0, 0)
      self.curves = curves
      self.residual = residual
    }

    // MARK: Reading

    /// - Throws: `.unsupported` for methods and partitions whose syntax is not public, and if the fields of an earlier
    ///   picture are needed.
    init(_ reader: inout BitReader, _ header: Header) throws(BitstreamError) {
      guard let sequence = header.sequence else {
        throw BitstreamError(.unsupported, "vdr_seq_info_present_flag", bitOffset: reader.bitOffset)
      }
      // Formats without depths do not say how long pivots are.
      guard let layers = sequence.layers else {
        throw BitstreamError(.unsupported, "rpu_format", bitOffset: reader.bitOffset)
      }
      id = try reader.ue(in: 0...15, "vdr_rpu_id")
      colourSpace = try reader.ue(in: 0...UInt32.max - 1, "mapping_color_space")
      chromaFormat = try reader.ue(in: 0...UInt32.max - 1, "mapping_chroma_format_idc")
      let depth = Int(layers.baseDepthMinus8) + 8
      curves = []
      for _ in 0..<3 {
        let count = try reader.ue(in: 0...7, "num_pivots_minus2") + 2
        var pivots: [UInt16] = []
        for _ in 0..<count { pivots.append(UInt16(truncatingIfNeeded: try reader.u(depth, "pred_pivot_value"))) }
        curves.append(Curve(pivots: pivots, pieces: []))
      }
      if !layers.isResidualDisabled {
        try Self.expectZero(try reader.u(3, "NLQ_method_idc"), "NLQ_method_idc", reader.bitOffset - 3)
        var pivots: [UInt16] = []
        for _ in 0..<2 { pivots.append(UInt16(truncatingIfNeeded: try reader.u(depth, "NLQ_pred_pivot_value"))) }
        residual = Residual(pivots: pivots, components: [])
      }
      for element: StaticString in ["num_x_partitions_minus1", "num_y_partitions_minus1"] {
        let place = reader.bitOffset
        try Self.expectZero(try reader.ue(in: 0...UInt32.max - 1, element), element, place)
      }
      for index in curves.indices {
        let count = curves[index].pivots.count - 1
        for piece in 1...count {
          curves[index].pieces.append(try Self.piece(&reader, sequence.coefficients, isLast: piece == count))
        }
      }
      guard residual != nil else { return }
      for _ in 0..<3 {
        residual?.components.append(try Self.component(&reader, sequence.coefficients, depth: layers.enhancementDepth))
      }
    }

    private static func expectZero(
      _ value: UInt32, _ element: StaticString, _ place: Int
    ) throws(BitstreamError) {
      if value != 0 { throw BitstreamError(.unsupported, element, bitOffset: place) }
    }

    private static func piece(
      _ reader: inout BitReader, _ type: Header.CoefficientType, isLast: Bool
    ) throws(BitstreamError) -> Piece {
      let place = reader.bitOffset
      switch try reader.ue(in: 0...UInt32.max - 1, "mapping_idc") {
      case 0: return try polynomial(&reader, type, isLast: isLast)
      case 1: return try regression(&reader, type)
      default: throw BitstreamError(.unsupported, "mapping_idc", bitOffset: place)
      }
    }

    private static func polynomial(
      _ reader: inout BitReader, _ type: Header.CoefficientType, isLast: Bool
    ) throws(BitstreamError) -> Piece {
      let order = try reader.ue(in: 0...1, "poly_order_minus1") + 1
      let isInterpolated = order == 1 ? try reader.flag("linear_interp_flag") : false
      var coefficients: [Coefficient] = []
      if isInterpolated {
        for _ in 0..<(isLast ? 2 : 1) {
          coefficients.append(
            try Coefficient(unsigned: &reader, type, "pred_linear_interp_value_int", "pred_linear_interp_value"))
        }
        return .interpolation(coefficients)
      }
      for _ in 0...order { coefficients.append(try Coefficient(signed: &reader, type, "poly_coef_int", "poly_coef")) }
      return .polynomial(coefficients)
    }

    private static func regression(
      _ reader: inout BitReader, _ type: Header.CoefficientType
    ) throws(BitstreamError) -> Piece {
      let place = reader.bitOffset
      let order = try reader.u(2, "MMR_order_minus1") + 1
      guard order <= 3 else { throw BitstreamError(.valueOutOfRange, "MMR_order_minus1", bitOffset: place) }
      let constant = try Coefficient(signed: &reader, type, "MMR_constant_int", "MMR_constant")
      var coefficients: [[Coefficient]] = []
      for _ in 0..<order {
        var row: [Coefficient] = []
        for _ in 0..<7 { row.append(try Coefficient(signed: &reader, type, "MMR_coef_int", "MMR_coef")) }
        coefficients.append(row)
      }
      return .regression(constant: constant, coefficients: coefficients)
    }

    private static func component(
      _ reader: inout BitReader, _ type: Header.CoefficientType, depth: Int
    ) throws(BitstreamError) -> Residual.Component {
      let offset = UInt16(truncatingIfNeeded: try reader.u(depth, "NLQ_offset"))
      let maximum = try Coefficient(unsigned: &reader, type, "vdr_in_max_int", "vdr_in_max")
      let slope = try Coefficient(unsigned: &reader, type, "linear_deadzone_slope_int", "linear_deadzone_slope")
      let threshold = try Coefficient(
        unsigned: &reader, type, "linear_deadzone_threshold_int", "linear_deadzone_threshold")
      return Residual.Component(offset: offset, maximum: maximum, slope: slope, threshold: threshold)
    }

    // MARK: Writing

    /// - Throws: `.valueOutOfRange` for numbers of curves, pivots, pieces or coefficients that the syntax does not
    ///   have, or if header and residual do not fit.
    func write(to writer: inout BitWriter, _ header: Header) throws(BitstreamError) {
      guard let sequence = header.sequence, let layers = sequence.layers else {
        throw BitstreamError(.unsupported, "vdr_seq_info_present_flag", bitOffset: writer.bitCount)
      }
      guard curves.count == 3, layers.isResidualDisabled == (residual == nil) else {
        throw BitstreamError(.valueOutOfRange, "disable_residual_flag", bitOffset: writer.bitCount)
      }
      writer.ue(id)
      writer.ue(colourSpace)
      writer.ue(chromaFormat)
      let depth = Int(layers.baseDepthMinus8) + 8
      for curve in curves {
        guard 2...9 ~= curve.pivots.count, curve.pieces.count == curve.pivots.count - 1 else {
          throw BitstreamError(.valueOutOfRange, "num_pivots_minus2", bitOffset: writer.bitCount)
        }
        writer.ue(UInt32(curve.pivots.count - 2))
        for pivot in curve.pivots { writer.u(depth, UInt32(pivot)) }
      }
      if let residual {
        guard residual.pivots.count == 2, residual.components.count == 3 else {
          throw BitstreamError(.valueOutOfRange, "NLQ_pred_pivot_value", bitOffset: writer.bitCount)
        }
        writer.u(3, 0)
        for pivot in residual.pivots { writer.u(depth, UInt32(pivot)) }
      }
      // One partition in both directions.
      writer.ue(0)
      writer.ue(0)
      for curve in curves {
        for (index, piece) in curve.pieces.enumerated() {
          try Self.write(piece, to: &writer, sequence.coefficients, isLast: index == curve.pieces.count - 1)
        }
      }
      for component in residual?.components ?? [] {
        writer.u(layers.enhancementDepth, UInt32(component.offset))
        for coefficient in [component.maximum, component.slope, component.threshold] {
          coefficient.write(unsigned: &writer, sequence.coefficients)
        }
      }
    }

    private static func write(
      _ piece: Piece, to writer: inout BitWriter, _ type: Header.CoefficientType, isLast: Bool
    ) throws(BitstreamError) {
      switch piece {
      case .polynomial(let coefficients):
        guard 2...3 ~= coefficients.count else {
          throw BitstreamError(.valueOutOfRange, "poly_order_minus1", bitOffset: writer.bitCount)
        }
        writer.ue(0)
        writer.ue(UInt32(coefficients.count - 2))
        if coefficients.count == 2 { writer.flag(false) }
        for coefficient in coefficients { coefficient.write(signed: &writer, type) }
      case .interpolation(let values):
        guard values.count == (isLast ? 2 : 1) else {
          throw BitstreamError(.valueOutOfRange, "linear_interp_flag", bitOffset: writer.bitCount)
        }
        writer.ue(0)
        writer.ue(0)
        writer.flag(true)
        for value in values { value.write(unsigned: &writer, type) }
      case .regression(let constant, let coefficients):
        guard 1...3 ~= coefficients.count, coefficients.allSatisfy({ $0.count == 7 }) else {
          throw BitstreamError(.valueOutOfRange, "MMR_order_minus1", bitOffset: writer.bitCount)
        }
        writer.ue(1)
        writer.u(2, UInt32(coefficients.count - 1))
        constant.write(signed: &writer, type)
        for row in coefficients {
          for coefficient in row { coefficient.write(signed: &writer, type) }
        }
      }
    }
  }
}
