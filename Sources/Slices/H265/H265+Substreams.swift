// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265 {
  /// The substreams of a slice segment by its entry points (7.4.7.1).
  struct Substreams: ~Escapable {
    private let end: SliceSegmentEnd
    private var reader: BitReader
    private var left: UInt32
    /// The first byte of the current substream.
    private var start: Int

    @_lifetime(copy nalUnit)
    init(_ end: SliceSegmentEnd, _ nalUnit: Span<UInt8>) throws(SliceDamage) {
      do throws(BitstreamError) {
        reader = try end.entryPointReader(nalUnit)
      } catch {
        throw SliceDamage(error, clause: "7.3.6.1")
      }
      self.end = end
      left = end.entryPointCount
      start = end.dataByteOffset
    }

    /// Whether all substreams have been read.
    var isComplete: Bool { left == 0 }

    /// The current substream ends. Returns whether that agrees with its entry point.
    mutating func next(endsAt index: Int) throws(Stop) -> Bool {
      guard left > 0 else { return false }
      left &-= 1
      let count: Int
      do throws(BitstreamError) {
        count = try end.entryPoint(&reader)
      } catch {
        return false
      }
      let isRight = index &- start == count
      start = index
      return isRight
    }
  }

  /// The end of the data in a NAL unit.
  enum RBSPEnd {
    /// The index behind the last byte that is not part of a `cabac_zero_word` (7.3.2.9).
    static func index(in nalUnit: Span<UInt8>) -> Int {
      var index = nalUnit.count
      // 00 00 03 00 00 03 …; the last one may lack its 03.
      while index > 0 {
        let byte = nalUnit[index &- 1]
        if byte == 0 {
          index &-= 1
        } else if byte == 3, index >= 3, nalUnit[index &- 2] == 0, nalUnit[index &- 3] == 0 {
          index &-= 3
        } else {
          break
        }
      }
      return index
    }
  }
}
