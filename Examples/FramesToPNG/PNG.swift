// SPDX-License-Identifier: MPL-2.0
import VideoDecoding

/// An RGBA picture as a PNG file (ISO/IEC 15948), not compressed.
func png(_ picture: ConvertedPicture) -> [UInt8] {
  func word(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
  func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + content
    return word(content.count) + body + word(Int(crc32(body)))
  }
  // Each row begins with the number of its filter: 0 for none.
  let stride = picture.width * 4
  var rows: [UInt8] = []
  for row in 0..<picture.height { rows += [0] + picture.bytes[row * stride..<(row + 1) * stride] }
  // Deflate in blocks that are stored (RFC 1951, 3.2.4), in a zlib stream (RFC 1950).
  var deflated: [UInt8] = [0x78, 0x01]
  for start in Swift.stride(from: 0, to: rows.count, by: 65_535) {
    let block = rows[start..<min(rows.count, start + 65_535)]
    let size = UInt16(block.count)
    deflated += [start + block.count == rows.count ? 1 : 0]
    for part in [size, ~size] { deflated += [UInt8(truncatingIfNeeded: part), UInt8(truncatingIfNeeded: part >> 8)] }
    deflated += block
  }
  deflated += word(Int(adler32(rows)))
  let header = word(picture.width) + word(picture.height) + [8, 6, 0, 0, 0]
  return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header) + chunk("IDAT", deflated)
    + chunk("IEND", [])
}

private func crc32(_ bytes: [UInt8]) -> UInt32 {
  var crc = UInt32.max
  for byte in bytes {
    crc ^= UInt32(byte)
    for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
  }
  return ~crc
}

private func adler32(_ bytes: [UInt8]) -> UInt32 {
  var (low, high): (UInt32, UInt32) = (1, 0)
  for byte in bytes {
    low = (low + UInt32(byte)) % 65_521
    high = (high + low) % 65_521
  }
  return high << 16 | low
}
