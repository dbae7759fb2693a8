// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The parser's counts since it started: the `stats` property.
struct ParserStatistics: Sendable {
  /// By `nal_unit_type`.
  var nalUnits = InlineArray<64, UInt64>(repeating: 0)
  var accessUnits: UInt64 = 0
  /// Access units with an IDR picture.
  var idrPictures: UInt64 = 0
  /// Bytes of access units, without insertions.
  var bytes: UInt64 = 0
  /// Bytes that belonged to no NAL unit, or to none that could be used.
  var bytesSkipped: UInt64 = 0
  /// Parameter sets that were new or changed.
  var parameterSetChanges: UInt64 = 0
  /// The fewest and most access units from one random access point to the next; 0 before the second.
  var shortestGroup: UInt64 = 0
  var longestGroup: UInt64 = 0
  /// The counts of unreadable parts.
  var errors = ScannerErrors()
  /// SEI messages that could not be read.
  var seiErrors: UInt64 = 0

  private var accessUnitsSinceRandomAccess: UInt64?

  /// Counts unusable bytes.
  mutating func skip(_ byteCount: Int) { bytesSkipped += UInt64(byteCount) }

  /// Counts an access unit, or a NAL unit of one, of `byteCount` bytes.
  @inline(__always)
  mutating func count(_ byteCount: Int, _ contents: AccessUnitContents, isRandomAccessPoint: Bool) {
    bytes += UInt64(byteCount)
    if contents.contains(.accessUnitStart) {
      countAccessUnit(isRandomAccessPoint: isRandomAccessPoint, isIDR: contents.contains(.idr))
    }
  }

  private mutating func countAccessUnit(isRandomAccessPoint: Bool, isIDR: Bool) {
    accessUnits += 1
    if isIDR { idrPictures += 1 }
    guard isRandomAccessPoint else {
      accessUnitsSinceRandomAccess = accessUnitsSinceRandomAccess.map { $0 + 1 }
      return
    }
    if let length = accessUnitsSinceRandomAccess {
      shortestGroup = shortestGroup == 0 ? length : min(shortestGroup, length)
      longestGroup = max(longestGroup, length)
    }
    accessUnitsSinceRandomAccess = 1
  }

  /// The property's value.
  ///
  /// - Parameter name: of the structure.
  func structure(_ name: String) -> Structure {
    var result = Structure(name)
    result.set("access-units", .uint64(accessUnits))
    result.set("idr-pictures", .uint64(idrPictures))
    result.set("gop-length-min", .uint64(shortestGroup))
    result.set("gop-length-max", .uint64(longestGroup))
    result.set("bytes", .uint64(bytes))
    result.set("bytes-skipped", .uint64(bytesSkipped))
    result.set("parameter-set-changes", .uint64(parameterSetChanges))
    var types = Structure("nal-unit-types")
    var total: UInt64 = 0
    for type in nalUnits.indices where nalUnits[type] > 0 {
      types.set("type-\(type)", .uint64(nalUnits[type]))
      total += nalUnits[type]
    }
    result.set("nal-units", .uint64(total))
    result.set("nal-unit-types", types)
    var kinds = Structure("errors")
    kinds.set("parameter-sets", .uint64(errors.parameterSets))
    kinds.set("slices", .uint64(errors.slices))
    kinds.set("missing-parameter-sets", .uint64(errors.missingParameterSets))
    kinds.set("sei", .uint64(seiErrors))
    kinds.set("nal-units", .uint64(errors.nalUnits))
    kinds.set("lengths", .uint64(errors.lengths))
    result.set("errors", kinds)
    return result
  }
}
