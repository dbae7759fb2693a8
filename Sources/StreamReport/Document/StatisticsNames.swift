// SPDX-License-Identifier: MPL-2.0
package import H26x
package import Slices

/// The names of the areas of ``PictureStatistics`` in documents.
package enum StatisticsNames {
  /// Those of ``PictureStatistics/kindAreas``.
  package static func kinds() -> [StaticString] { BlockKind.allCases.map { $0.name } }

  /// Those of ``PictureStatistics/sizeAreas``.
  package static func sizes() -> [StaticString] { ["8", "16", "32", "64"] }

  /// Those of ``PictureStatistics/partitionAreas``.
  package static func partitions(_ codec: FormatDescription.Codec) -> [StaticString] {
    switch codec {
    case .h264: ["16x16", "16x8", "8x16", "8x8", "8x4", "4x8", "4x4"]
    case .h265: BlockPartition.allCases.dropLast().map { $0.name }
    }
  }

  /// Those of ``PictureStatistics/intraSizeAreas``.
  package static func intraSizes() -> [StaticString] { ["4", "8", "16", "32", "64"] }

  /// Those of ``PictureStatistics/transformAreas``.
  package static func transforms() -> [StaticString] { ["4", "8", "16", "32"] }
}

extension PictureStatistics {
  /// The areas by reference index of a list, up to the last that is used.
  package func referenceAreas(ofList list: Int) -> [UInt64] {
    var count = 0
    for index in 0..<32 where referenceAreas[32 * list + index] > 0 { count = index + 1 }
    return (0..<count).map { referenceAreas[32 * list + $0] }
  }
}

extension BlockRecord {
  /// The coded reference indices of a list, by quarter; one if all are equal, and none if no quarter has one.
  package func references(ofList list: Int) -> [Int8] {
    let first = references[4 * list]
    for quarter in 1..<4 where references[4 * list + quarter] != first {
      return (0..<4).map { references[4 * list + $0] }
    }
    return first < 0 ? [] : [first]
  }
}
