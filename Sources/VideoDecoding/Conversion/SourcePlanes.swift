// SPDX-License-Identifier: MPL-2.0

/// A picture's planes as numbers, whatever their format.
struct SourcePlanes {
  /// One plane, row by row.
  struct Plane {
    var width: Int, height: Int
    var samples: [UInt16]

    /// The plane in another size: each sample is the mean of those in its place, or the one there.
    func scaled(_ newWidth: Int, _ newHeight: Int) -> Plane {
      guard newWidth != width || newHeight != height, width > 0, height > 0 else { return self }
      func ranges(_ old: Int, _ new: Int) -> [Range<Int>] {
        (0..<new).map { index in
          let start = min(index * old / new, old - 1)
          return start..<max(start + 1, (index + 1) * old / new)
        }
      }
      let columns = ranges(width, newWidth)
      var scaled = Plane(width: newWidth, height: newHeight, samples: [])
      scaled.samples.reserveCapacity(newWidth * newHeight)
      for rows in ranges(height, newHeight) {
        for column in columns {
          var sum: UInt64 = 0
          for row in rows { for place in column { sum += UInt64(samples[row * width + place]) } }
          let count = UInt64(rows.count * column.count)
          scaled.samples.append(UInt16(truncatingIfNeeded: (sum + count / 2) / count))
        }
      }
      return scaled
    }
  }

  private(set) var planes: [Plane] = []
  private let neutral: UInt16

  init(_ picture: DecodedPicture) {
    let format = picture.pixelFormat
    let shift = UInt16(format == .p010 ? 16 - format.bitDepth : 0)
    neutral = 1 << UInt16(format.bitDepth - 1)
    for index in 0..<format.planeCount {
      let plane = picture.plane(index)
      let width = plane.rowByteCount / format.bytesPerSample
      var samples: [UInt16] = []
      samples.reserveCapacity(width * plane.rowCount)
      for number in 0..<plane.rowCount {
        let row = plane.row(number)
        if format.bytesPerSample == 1 {
          for place in row.indices { samples.append(UInt16(row[place])) }
        } else {
          for place in 0..<width {
            samples.append((UInt16(row[2 * place]) | UInt16(row[2 * place + 1]) << 8) >> shift)
          }
        }
      }
      planes.append(Plane(width: width, height: plane.rowCount, samples: samples))
    }
    if format.isSemiPlanar { separateChroma() }
  }

  /// Cb or Cr, or what stands in its place; a single neutral sample for monochrome.
  func chroma(_ index: Int) -> Plane {
    planes.indices.contains(index) ? planes[index] : Plane(width: 1, height: 1, samples: [neutral])
  }

  private mutating func separateChroma() {
    let pairs = planes.removeLast()
    for first in 0...1 {
      let samples = stride(from: first, to: pairs.samples.count, by: 2).map { pairs.samples[$0] }
      planes.append(Plane(width: pairs.width / 2, height: pairs.height, samples: samples))
    }
  }
}
