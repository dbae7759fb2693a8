// SPDX-License-Identifier: MPL-2.0

// Exp-Golomb codes (9.1) of narrow ranges, and of a part that errors name.
extension BitReader {
  /// `ue(v)` for a range that ends at 255 or below.
  @inline(__always)
  mutating func ue8(in range: ClosedRange<UInt8>, _ element: StaticString) throws(BitstreamError) -> UInt8 {
    UInt8(truncatingIfNeeded: try ue(in: UInt32(range.lowerBound)...UInt32(range.upperBound), element))
  }

  /// `se(v)` for a range within −128 to 127.
  @inline(__always)
  mutating func se8(in range: ClosedRange<Int8>, _ element: StaticString) throws(BitstreamError) -> Int8 {
    Int8(truncatingIfNeeded: try se(in: Int32(range.lowerBound)...Int32(range.upperBound), element))
  }

  /// `ue(v)` of a part of a parameter set that errors name.
  mutating func ue(
    in range: ClosedRange<UInt32>, _ element: StaticString, of part: BitstreamError.Part
  ) throws(BitstreamError) -> UInt32 {
    do throws(BitstreamError) {
      return try ue(in: range, element)
    } catch {
      throw BitstreamError(error.reason, error.element, part: part, bitOffset: error.bitOffset)
    }
  }

  /// `se(v)` of a part of a parameter set that errors name.
  mutating func se(
    in range: ClosedRange<Int32>, _ element: StaticString, of part: BitstreamError.Part
  ) throws(BitstreamError) -> Int32 {
    do throws(BitstreamError) {
      return try se(in: range, element)
    } catch {
      throw BitstreamError(error.reason, error.element, part: part, bitOffset: error.bitOffset)
    }
  }
}
