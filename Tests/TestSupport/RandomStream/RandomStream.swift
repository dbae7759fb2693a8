// SPDX-License-Identifier: MPL-2.0
public import H26x

/// A stream with valid syntax and random meaning. Types of pictures, picture order and references are random. Leading
/// pictures, parameter sets, recovery points and ends of sequence come in any order. Slices are lost or repeated.
///
/// Pictures have 32 × 32 or 64 × 32 samples.
public protocol RandomStream {
  /// Begins a stream.
  init(_ decisions: inout some DecisionSource)

  /// The NAL units of the parameter sets that the stream begins with.
  var parameterSets: [[UInt8]] { get }

  /// The format of these parameter sets, packaged as Annex B.
  var format: FormatDescription? { get }

  /// The NAL units of the next access unit. Rarely it holds no picture.
  mutating func nextAccessUnit(_ decisions: inout some DecisionSource) -> [[UInt8]]
}

extension RandomStream {
  /// Loses, repeats and exchanges slices, once in a while.
  static func damaged(_ slices: [[UInt8]], _ decisions: inout some DecisionSource) -> [[UInt8]] {
    guard decisions.oneIn(10) else { return slices }
    var slices = slices
    let index = decisions.below(slices.count)
    switch decisions.below(4) {
    case 0: slices.remove(at: index)
    case 1: slices.append(slices[index])
    case 2: slices.swapAt(0, index)
    default: slices[index].removeLast(min(slices[index].count - 1, 1 + decisions.below(12)))
    }
    return slices
  }
}
