// SPDX-License-Identifier: MPL-2.0

/// Scales one component of a picture, row by row: each sample is the mean of the samples in its place, or the single
/// sample there.
struct ComponentScaler {
  /// The location of a component's samples.
  struct Source {
    var width: Int, height: Int
    /// 1 or 2; the latter are little-endian.
    var bytesPerSample = 1
    /// The place of the first sample in a row, and samples from one to the next.
    var first = 0, step = 1
    /// The number of bits below those of a sample.
    var shift: UInt16 = 0
  }

  private enum Columns {
    case same
    /// The column of each sample, if samples are repeated.
    case repeated([Int])
    /// The first column of each sample, followed by the end of the last sample's columns.
    case means([Int])
  }

  private let source: Source
  private let newHeight: Int
  private let columns: Columns
  /// Sums of the columns of ``rows``.
  private var sums: [UInt32]
  private var rows = 0..<0
  /// The row that was read last.
  private(set) var samples: [UInt16]

  /// - Parameters:
  ///   - source: at least one sample.
  ///   - width: samples of a row, from 1 to 16,384, as is the height.
  init(_ source: Source, width: Int, height: Int) {
    self.source = source
    newHeight = height
    if width == source.width {
      columns = .same
    } else if width > source.width {
      columns = .repeated((0..<width).map { $0 * source.width / width })
    } else {
      columns = .means((0...width).map { $0 * source.width / width })
    }
    sums = Array(repeating: 0, count: source.width)
    samples = Array(repeating: 0, count: width)
  }

  /// A component that the picture does not have.
  init(neutral sample: UInt16, width: Int) {
    self.init(Source(width: 1, height: 0), width: width, height: 1)
    samples = Array(repeating: sample, count: width)
  }

  /// Makes one row of the scaled component.
  ///
  /// - Parameter plane: the plane of which the source is. It has the source's rows.
  mutating func read(_ index: Int, of plane: PicturePlane) {
    let start = index * source.height / newHeight
    let rows = start..<max(start + 1, (index + 1) * source.height / newHeight)
    // A repeated row is there already.
    guard rows != self.rows, rows.upperBound <= source.height else { return }
    self.rows = rows
    for row in rows { add(plane.row(row), isFirst: row == rows.lowerBound) }
    switch columns {
    case .same: mean(of: nil, rows.count)
    case .repeated(let columns): mean(of: columns, rows.count)
    case .means(let columns): means(of: columns, rows.count)
    }
  }

  private mutating func add(_ row: Span<UInt8>, isFirst: Bool) {
    let source = source
    let last = (source.first + source.step * (source.width - 1) + 1) * source.bytesPerSample
    guard last <= row.count else { return }
    // SAFETY: the last sample is within the row, and there is a sum for each sample.
    unsafe row.withUnsafeBytes { row in
      unsafe sums.withUnsafeMutableBufferPointer { sums in
        if source.bytesPerSample == 2 {
          for index in 0..<source.width {
            let offset = 2 * (source.first + source.step * index)
            let sample = unsafe UInt16(littleEndian: row.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
            unsafe sums[index] = (isFirst ? 0 : sums[index]) &+ UInt32(sample &>> source.shift)
          }
        } else if source.step == 1 {
          for index in 0..<source.width {
            unsafe sums[index] = (isFirst ? 0 : sums[index]) &+ UInt32(row[source.first + index])
          }
        } else {
          for index in 0..<source.width {
            unsafe sums[index] = (isFirst ? 0 : sums[index]) &+ UInt32(row[source.first + source.step * index])
          }
        }
      }
    }
  }

  /// Samples of one column each, or of those that are named.
  private mutating func mean(of columns: [Int]?, _ count: Int) {
    let division = Division(by: count)
    // SAFETY: columns are within the sums, and there are as many as samples; without columns sums are as many.
    unsafe samples.withUnsafeMutableBufferPointer { samples in
      unsafe sums.withUnsafeBufferPointer { sums in
        guard let columns else {
          if count == 1 {
            for index in samples.indices { unsafe samples[index] = UInt16(truncatingIfNeeded: sums[index]) }
          } else {
            for index in samples.indices { unsafe samples[index] = division.mean(UInt64(sums[index])) }
          }
          return
        }
        unsafe columns.withUnsafeBufferPointer { columns in
          for index in samples.indices { unsafe samples[index] = division.mean(UInt64(sums[columns[index]])) }
        }
      }
    }
  }

  private mutating func means(of columns: [Int], _ rowCount: Int) {
    // Each sample is the mean of this many columns, or one more.
    let least = source.width / samples.count
    let divisions = (Division(by: least * rowCount), Division(by: (least + 1) * rowCount))
    // SAFETY: columns rise to the number of sums, and there is one more than samples.
    unsafe samples.withUnsafeMutableBufferPointer { samples in
      unsafe sums.withUnsafeBufferPointer { sums in
        unsafe columns.withUnsafeBufferPointer { columns in
          for index in samples.indices {
            let (start, end) = unsafe (columns[index], columns[index + 1])
            var sum: UInt64 = 0
            for column in start..<end { unsafe sum &+= UInt64(sums[column]) }
            unsafe samples[index] = end - start == least ? divisions.0.mean(sum) : divisions.1.mean(sum)
          }
        }
      }
    }
  }

  /// Divides sums of 16-bit samples by their number.
  private struct Division {
    private let count: UInt64
    /// 2⁴⁰ over the number, rounded up, which is exact for sums of up to 4095 samples; 0 for more.
    private let factor: UInt64

    init(by count: Int) {
      self.count = UInt64(max(count, 1))
      factor = self.count < 4096 ? (1 << 40) / self.count + 1 : 0
    }

    @inline(__always)
    func mean(_ sum: UInt64) -> UInt16 {
      let sum = sum &+ count >> 1
      return UInt16(truncatingIfNeeded: factor > 0 ? (sum &* factor) >> 40 : sum / count)
    }
  }
}

extension ComponentScaler {
  /// A component of a picture, in the order of its format: Y, Cb, Cr, or G, B, R.
  init(_ component: Int, of picture: DecodedPicture, width: Int, height: Int) {
    let format = picture.pixelFormat
    let isInterleaved = format.isSemiPlanar && component > 0
    let plane = picture.plane(isInterleaved ? 1 : component)
    let pairs = isInterleaved ? 2 : 1
    let source = Source(
      width: plane.rowByteCount / format.bytesPerSample / pairs, height: plane.rowCount,
      bytesPerSample: format.bytesPerSample, first: isInterleaved ? component - 1 : 0, step: pairs,
      shift: format == .p010 ? UInt16(16 - format.bitDepth) : 0)
    if source.width > 0, source.height > 0 {
      self.init(source, width: width, height: height)
    } else {
      self.init(neutral: 1 << UInt16(format.bitDepth - 1), width: width)
    }
  }
}
