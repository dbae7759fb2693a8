// SPDX-License-Identifier: MPL-2.0

extension H265.PictureParameterSet.Tiles {
  /// `CtbAddrRsToTs` (6.5.1): the place of a coding tree block of the picture, counted tile by tile.
  ///
  /// - Parameters:
  ///   - address: counted in raster scan of the picture, below `width` × `height`.
  ///   - width: `PicWidthInCtbsY`, 1 or more.
  ///   - height: `PicHeightInCtbsY`.
  func tileScanAddress(of address: Int, width: Int, height: Int) -> Int {
    let (x, y) = (address % width, address / width)
    let column = Self.span(around: x, of: width, count: Int(columnCount), sizes: sizes?.widths)
    let row = Self.span(around: y, of: height, count: Int(rowCount), sizes: sizes?.heights)
    return row.lowerBound * width + row.count * column.lowerBound
      + (y - row.lowerBound) * column.count + x - column.lowerBound
  }

  /// The column, or row, of tiles that holds a position; the rest beyond their sizes belongs to the last one.
  private static func span(around position: Int, of total: Int, count: Int, sizes: [UInt32]?) -> Range<Int> {
    var start = 0
    for index in 0..<max(count, 1) - 1 {
      let end: Int
      if let sizes {
        guard index < sizes.count, sizes[index] < total - start else { break }
        end = start + Int(sizes[index])
      } else {
        end = (index + 1) * total / count
      }
      if position < end { return start..<end }
      start = end
    }
    return start..<total
  }
}

extension H265.ParameterSets {
  /// The address of a slice segment in tile scan, in which slice segments are ordered (7.4.2.4.5).
  package func tileScanAddress(of slice: borrowing H265.SliceSegmentHeader) -> UInt32 {
    guard let tiles = tiles(ofPictureParameterSet: slice.pictureParameterSetID),
      let sps = sequenceParameterSet(slice.sequenceParameterSetID)
    else { return slice.segmentAddress }
    let (width, height) = (sps.widthInCodingTreeBlocks, sps.heightInCodingTreeBlocks)
    guard width > 0, slice.segmentAddress < width * height else { return slice.segmentAddress }
    return UInt32(
      clamping: tiles.tileScanAddress(of: Int(slice.segmentAddress), width: width, height: height))
  }
}
