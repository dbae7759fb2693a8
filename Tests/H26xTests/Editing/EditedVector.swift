// SPDX-License-Identifier: MPL-2.0

import H26x

/// What the tests of the editor need of a codec.
protocol EditedCodec: StreamEditing {
  /// The syntax elements of an SPS.
  static func trace(sps: [UInt8]) throws -> [String: Int64]
  /// `nal_unit_type` of an SPS.
  static var spsType: UInt8 { get }
  /// The name of the matrix.
  static var matrix: String { get }
  /// Of the ticks, units and scale; and how many of them a frame lasts.
  static var ticks: (units: String, scale: String) { get }
  static func ticksPerFrame(_ sps: [String: Int64]) -> Int64
}

extension H264: EditedCodec {
  static func trace(sps: [UInt8]) throws -> [String: Int64] {
    let trace = SyntaxTrace()
    _ = try H264.SequenceParameterSet(nalUnit: sps.span, trace: trace)
    return trace.values
  }
  static var spsType: UInt8 { 7 }
  static var matrix: String { "matrix_coefficients" }
  static var ticks: (units: String, scale: String) { ("num_units_in_tick", "time_scale") }
  static func ticksPerFrame(_ sps: [String: Int64]) -> Int64 { 2 }
}

extension H265: EditedCodec {
  static func trace(sps: [UInt8]) throws -> [String: Int64] {
    let trace = SyntaxTrace()
    _ = try H265.SequenceParameterSet(nalUnit: sps.span, trace: trace)
    return trace.values
  }
  static var spsType: UInt8 { 33 }
  static var matrix: String { "matrix_coeffs" }
  static var ticks: (units: String, scale: String) { ("vui_num_units_in_tick", "vui_time_scale") }
  static func ticksPerFrame(_ sps: [String: Int64]) -> Int64 { sps["field_seq_flag"] == 1 ? 2 : 1 }
}

extension SyntaxTrace {
  /// The last value of each name.
  var values: [String: Int64] {
    elements.reduce(into: [:]) { $0[$1.name.description] = $1.value }
  }
}

/// An edit, what the SPS must then hold, and the edit that undoes it.
struct EditCase<Codec: EditedCodec>: Sendable {
  let edit: StreamEdit
  /// Expected values, nil for elements that are to be absent.
  let expected: @Sendable (_ before: [String: Int64]) -> [String: Int64?]
  /// The edit that gives an SPS its values back; nil where the SPS had none.
  let inverse: @Sendable (_ before: [String: Int64]) -> StreamEdit?

  static func code(_ values: [String: Int64], _ name: String) -> UInt8? { values[name].map { UInt8(clamping: $0) } }

  static func colour(_ values: [String: Int64]) -> ColourDescription? {
    guard let primaries = code(values, "colour_primaries"), let transfer = code(values, "transfer_characteristics"),
      let matrix = code(values, Codec.matrix)
    else { return nil }
    return ColourDescription(primaries: primaries, transfer: transfer, matrix: matrix)
  }

  static var all: [EditCase] {
    let undoColour: @Sendable ([String: Int64]) -> StreamEdit? = { before in
      if let colour = colour(before) { return .colour(colour) }
      return before["video_format"] != nil ? .colour(nil) : .removeVideoSignal
    }
    return [
      EditCase(
        edit: .colour(ColourDescription(primaries: 9, transfer: 16, matrix: 9)),
        expected: { _ in ["colour_primaries": 9, "transfer_characteristics": 16, Codec.matrix: 9] },
        inverse: undoColour),
      EditCase(
        edit: .primaries(12),
        expected: {
          [
            "colour_primaries": 12, "transfer_characteristics": $0["transfer_characteristics"] ?? 2,
            Codec.matrix: $0[Codec.matrix] ?? 2,
          ]
        }, inverse: undoColour),
      EditCase(edit: .transfer(18), expected: { _ in ["transfer_characteristics": 18] }, inverse: undoColour),
      EditCase(edit: .matrix(6), expected: { _ in [Codec.matrix: 6] }, inverse: undoColour),
      EditCase(
        edit: .fullRange(true), expected: { _ in ["video_full_range_flag": 1] },
        inverse: { $0["video_full_range_flag"].map { .fullRange($0 == 1) } ?? .removeVideoSignal }),
      EditCase(
        edit: .videoFormat(1), expected: { _ in ["video_format": 1] },
        inverse: { code($0, "video_format").map { .videoFormat($0) } ?? .removeVideoSignal }),
      EditCase(
        edit: .removeVideoSignal, expected: { _ in ["video_format": nil, "colour_primaries": nil] },
        inverse: { $0["video_format"] == nil ? .removeVideoSignal : nil }),
      EditCase(
        edit: .chromaLocation(ChromaLocation(topField: 2, bottomField: 3)),
        expected: { _ in ["chroma_sample_loc_type_top_field": 2, "chroma_sample_loc_type_bottom_field": 3] },
        inverse: { before in
          guard let top = code(before, "chroma_sample_loc_type_top_field"),
            let bottom = code(before, "chroma_sample_loc_type_bottom_field")
          else { return .chromaLocation(nil) }
          return .chromaLocation(ChromaLocation(topField: top, bottomField: bottom))
        }),
      EditCase(
        edit: .sampleAspectRatio(Ratio(64, 45)),
        expected: { _ in ["aspect_ratio_idc": 255, "sar_width": 64, "sar_height": 45] },
        inverse: { before in
          guard let code = before["aspect_ratio_idc"] else { return .sampleAspectRatio(nil) }
          let table: [(UInt32, UInt32)] = [(1, 1), (12, 11), (10, 11), (16, 11), (40, 33)]
          guard 1...5 ~= code else { return nil }
          return .sampleAspectRatio(Ratio(table[Int(code) - 1].0, table[Int(code) - 1].1))
        }),
      EditCase(
        edit: .sampleAspectRatio(Ratio(8, 6)), expected: { _ in ["aspect_ratio_idc": 14, "sar_width": nil] },
        inverse: { $0["aspect_ratio_idc"] == nil ? .sampleAspectRatio(nil) : nil }),
      EditCase(
        edit: .overscanAppropriate(true), expected: { _ in ["overscan_appropriate_flag": 1] },
        inverse: { before in .overscanAppropriate(before["overscan_appropriate_flag"].map { $0 == 1 }) }),
      EditCase(
        edit: .frameRate(Ratio(15000, 1001)),
        expected: { before in
          [Codec.ticks.units: 1001, Codec.ticks.scale: 15000 * Codec.ticksPerFrame(before)]
        },
        inverse: { before in
          before[Codec.ticks.units] == nil && before["bit_rate_scale"] == nil ? .frameRate(nil) : nil
        }),
    ]
  }
}
