// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// What is known of the access unit, or in NAL alignment of the NAL unit, that makes up one output buffer.
///
/// Offsets count from the start of the unit in the input.
struct CodedUnit: Sendable {
  struct Contents: OptionSet, Sendable {
    let rawValue: UInt16
    static let delimiter = Self(rawValue: 1 << 0)
    static let sequenceParameterSet = Self(rawValue: 1 << 1)
    static let pictureParameterSet = Self(rawValue: 1 << 2)
    static let supplementalInformation = Self(rawValue: 1 << 3)
    /// A slice, at least of an extension layer.
    static let slice = Self(rawValue: 1 << 4)
    static let idr = Self(rawValue: 1 << 5)
    static let recoveryPoint = Self(rawValue: 1 << 6)
    static let intraSlice = Self(rawValue: 1 << 7)
    static let predictedSlice = Self(rawValue: 1 << 8)
    static let bidirectionalSlice = Self(rawValue: 1 << 9)
    /// `nal_ref_idc` is not 0 in some slice.
    static let reference = Self(rawValue: 1 << 10)
    /// The first slice of a picture, so that the unit lasts for the duration of a picture.
    static let pictureStart = Self(rawValue: 1 << 11)
    /// An access unit begins with this unit.
    static let accessUnitStart = Self(rawValue: 1 << 12)
    /// An access unit is known to end with this unit.
    static let accessUnitEnd = Self(rawValue: 1 << 13)
    /// Something was lost on the way in.
    static let damaged = Self(rawValue: 1 << 14)

    static let parameterSets: Self = [.sequenceParameterSet, .pictureParameterSet]
    static let headers: Self = [.parameterSets, .supplementalInformation]
  }

  var contents: Contents = []
  var nalUnitCount = 0
  /// Where the last NAL unit ends; zeros may follow it.
  var end = 0
  /// The size of what goes out, before anything is put in.
  var outputSize = 0
  /// The timestamps that it has or was given.
  var pts: ClockTime?
  var dts: ClockTime?
  /// Where the first SEI begins, with start code or length.
  var informationOffset: Int?
  /// Where the first IDR slice begins, with start code or length.
  var idrOffset: Int?
  /// The header of the first slice of the primary picture that could be read.
  var slice: H264.SliceHeader?
  /// That slice's NAL unit.
  var sliceRange: Range<Int> = 0..<0
  /// Parts of the input that do not go out, with start codes or lengths.
  var dropped: [Range<Int>] = []
  /// Whether start codes were found inside length-prefixed NAL units.
  var holdsStartCodes = false
  /// What SEI messages say of this unit.
  var information = UnitInformation()

  /// Where parameter sets go when they are put in: before the first IDR slice, and before an SEI in front of that.
  /// `nil` when there is no IDR slice.
  var parameterSetOffset: Int? {
    guard let idrOffset else { return nil }
    return min(informationOffset ?? idrOffset, idrOffset)
  }
}
