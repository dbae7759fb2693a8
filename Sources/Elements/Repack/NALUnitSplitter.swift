// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Splits an access unit in byte-stream format into buffers of one NAL unit each, which share its memory.
struct NALUnitSplitter<Codec: ElementCodecSyntax>: ~Copyable {
  private var accessUnit: Buffer?
  private var ranges: [Range<Int>] = []
  private var index = 0

  mutating func removeAll() {
    accessUnit = nil
    ranges.removeAll(keepingCapacity: true)
    index = 0
  }

  /// Takes an access unit to split.
  mutating func put(_ buffer: consuming Buffer) {
    removeAll()
    find(buffer)
    accessUnit = consume buffer
  }

  /// The next NAL unit, with the access unit's timestamps. The first has its metas and DISCONT, the last MARKER.
  mutating func next() -> Buffer? {
    guard index < ranges.count else { return nil }
    let range = ranges[index]
    index += 1
    let part =
      switch accessUnit {
      case .some(let whole): Self.part(of: whole, range, isFirst: index == 1, isLast: index == ranges.count)
      case .none: Buffer?.none
      }
    if index == ranges.count { accessUnit = nil }
    return part
  }

  private static func part(
    of whole: borrowing Buffer, _ range: Range<Int>, isFirst: Bool, isLast: Bool
  ) -> Buffer? {
    guard var part = whole.region(range, withMetadata: isFirst) else { return nil }
    part.pts = whole.pts
    part.dts = whole.dts
    if isFirst { part.duration = whole.duration }
    var flags = whole.flags
    if !isFirst { flags.subtract([.discontinuity, .resync]) }
    if isLast { flags.insert(.marker) } else { flags.remove(.marker) }
    if Self.isParameterSet(whole, range) { flags.insert(.header) } else { flags.remove(.header) }
    part.flags = flags
    return part
  }

  private static func isParameterSet(_ buffer: borrowing Buffer, _ range: Range<Int>) -> Bool {
    do throws(FlowError) {
      let map = try buffer.map()
      // Behind the four bytes of the start code that were written.
      let bytes = map.bytes.extracting(range)
      return bytes.count > 4 && Codec.NALUnitType(headerByte: bytes[4]).isParameterSet
    } catch {
      return false
    }
  }

  private mutating func find(_ buffer: borrowing Buffer) {
    do throws(FlowError) {
      let map = try buffer.map()
      var units = AnnexB.NALUnits(map.bytes)
      while let unit = units.next() { ranges.append(unit.startCodeOffset..<unit.range.upperBound) }
    } catch {
      ranges.append(0..<buffer.size)
    }
  }
}
