// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// What ``AccessUnitScanner`` found out about an access unit, or about a NAL unit when it cuts those.
  ///
  /// Offsets are in bytes from the start of the unit.
  public struct ScannedAccessUnit: Sendable {
    /// What kinds of NAL units and slices are inside.
    public struct Contents: OptionSet, Sendable {
      public let rawValue: UInt16
      public init(rawValue: UInt16) { self.rawValue = rawValue }

      /// An access unit delimiter.
      public static var delimiter: Self { Self(rawValue: 1 << 0) }
      /// An SPS, SPS extension or subset SPS.
      public static var sequenceParameterSet: Self { Self(rawValue: 1 << 1) }
      /// A PPS.
      public static var pictureParameterSet: Self { Self(rawValue: 1 << 2) }
      /// SEI.
      public static var sei: Self { Self(rawValue: 1 << 3) }
      /// A slice, at least of an extension layer.
      public static var slice: Self { Self(rawValue: 1 << 4) }
      /// A slice of an IDR picture.
      public static var idr: Self { Self(rawValue: 1 << 5) }
      /// A recovery point SEI message. The scanner reads no SEI: who does, inserts it.
      public static var recoveryPoint: Self { Self(rawValue: 1 << 6) }
      /// An I or SI slice.
      public static var iSlice: Self { Self(rawValue: 1 << 7) }
      /// A P or SP slice.
      public static var pSlice: Self { Self(rawValue: 1 << 8) }
      /// A B slice.
      public static var bSlice: Self { Self(rawValue: 1 << 9) }
      /// `nal_ref_idc` is not 0 in some slice.
      public static var reference: Self { Self(rawValue: 1 << 10) }
      /// The first slice of a picture, so that the unit lasts for the duration of a picture.
      public static var pictureStart: Self { Self(rawValue: 1 << 11) }
      /// An access unit begins with this unit.
      public static var accessUnitStart: Self { Self(rawValue: 1 << 12) }
      /// An access unit is known to end with this unit.
      public static var accessUnitEnd: Self { Self(rawValue: 1 << 13) }
      /// Something was lost on the way in.
      public static var damaged: Self { Self(rawValue: 1 << 14) }

      /// SPS and PPS.
      public static var parameterSets: Self { [.sequenceParameterSet, .pictureParameterSet] }
      /// What is no picture.
      public static var headers: Self { [.parameterSets, .sei] }
    }

    /// A NAL unit inside.
    public struct NALUnit: Sendable {
      /// Where its start code or length begins.
      public internal(set) var start: Int
      /// Header and payload.
      public internal(set) var range: Range<Int>
      /// What it is; nil for those of no use, which ``ScannedAccessUnit/dropped`` lists.
      public internal(set) var contents: Contents?
    }

    /// What is inside.
    public var contents: Contents = []
    /// The NAL units in order, when ``AccessUnitScanner/listsNALUnits`` is set. From ``nalUnitLimit`` on, the last one covers
    /// the rest.
    public var nalUnits: [NALUnit] = []
    /// How many NAL units there are, those in ``dropped`` included.
    public var nalUnitCount = 0
    /// Where the last NAL unit ends; zeros may follow it.
    public var end = 0
    /// Where the first SEI begins, with start code or length.
    public var seiOffset: Int?
    /// The SEI NAL units, ``seiLimit`` at most.
    public var seiNALUnits: [NALUnit] = []
    /// Where the first IDR slice begins, with start code or length.
    public var idrOffset: Int?
    /// The header of the first slice of the primary picture that could be read.
    public var slice: SliceHeader?
    /// Parts that are of no use, with start codes or lengths: NAL units cut off behind their header, or of types that
    /// only RTP has.
    public var dropped: [Range<Int>] = []
    /// Whether start codes were found inside length-prefixed NAL units.
    public var holdsStartCodes = false

    /// SEI NAL units kept of one unit at most: a stream can hold millions, none of them worth the memory.
    public static let seiLimit = 256

    /// NAL units listed of one unit at most: a picture of level 6.2 has 139,264 macroblocks, each of which may be a
    /// slice.
    public static let nalUnitLimit = 150_000

    /// Creates an empty unit.
    public init() {}

    /// Memory of so many NAL units is kept for the next unit: more than most pictures have.
    private static let keptCapacity = 256

    /// Makes it an empty unit again, with its memory kept where it is not much.
    mutating func removeAll() {
      var empty = ScannedAccessUnit()
      if nalUnits.capacity <= Self.keptCapacity {
        nalUnits.removeAll(keepingCapacity: true)
        swap(&empty.nalUnits, &nalUnits)
      }
      self = empty
    }

    mutating func list(_ nalUnit: NALUnit) {
      guard let last = nalUnits.last, nalUnits.count >= Self.nalUnitLimit else { return nalUnits.append(nalUnit) }
      let contents = nalUnit.contents.map { (last.contents ?? []).union($0) } ?? last.contents
      let range = last.range.lowerBound..<max(last.range.lowerBound, nalUnit.range.upperBound)
      nalUnits[nalUnits.count - 1] = NALUnit(start: last.start, range: range, contents: contents)
    }

    /// Where parameter sets go when they are put in: before the first IDR slice, and before an SEI in front of that.
    /// `nil` when there is no IDR slice.
    public var parameterSetOffset: Int? {
      guard let idrOffset else { return nil }
      return min(seiOffset ?? idrOffset, idrOffset)
    }
  }
}
