// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265 {
  /// The place of a coding tree block in the picture and in its tile, which goes from one to the next in tile scan
  /// (6.5.1).
  struct TreeBlockWalk {
    private(set) var x: Int
    private(set) var y: Int
    private var column: Int
    private var row: Int
    private var columnStart = 0
    private var columnEnd = 0
    private var rowStart = 0
    private var rowEnd = 0

    /// Begins at an address in raster scan.
    init(_ settings: borrowing SliceSettings, raster address: Int) {
      x = address % settings.widthInTreeBlocks
      y = address / settings.widthInTreeBlocks
      column = settings.tileColumn(of: x)
      row = settings.tileRow(of: y)
      takeTile(settings)
    }

    private mutating func takeTile(_ settings: borrowing SliceSettings) {
      columnStart = Int(settings.columnStarts[column])
      columnEnd = Int(settings.columnStarts[column &+ 1])
      rowStart = Int(settings.rowStarts[row])
      rowEnd = Int(settings.rowStarts[row &+ 1])
    }

    /// Whether it is the first block of a tile.
    var beginsTile: Bool { x == columnStart && y == rowStart }
    /// Whether it is the first block of a row of its tile.
    var isFirstInTileRow: Bool { x == columnStart }
    /// Whether it is the second block of a row of its tile.
    var isSecondInTileRow: Bool { x == columnStart &+ 1 }
    /// Whether the tile has the block to the left.
    var hasLeft: Bool { x > columnStart }
    /// Whether the tile has the block above.
    var hasAbove: Bool { y > rowStart }
    /// Whether the tile has the block above and to the right.
    var hasAboveRight: Bool { y > rowStart && x &+ 1 < columnEnd }
    /// The blocks in a row of the tile.
    var tileWidth: Int { columnEnd &- columnStart }

    /// The place in tile scan (`CtbAddrRsToTs`).
    func tileScanAddress(_ settings: borrowing SliceSettings) -> Int {
      rowStart &* settings.widthInTreeBlocks &+ (rowEnd &- rowStart) &* columnStart
        &+ (y &- rowStart) &* tileWidth &+ x &- columnStart
    }

    /// Goes to the next block in tile scan. Returns false behind the last one.
    mutating func advance(_ settings: borrowing SliceSettings) -> Bool {
      x &+= 1
      if x < columnEnd { return true }
      x = columnStart
      y &+= 1
      if y < rowEnd { return true }
      column &+= 1
      if column == settings.tileColumnCount {
        column = 0
        row &+= 1
        guard row < settings.tileRowCount else { return false }
      }
      takeTile(settings)
      (x, y) = (columnStart, rowStart)
      return true
    }
  }
}

extension H265.SliceSettings {
  /// The column of tiles that holds a column of coding tree blocks.
  func tileColumn(of x: Int) -> Int {
    var column = 0
    while column < tileColumnCount &- 1, x >= Int(columnStarts[column &+ 1]) { column &+= 1 }
    return column
  }

  /// The row of tiles that holds a row of coding tree blocks.
  func tileRow(of y: Int) -> Int {
    var row = 0
    while row < tileRowCount &- 1, y >= Int(rowStarts[row &+ 1]) { row &+= 1 }
    return row
  }

  /// `CtbAddrRsToTs` (6.5.1).
  func tileScanAddress(ofRaster address: Int) -> Int {
    H265.TreeBlockWalk(self, raster: address).tileScanAddress(self)
  }
}
