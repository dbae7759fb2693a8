// SPDX-License-Identifier: MPL-2.0
package import H26x

/// What one walk over an access unit has found, and the parameter sets up to it: all that an element and a session read
/// of it.
package enum AccessUnitDescription: Sendable {
  /// Of an H.264 stream.
  case h264(AccessUnitReading<H264>)
  /// Of an H.265 stream.
  case h265(AccessUnitReading<H265>)

  /// Whether there is a slice, readable or not.
  package var hasSlice: Bool {
    switch self {
    case .h264(let reading): reading.info.sliceType != nil
    case .h265(let reading): reading.info.sliceType != nil
    }
  }
  /// Whether the first slice is of an IDR picture.
  package var isIDR: Bool {
    switch self {
    case .h264(let reading): reading.info.sliceType?.isIDR ?? false
    case .h265(let reading): reading.info.sliceType?.isIDR ?? false
    }
  }
  /// Whether the stream's format differs from that of the access unit before, where the inspector follows it.
  package var formatChanged: Bool {
    switch self {
    case .h264(let reading): reading.info.formatChanged
    case .h265(let reading): reading.info.formatChanged
    }
  }
  /// How the picture was scanned, as far as its coding shows; nil when its first slice cannot be read.
  package var scan: PictureScan? {
    switch self {
    case .h264(let reading): reading.info.scan(reading.parameterSets)
    case .h265(let reading): reading.info.scan(reading.parameterSets)
    }
  }

  /// Lets a tracker of display metadata take the access unit's SEI messages. Returns whether they have changed any.
  package func update(_ display: inout DisplayTracker, _ accessUnit: Span<UInt8>) -> Bool {
    switch self {
    case .h264(let reading): display.take(accessUnit, reading.info)
    case .h265(let reading): display.take(accessUnit, reading.info)
    }
  }
}
