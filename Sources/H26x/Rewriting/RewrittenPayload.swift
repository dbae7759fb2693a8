// SPDX-License-Identifier: MPL-2.0

/// The payload of a NAL unit with other bits at the front and all other bits copied.
///
/// The bits behind the front may move by any number of bits. Emulation prevention bytes (7.4.1.1) are removed and
/// inserted as needed, and `cabac_zero_word`s stay.
struct RewrittenPayload: ~Escapable {
  private let nalUnit: Span<UInt8>
  private let headerLength: Int

  /// - Parameters:
  ///   - nalUnit: the NAL unit whose payload is copied.
  ///   - headerLength: bytes of its header.
  @_lifetime(copy nalUnit)
  init(of nalUnit: Span<UInt8>, headerLength: Int) {
    self.nalUnit = nalUnit
    self.headerLength = headerLength
  }

  /// Appends the new front, and the bits of the NAL unit from a place on.
  ///
  /// - Parameters:
  ///   - front: the bits after the NAL unit header, without emulation prevention bytes.
  ///   - bitOffset: where to continue, in bits from the start of the NAL unit, without emulation prevention bytes.
  ///   - output: ends with the NAL unit header.
  /// - Throws: `.badTrailingBits` if the bits move within their byte and the stop bit is not found.
  func append(
    _ front: consuming BitWriter, thenFrom bitOffset: Int, to output: inout [UInt8]
  ) throws(BitstreamError) {
    let place = RawPlace(bitOffset: bitOffset, in: nalUnit, from: headerLength)
    let phase = bitOffset & 7
    if (front.bitCount - bitOffset) & 7 == 0 {
      var (next, run) = (place.byte, place.zeroRun)
      if phase > 0, next < nalUnit.count {
        front.u(8 - phase, UInt32(nalUnit[next]))
        run = nalUnit[next] == 0 ? run + 1 : 0
        next += 1
      }
      appendInPlace(front.bytes, next, run, to: &output)
      return
    }
    // The stop bit is the last bit that is set.
    let last = RawPlace.lastSetByte(of: nalUnit, from: max(headerLength, place.byte - 2))
    let isInFirst = last == place.byte
    guard last >= place.byte, !isInFirst || nalUnit[last] << UInt8(phase) != 0 else {
      throw BitstreamError(.badTrailingBits, "rbsp_stop_one_bit", bitOffset: bitOffset)
    }
    let unused = nalUnit[last].trailingZeroBitCount
    let end = UInt32(nalUnit[last] >> UInt8(unused))
    if isInFirst {
      front.u(8 - phase - unused, end)
      front.align()
      EmulationPreventionBytes.append(front.bytes.span, to: &output)
    } else {
      var (next, run) = (place.byte, place.zeroRun)
      if phase > 0 {
        front.u(8 - phase, UInt32(nalUnit[next]))
        run = nalUnit[next] == 0 ? run + 1 : 0
        next += 1
      }
      EmulationPreventionBytes.append(shifted(front, next..<last, run, end, count: 8 - unused).span, to: &output)
    }
    BulkBytes.append(nalUnit, last + 1..<nalUnit.count, to: &output)
  }

  /// Appends the front, and the bytes of the NAL unit from `next` on as they are.
  private func appendInPlace(_ front: [UInt8], _ next: Int, _ zeroRun: Int, to output: inout [UInt8]) {
    let start = output.count
    EmulationPreventionBytes.append(front.span, to: &output)
    // Only the zero bytes in front of the first byte that is not zero have a say in emulation prevention.
    var (index, run) = (next, min(zeroRun, 2))
    var newRun = 0
    while newRun < 2, output.count - newRun > start, output[output.count - newRun - 1] == 0 { newRun += 1 }
    while run != newRun, index < nalUnit.count {
      let byte = nalUnit[index]
      index += 1
      if byte == 3, run == 2 {
        run = 0
        continue
      }
      if byte <= 3, newRun == 2 {
        output.append(3)
        newRun = 0
      }
      output.append(byte)
      (run, newRun) = byte == 0 ? (min(run + 1, 2), min(newRun + 1, 2)) : (0, 0)
    }
    // A NAL unit does not end with a zero byte (7.4.1).
    if index == nalUnit.count, run != newRun, newRun > 0 { output.append(3) }
    BulkBytes.append(nalUnit, index..<nalUnit.count, to: &output)
  }

  /// Returns the front with bytes of the NAL unit, which move, without emulation prevention bytes.
  ///
  /// - Parameters:
  ///   - front: does not end with a whole byte.
  ///   - range: the bytes.
  ///   - zeroRun: the number of zero bytes in front of them.
  ///   - end: the bits behind them.
  ///   - count: the number of these bits, 1 to 8.
  private func shifted(
    _ front: BitWriter, _ range: Range<Int>, _ zeroRun: Int, _ end: UInt32, count: Int
  ) -> [UInt8] {
    var bytes = front.bytes
    bytes.reserveCapacity(bytes.count + range.count + 2)
    var (bits, bitCount) = front.incompleteByte
    var index = range.lowerBound
    var search = index - min(zeroRun, 2)
    while let pair = BulkBytes.firstZeroPair(in: nalUnit, from: search), pair + 2 < range.upperBound {
      switch nalUnit[pair + 2] {
      case 3:
        BulkBytes.append(nalUnit, index..<pair + 2, behind: &bits, count: bitCount, to: &bytes)
        index = pair + 3
        search = index
      case 0: search = pair + 1
      default: search = pair + 3
      }
    }
    BulkBytes.append(nalUnit, index..<range.upperBound, behind: &bits, count: bitCount, to: &bytes)
    let rest = (UInt32(bits) << UInt32(count) | end) << UInt32(16 - bitCount - count)
    bytes.append(UInt8(truncatingIfNeeded: rest >> 8))
    if bitCount + count > 8 { bytes.append(UInt8(truncatingIfNeeded: rest)) }
    return bytes
  }
}
