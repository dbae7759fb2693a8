// SPDX-License-Identifier: MPL-2.0

import H26x

/// A syntax element with its value.
struct NamedValue: Hashable, CustomStringConvertible {
  let name: String
  var value: Int64
  var description: String { "\(name)=\(value)" }
}

extension [NamedValue] {
  init(_ trace: SyntaxTrace) { self = trace.elements.map { NamedValue(name: $0.name.description, value: $0.value) } }

  /// The elements with another value of one of them.
  func replacing(_ name: String, _ value: some BinaryInteger) -> Self {
    map { $0.name == name ? NamedValue(name: name, value: Int64(value)) : $0 }
  }

  /// The elements without some of them.
  func without(_ names: Set<String>) -> Self { filter { !names.contains($0.name) } }
}

/// The syntax elements of a slice header of H.264.
func syntax(of nalUnit: [UInt8], _ sets: H264.ParameterSets) throws(BitstreamError) -> [NamedValue] {
  let trace = SyntaxTrace()
  _ = try H264.WholeSliceHeader(nalUnit: nalUnit.span, parameterSets: sets, trace: trace)
  return .init(trace)
}

/// The syntax elements of a slice segment header of H.265.
func syntax(of nalUnit: [UInt8], _ sets: H265.ParameterSets) throws(BitstreamError) -> [NamedValue] {
  let trace = SyntaxTrace()
  _ = try H265.WholeSliceHeader(nalUnit: nalUnit.span, parameterSets: sets, trace: trace)
  return .init(trace)
}

/// The values of a slice header of H.264.
func values(of nalUnit: [UInt8], _ sets: H264.ParameterSets) throws(BitstreamError) -> H264.SliceHeaderValues {
  try H264.SliceHeaderValues(H264.WholeSliceHeader(nalUnit: nalUnit.span, parameterSets: sets))
}

extension H264.SliceRewriter {
  /// A rewriter to the same parameter sets with other ids.
  init(_ source: H264.ParameterSets, picture: [UInt8: UInt8], sequence: [UInt8: UInt8]) throws {
    let identifiers = ParameterSetIdentifiers(picture: picture, sequence: sequence)
    var target = H264.ParameterSets()
    for unit in source.nalUnits {
      let moved = try H264.rewritten(parameterSet: unit.span, identifiers)
      try target.insert(moved.span)
    }
    self.init(from: source, to: target, identifiers: identifiers)
  }

  func rewritten(
    _ nalUnit: [UInt8], _ change: (inout H264.SliceHeaderValues) throws(BitstreamError) -> Void = { _ in }
  ) throws(BitstreamError) -> [UInt8] { try rewritten(nalUnit.span, change) }
}

extension H265.SliceSegmentRewriter {
  func rewritten(_ nalUnit: [UInt8], _ change: Change = Change()) throws(BitstreamError) -> [UInt8] {
    try rewritten(nalUnit.span, change)
  }
}

extension ParameterSetIdentifiers {
  init(picture: [UInt8: UInt8] = [:], sequence: [UInt8: UInt8] = [:], video: [UInt8: UInt8] = [:]) {
    self.init()
    for (old, new) in picture { self[PictureParameterSetID(old)] = .init(new) }
    for (old, new) in sequence { self[SequenceParameterSetID(old)] = .init(new) }
    for (old, new) in video { self[VideoParameterSetID(old)] = .init(new) }
  }
}

extension H264.SliceHeaderValues.References {
  /// Removes memory management operations. If none is left, the marking becomes that of a sliding window (8.2.5.3).
  ///
  /// - Parameter isRemoved: whether to remove an operation, by its place among all of them.
  mutating func removeOperations(
    where isRemoved: (Int, H264.ReferenceSyntax.ReferenceMarking.Operation) -> Bool
  ) {
    guard case .adaptive(let operations) = marking, !operations.isEmpty else { return }
    let kept = operations.indices.filter { !isRemoved($0, operations[$0]) }.map { operations[$0] }
    marking = kept.isEmpty ? .slidingWindow : .adaptive(kept)
  }
}
