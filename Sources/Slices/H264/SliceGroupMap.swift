// SPDX-License-Identifier: MPL-2.0

import H26x

extension H264 {
  /// The order of macroblocks in slice groups (8.2.2), or of pairs in MBAFF frames.
  struct SliceGroupMap {
    /// The next macroblock of the same slice group by `mbAddr`, or the next pair by its half in MBAFF frames. Behind the
    /// last one, the number of all. Empty with a single slice group.
    private(set) var next: [UInt32] = []
    /// What the map was made of.
    private var source: Source?

    private struct Source: Hashable {
      let sliceGroups: PictureParameterSet.SliceGroups
      let changeCycle: UInt32
      let width: Int
      let mapUnits: Int
      let isFrameOnly: Bool
      let isMbaff: Bool
      let isField: Bool
    }

    init() {}

    mutating func clear() {
      guard source != nil else { return }
      source = nil
      next = []
    }

    /// Makes the map of a picture, unless it is there already.
    ///
    /// - Parameters:
    ///   - sliceGroups: of the PPS.
    ///   - changeCycle: `slice_group_change_cycle`.
    ///   - sps: its SPS.
    ///   - isField: `field_pic_flag`.
    mutating func update(
      _ sliceGroups: PictureParameterSet.SliceGroups, changeCycle: UInt32, _ sps: borrowing SequenceParameterSet,
      isField: Bool
    ) {
      let source = Source(
        sliceGroups: sliceGroups, changeCycle: changeCycle, width: sps.widthInMacroblocks,
        mapUnits: sps.widthInMacroblocks * sps.heightInMapUnits, isFrameOnly: sps.isFrameOnly,
        isMbaff: sps.isMacroblockAdaptiveFrameField, isField: isField)
      guard source != self.source else { return }
      self.source = source
      let units = Self.mapUnits(sliceGroups, changeCycle: changeCycle, width: source.width, count: source.mapUnits)
      // 8.2.2.8: a map unit is a macroblock, a macroblock of a field, a pair, or two macroblocks one above the other.
      if source.isFrameOnly || isField || source.isMbaff {
        link(units)
      } else {
        var groups: [UInt8] = []
        groups.reserveCapacity(2 * units.count)
        for row in 0..<(2 * sps.heightInMapUnits) {
          for column in 0..<source.width { groups.append(units[(row / 2) * source.width + column]) }
        }
        link(groups)
      }
    }

    /// Links the macroblocks of each group. A search for each would take as long as the picture is large.
    private mutating func link(_ groups: [UInt8]) {
      let end = UInt32(truncatingIfNeeded: groups.count)
      next = [UInt32](repeating: end, count: groups.count)
      var last = [UInt32](repeating: end, count: 256)
      for index in groups.indices.reversed() {
        let group = Int(groups[index])
        next[index] = last[group]
        last[group] = UInt32(truncatingIfNeeded: index)
      }
    }

    /// `mapUnitToSliceGroupMap` (8.2.2.1 to 8.2.2.7).
    static func mapUnits(
      _ sliceGroups: PictureParameterSet.SliceGroups, changeCycle: UInt32, width: Int, count: Int
    ) -> [UInt8] {
      let groupCount = Int(sliceGroups.count)
      var units = [UInt8](repeating: 0, count: count)
      switch sliceGroups.map {
      case .interleaved(let lengths):
        var (index, group) = (0, 0)
        while index < count, !lengths.isEmpty {
          let end = min(count, index + Int(lengths[group % lengths.count]) + 1)
          while index < end {
            units[index] = UInt8(truncatingIfNeeded: group)
            index += 1
          }
          group = (group + 1) % min(groupCount, lengths.count)
        }
      case .dispersed:
        for index in 0..<count {
          let (column, row) = (index % width, index / width)
          units[index] = UInt8(truncatingIfNeeded: (column + (row * groupCount) / 2) % groupCount)
        }
      case .foreground(let rectangles):
        for index in 0..<count { units[index] = UInt8(truncatingIfNeeded: groupCount - 1) }
        for group in rectangles.indices.reversed() {
          let (first, last) = (Int(rectangles[group].topLeft), Int(rectangles[group].bottomRight))
          guard first <= last, last < count, first % width <= last % width else { continue }
          for row in (first / width)...(last / width) {
            for column in (first % width)...(last % width) {
              units[row * width + column] = UInt8(truncatingIfNeeded: group)
            }
          }
        }
      case .evolving(let type, let isReversed, let rateMinus1):
        let changed = min(UInt64(changeCycle) * (UInt64(rateMinus1) + 1), UInt64(count))
        let inFirst = Int(changed)
        if type == 3 {
          boxOut(&units, inFirst: inFirst, isReversed: isReversed, width: width)
        } else {
          // sizeOfUpperLeftGroup (8.2.2).
          let upperLeft = isReversed ? count - inFirst : inFirst
          let height = count / width
          for index in 0..<count {
            let order = type == 4 ? index : (index % width) * height + index / width
            units[index] = (order < upperLeft) == isReversed ? 1 : 0
          }
        }
      case .explicit(let ids):
        for index in 0..<min(count, ids.count) { units[index] = ids[index] }
      }
      return units
    }

    /// Type 3: group 0 grows from the center in a spiral (8.2.2.4).
    private static func boxOut(_ units: inout [UInt8], inFirst: Int, isReversed: Bool, width: Int) {
      for index in units.indices { units[index] = 1 }
      let height = units.count / width
      let direction = isReversed ? 1 : 0
      var (x, y) = ((width - direction) / 2, (height - direction) / 2)
      var (left, right, top, bottom) = (x, x, y, y)
      var (dx, dy) = (direction - 1, direction)
      var done = 0
      while done < inFirst {
        let index = y * width + x
        guard units.indices.contains(index) else { return }
        if units[index] == 1 {
          units[index] = 0
          done += 1
        }
        if dx == -1, x == left {
          left = max(left - 1, 0)
          x = left
          (dx, dy) = (0, 2 * direction - 1)
        } else if dx == 1, x == right {
          right = min(right + 1, width - 1)
          x = right
          (dx, dy) = (0, 1 - 2 * direction)
        } else if dy == -1, y == top {
          top = max(top - 1, 0)
          y = top
          (dx, dy) = (1 - 2 * direction, 0)
        } else if dy == 1, y == bottom {
          bottom = min(bottom + 1, height - 1)
          y = bottom
          (dx, dy) = (2 * direction - 1, 0)
        } else {
          (x, y) = (x + dx, y + dy)
        }
      }
    }
  }
}
