// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import VideoDecoding

@Suite struct PictureMemoryTests {
  /// `picture_checksum` of a plane (H.265 D.3.19), for samples by row.
  private func checksum(_ rows: [[UInt16]], isDeep: Bool) -> UInt32 {
    var sum: UInt32 = 0
    for (y, row) in rows.enumerated() {
      for (x, sample) in row.enumerated() {
        let mask = UInt16(x ^ y)
        sum += UInt32((sample & 0xFF) ^ mask)
        if isDeep { sum += UInt32((sample >> 8) ^ mask) }
      }
    }
    return sum
  }

  /// A picture of four by two samples, compared with its hash, and with hashes that differ in one plane.
  @Test(arguments: [
    (PixelFormat.yuv420p, false), (.yuv420p9, true), (.yuv420p10, true), (.yuv420p12, true), (.nv12, false),
    (.p010, true),
  ])
  func comparesPicturesWithTheirHash(_ format: PixelFormat, _ isDeep: Bool) throws {
    let block = try #require(PicturePool().block(byteCount: 256))
    let offsets = [0, 64, 128]
    // Samples that are interleaved or packed are compared before that, in the memory they were decoded into.
    let planes = unsafe offsets.prefix(format.planeCount).map { offset in
      unsafe PictureBuffer.Plane(
        start: block.start + (format == .p010 || format == .nv12 && offset > 0 ? 192 : offset), stride: 16,
        byteCount: 32)
    }
    let memory = unsafe PictureMemory(
      pixelFormat: format, planes: planes, token: nil, blocks: [block],
      scratch: format.isSemiPlanar
        ? PictureMemory.Scratch(
          luma: format == .p010 ? (block.start, 16) : nil, cb: block.start + 64, cr: block.start + 128, stride: 16,
          chromaByteCount: 32) : nil)
    let samples: [[[UInt16]]] = [
      [[1, 2, 3, 4], [5, 6, 7, 8]], [[9, 10]], [[11, 12]],
    ].map { rows in rows.map { row in row.map { isDeep ? $0 + 0x100 : $0 } } }
    for (plane, rows) in samples.enumerated() {
      for (y, row) in rows.enumerated() {
        for (x, sample) in row.enumerated() {
          let place = offsets[plane] + 16 * y + (isDeep ? 2 * x : x)
          unsafe block.start[place] = UInt8(truncatingIfNeeded: sample)
          if isDeep { unsafe block.start[place + 1] = UInt8(sample >> 8) }
        }
      }
    }
    let sums = samples.map { checksum($0, isDeep: isDeep) }
    #expect(memory.matches(.checksum(sums), width: 4, height: 2))
    for plane in 0..<3 {
      var other = sums
      other[plane] += 1
      #expect(!memory.matches(.checksum(other), width: 4, height: 2), "plane \(plane)")
    }
    // A hash of luma alone does not cover chroma.
    #expect(memory.matches(.checksum([sums[0]]), width: 4, height: 2))
    #expect(!memory.matches(.checksum(sums), width: 4, height: 0))
  }
}
