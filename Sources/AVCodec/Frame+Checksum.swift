// SPDX-License-Identifier: MPL-2.0
import CAVCodec

extension Frame {
  /// A checksum of all coded samples and their layout, to compare pictures of one process. It protects from no forgery.
  package var checksum: UInt64 {
    var sum = SampleSum()
    for value in [width, height, Int(format.rawValue)] { sum.add(UInt64(truncatingIfNeeded: value)) }
    guard let layout = unsafe cav_pix_fmt_desc_get(AVPixelFormat(format.rawValue)) else { return sum.value }
    let sampleSize = unsafe layout.pointee.comp.0.depth > 8 ? 2 : 1
    let (columnShift, rowShift) = unsafe (Int(layout.pointee.log2_chroma_w), Int(layout.pointee.log2_chroma_h))
    for index in 0..<4 {
      guard let start = unsafe plane(index) else { break }
      let isChroma = index == 1 || index == 2
      let columns = isChroma ? (width + (1 << columnShift) - 1) >> columnShift : width
      let rows = isChroma ? (height + (1 << rowShift) - 1) >> rowShift : height
      for row in 0..<rows {
        // SAFETY: each row of a plane has all its samples.
        unsafe sum.add(UnsafeRawBufferPointer(start: start + row * stride(index), count: columns * sampleSize))
      }
    }
    return sum.value
  }
}

/// A checksum of words. Each word changes it by a one-to-one function, so any change of a single word changes the sum.
private struct SampleSum {
  /// Independent sums, because a multiplication takes several cycles.
  private var lanes = SIMD4<UInt64>(1, 2, 3, 4)

  mutating func add(_ word: UInt64) { lanes[0] = Self.mixed(lanes[0], word) }

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var place = 0
    while bytes.count - place >= 32 {
      let words = unsafe bytes.loadUnaligned(fromByteOffset: place, as: SIMD4<UInt64>.self)
      let products = (lanes ^ words) &* SIMD4(repeating: Self.factor)
      lanes = products ^ products &>> 29
      place += 32
    }
    while place < bytes.count {
      unsafe add(UInt64(bytes[place]))
      place += 1
    }
  }

  var value: UInt64 { (1..<4).reduce(lanes[0]) { Self.mixed($0, lanes[$1]) } }

  /// An odd number, so the product is one-to-one.
  private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

  private static func mixed(_ sum: UInt64, _ word: UInt64) -> UInt64 {
    let product = (sum ^ word) &* factor
    return product ^ product >> 29
  }
}
