// SPDX-License-Identifier: MPL-2.0
package import H26x

/// The result of one walk over an access unit, with the parameter sets up to it: everything that an element and a
/// session read of it.
package enum AccessUnitDescription: Sendable {
  /// An H.264 access unit.
  case h264(AccessUnitReading<H264>)
  /// An H.265 access unit.
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
  /// Whether the picture is a field whose frame needs another field: the first of two, as far as known so far.
  package var isFirstField: Bool {
    switch self {
    case .h264(let reading): !reading.info.isSecondField && reading.info.slice?.isField ?? false
    // Each field is a picture of its own.
    case .h265: false
    }
  }
  /// Whether the picture is the second field of the previous picture.
  package var isSecondField: Bool {
    switch self {
    case .h264(let reading): reading.info.isSecondField
    case .h265: false
    }
  }
  /// Whether the stream's format differs from the previous access unit's, if the inspector tracks it.
  package var formatChanged: Bool {
    switch self {
    case .h264(let reading): reading.info.formatChanged
    case .h265(let reading): reading.info.formatChanged
    }
  }
  /// The picture's scan, as far as its coding shows; nil if its first slice cannot be read.
  package var scan: PictureScan? {
    switch self {
    case .h264(let reading): reading.info.scan(reading.parameterSets)
    case .h265(let reading): reading.info.scan(reading.parameterSets)
    }
  }
  /// The display metadata of the SEI messages up to the picture.
  var display: DisplayMetadata {
    switch self {
    case .h264(let reading): reading.display
    case .h265(let reading): reading.display
    }
  }
  /// Whether the access unit has changed ``display``.
  package var changesDisplay: Bool {
    switch self {
    case .h264(let reading): reading.changesDisplay
    case .h265(let reading): reading.changesDisplay
    }
  }
}
