// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `pic_timing()` (D.2.3): for how long and in which fields a picture is displayed, and when it is decoded.
  public struct PictureTiming: Sendable, Hashable {
    /// `pic_struct`, `source_scan_type` and `duplicate_flag`; nil without `frame_field_info_present_flag`.
    public var display: Display?
    /// Delays; nil without HRD parameters.
    public var delays: Delays?

    /// How a picture is displayed.
    public struct Display: Sendable, Hashable {
      /// `pic_struct`.
      public var structure: Structure
      /// `source_scan_type`: 0 interlaced, 1 progressive, 2 unknown, 3 reserved.
      public var sourceScanType: UInt8
      /// `duplicate_flag`: it repeats the picture before in output order.
      public var isDuplicate: Bool

      /// Creates one.
      public init(structure: Structure, sourceScanType: UInt8 = 2, isDuplicate: Bool = false) {
        self.structure = structure
        self.sourceScanType = sourceScanType
        self.isDuplicate = isDuplicate
      }
    }

    /// `pic_struct` (Table D.2): any of the 16 values, including reserved values.
    public struct Structure: RawRepresentable, Sendable, Hashable {
      /// 0 to 15.
      public let rawValue: UInt8

      /// Creates a structure from any number.
      public init(rawValue: UInt8) { self.rawValue = rawValue & 0xF }

      /// One progressive frame.
      public static let frame = Structure(rawValue: 0)
      /// One top field.
      public static let topField = Structure(rawValue: 1)
      /// One bottom field.
      public static let bottomField = Structure(rawValue: 2)
      /// Top field, then bottom field.
      public static let topBottom = Structure(rawValue: 3)
      /// Bottom field, then top field.
      public static let bottomTop = Structure(rawValue: 4)
      /// Top field, bottom field, top field again.
      public static let topBottomTop = Structure(rawValue: 5)
      /// Bottom field, top field, bottom field again.
      public static let bottomTopBottom = Structure(rawValue: 6)
      /// A frame shown twice.
      public static let frameDoubling = Structure(rawValue: 7)
      /// A frame shown three times.
      public static let frameTripling = Structure(rawValue: 8)
      /// A top field, paired with the bottom field before it in output order.
      public static let topBehindBottom = Structure(rawValue: 9)
      /// A bottom field, paired with the top field before it in output order.
      public static let bottomBehindTop = Structure(rawValue: 10)
      /// A top field, paired with the next bottom field in output order.
      public static let topBeforeBottom = Structure(rawValue: 11)
      /// A bottom field, paired with the next top field in output order.
      public static let bottomBeforeTop = Structure(rawValue: 12)

      /// Whether the picture is one field.
      public var isField: Bool { 1...2 ~= rawValue || 9...12 ~= rawValue }

      /// Whether the field, or the first of several fields, is a top field; nil for frames.
      public var isTopFirst: Bool? {
        switch rawValue {
        case 1, 3, 5, 9, 11: true
        case 2, 4, 6, 10, 12: false
        default: nil
        }
      }

      /// Whether the picture is the second field of its frame; nil if the value leaves it open.
      public var isSecondField: Bool? {
        switch rawValue {
        case 9, 10: true
        case 11, 12: false
        default: nil
        }
      }

      /// For how many field periods the picture is displayed.
      public var fieldPeriods: Int {
        switch rawValue {
        case 1, 2, 9...12: 1
        case 5, 6: 3
        case 7: 4
        case 8: 6
        default: 2
        }
      }
    }

    /// The delays of a picture, in clock ticks.
    public struct Delays: Sendable, Hashable {
      /// `au_cpb_removal_delay_minus1` + 1, 1 to 2³².
      public var cpbRemoval: UInt64
      /// `pic_dpb_output_delay`.
      public var dpbOutput: UInt32
      /// `pic_dpb_output_du_delay`; nil without decoding units.
      public var dpbOutputUnit: UInt32?

      /// Creates delays.
      public init(cpbRemoval: UInt64, dpbOutput: UInt32, dpbOutputUnit: UInt32? = nil) {
        self.cpbRemoval = cpbRemoval
        self.dpbOutput = dpbOutput
        self.dpbOutputUnit = dpbOutputUnit
      }
    }

    /// Creates one; see ``payload(sps:)``.
    public init(display: Display? = nil, delays: Delays? = nil) {
      self.display = display
      self.delays = delays
    }

    /// Reads a message of type ``SEIPayloadType/pictureTiming``, without the part about decoding units.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - sps: the active SPS, which determines the parts and their lengths.
    /// - Throws: any ``BitstreamError``.
    public init(_ message: borrowing SEIMessages.Message, sps: borrowing SequenceParameterSet) throws(BitstreamError) {
      var reader = message.reader
      guard let vui = sps.vui else { return }
      if vui.isPictureStructurePresent {
        display = Display(
          structure: Structure(rawValue: try reader.u8(4, "pic_struct")),
          sourceScanType: try reader.u8(2, "source_scan_type"), isDuplicate: try reader.flag("duplicate_flag"))
      }
      // CpbDpbDelaysPresentFlag (D.3.3).
      guard let hrd = vui.timing?.hrdParameters?.common, hrd.hasNAL || hrd.hasVCL else { return }
      let removal = UInt64(try reader.u(Int(hrd.removalDelayLength), "au_cpb_removal_delay_minus1")) + 1
      delays = Delays(
        cpbRemoval: removal, dpbOutput: try reader.u(Int(hrd.outputDelayLength), "pic_dpb_output_delay"))
      if let units = hrd.subPicture {
        delays?.dpbOutputUnit = try reader.u(Int(units.outputDelayLength), "pic_dpb_output_du_delay")
      }
    }

    /// The payload: the inverse of ``init(_:sps:)``. If the SPS requires decoding units, the whole picture is one.
    public func payload(sps: borrowing SequenceParameterSet) -> [UInt8] {
      var writer = BitWriter(addsEmulationPrevention: false)
      guard let vui = sps.vui else { return [] }
      if vui.isPictureStructurePresent {
        let display = display ?? Display(structure: .frame)
        writer.u(4, UInt32(display.structure.rawValue))
        writer.u(2, UInt32(display.sourceScanType))
        writer.flag(display.isDuplicate)
      }
      if let hrd = vui.timing?.hrdParameters?.common, hrd.hasNAL || hrd.hasVCL {
        writer.u(Int(hrd.removalDelayLength), UInt32(clamping: max(1, delays?.cpbRemoval ?? 1) - 1))
        writer.u(Int(hrd.outputDelayLength), delays?.dpbOutput ?? 0)
        if let units = hrd.subPicture {
          writer.u(Int(units.outputDelayLength), delays?.dpbOutputUnit ?? 0)
          if units.isInPictureTiming {
            // num_decoding_units_minus1, du_common_cpb_removal_delay_flag, num_nalus_in_du_minus1.
            writer.ue(0)
            writer.flag(false)
            writer.ue(0)
          }
        }
      }
      // A payload that does not end at a byte boundary ends like an RBSP (7.3.5).
      if !writer.isByteAligned { writer.trailingBits() }
      return writer.bytes
    }
  }
}

extension PresentedField {
  /// - Returns: nil for the structure of a frame.
  package init?(_ structure: H265.PictureTiming.Structure) {
    guard structure.isField, let isTop = structure.isTopFirst else { return nil }
    self.init(isTop: isTop, isSecond: structure.isSecondField)
  }
}
