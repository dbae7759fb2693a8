// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `pic_timing()` (D.1.3): how long and in which fields a picture is shown, and its time codes.
  public struct PictureTiming: Sendable, Hashable {
    /// `cpb_removal_delay` and `dpb_output_delay`; nil without HRD parameters.
    public var delays: Delays?
    /// `pic_struct`; nil when the SPS says that there is none.
    public var structure: Structure?
    /// `clock_timestamp()`s: as many as `structure` has, nil where the flag in front is 0.
    public var clockTimestamps: [ClockTimestamp?] = []

    /// The delays of a picture, in clock ticks.
    public struct Delays: Sendable, Hashable {
      /// `cpb_removal_delay`, in clock ticks.
      public var cpbRemoval: UInt32
      /// `dpb_output_delay`, in clock ticks.
      public var dpbOutput: UInt32
    }

    /// `pic_struct` (Table D-1).
    public enum Structure: UInt8, Sendable, CaseIterable {
      case frame = 0
      case topField = 1
      case bottomField = 2
      case topBottom = 3
      case bottomTop = 4
      case topBottomTop = 5
      case bottomTopBottom = 6
      case frameDoubling = 7
      case frameTripling = 8

      /// `NumClockTS` (Table D-1).
      public var clockTimestampCount: Int {
        switch self {
        case .frame, .topField, .bottomField: 1
        case .topBottom, .bottomTop, .frameDoubling: 2
        case .topBottomTop, .bottomTopBottom, .frameTripling: 3
        }
      }

      /// How long the picture is shown, in field periods.
      public var fieldPeriods: Int {
        switch self {
        case .topField, .bottomField: 1
        case .frame, .topBottom, .bottomTop: 2
        case .topBottomTop, .bottomTopBottom: 3
        case .frameDoubling: 4
        case .frameTripling: 6
        }
      }
    }

    /// `clock_timestamp()`.
    public struct ClockTimestamp: Sendable, Hashable {
      /// `ct_type`: 0 progressive, 1 interlaced, 2 unknown, 3 reserved.
      public var scanType: UInt8 = 0
      /// `nuit_field_based_flag`.
      public var isFieldBased = false
      /// `counting_type`, 0 to 31 (Table D-3); 4 is drop frame.
      public var countingType: UInt8 = 0
      /// `discontinuity_flag`.
      public var isDiscontinuous = false
      /// `cnt_dropped_flag`.
      public var hasDroppedCount = false
      /// `n_frames`.
      public var frames: UInt8 = 0
      /// `seconds_value`; nil when absent.
      public var seconds: UInt8?
      /// `minutes_value`; nil when absent, as when `seconds` is.
      public var minutes: UInt8?
      /// `hours_value`; nil when absent, as when `minutes` is.
      public var hours: UInt8?
      /// `full_timestamp_flag`: all three are there, and no flags between them.
      public var isFull = false
      /// `time_offset`.
      public var timeOffset: Int32 = 0

      /// Creates one that says zero frames and nothing else.
      public init() {}
    }

    /// Creates one; see ``payload(sps:)``.
    public init(delays: Delays? = nil, structure: Structure? = nil, clockTimestamps: [ClockTimestamp?] = []) {
      self.delays = delays
      self.structure = structure
      self.clockTimestamps = clockTimestamps
    }

    /// Reads a message of type ``SEIPayloadType/pictureTiming``.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - sps: the SPS in force: it says which parts there are and how long they are.
    /// - Throws: any ``BitstreamError``.
    public init(_ message: borrowing SEIMessages.Message, sps: borrowing SequenceParameterSet) throws(BitstreamError) {
      var reader = message.reader
      guard let vui = sps.vui else { return }
      if let hrd = vui.nalHRD ?? vui.vclHRD {
        let removal = try reader.u(Int(hrd.removalDelayLength), "cpb_removal_delay")
        delays = Delays(
          cpbRemoval: removal, dpbOutput: try reader.u(Int(hrd.outputDelayLength), "dpb_output_delay"))
      }
      guard vui.isPictureStructurePresent else { return }
      let start = reader.bitOffset
      guard let structure = Structure(rawValue: try reader.u8(4, "pic_struct")) else {
        throw BitstreamError(.valueOutOfRange, "pic_struct", bitOffset: start)
      }
      self.structure = structure
      let offsetLength = Self.offsetLength(vui)
      for _ in 0..<structure.clockTimestampCount {
        let isPresent = try reader.flag("clock_timestamp_flag")
        clockTimestamps.append(isPresent ? try ClockTimestamp(&reader, offsetLength: offsetLength) : nil)
      }
    }

    /// The payload: the inverse of ``init(_:sps:)``.
    public func payload(sps: borrowing SequenceParameterSet) -> [UInt8] {
      var writer = BitWriter(addsEmulationPrevention: false)
      guard let vui = sps.vui else { return [] }
      if let hrd = vui.nalHRD ?? vui.vclHRD {
        writer.u(Int(hrd.removalDelayLength), delays?.cpbRemoval ?? 0)
        writer.u(Int(hrd.outputDelayLength), delays?.dpbOutput ?? 0)
      }
      if vui.isPictureStructurePresent {
        let structure = structure ?? .frame
        writer.u(4, UInt32(structure.rawValue))
        let offsetLength = Self.offsetLength(vui)
        for index in 0..<structure.clockTimestampCount {
          let timestamp = index < clockTimestamps.count ? clockTimestamps[index] : nil
          writer.flag(timestamp != nil)
          timestamp?.write(to: &writer, offsetLength: offsetLength)
        }
      }
      // A payload that does not end at a byte ends like an RBSP (7.3.2.3.1).
      if !writer.isByteAligned { writer.trailingBits() }
      return writer.bytes
    }

    /// `time_offset_length`, 24 when there are no HRD parameters (E.2.2).
    private static func offsetLength(_ vui: VUI) -> Int {
      Int((vui.nalHRD ?? vui.vclHRD)?.timeOffsetLength ?? 24)
    }
  }
}

extension H264.PictureTiming.ClockTimestamp {
  fileprivate init(_ reader: inout BitReader, offsetLength: Int) throws(BitstreamError) {
    scanType = try reader.u8(2, "ct_type")
    isFieldBased = try reader.flag("nuit_field_based_flag")
    countingType = try reader.u8(5, "counting_type")
    isFull = try reader.flag("full_timestamp_flag")
    isDiscontinuous = try reader.flag("discontinuity_flag")
    hasDroppedCount = try reader.flag("cnt_dropped_flag")
    frames = try reader.byte("n_frames")
    // Out-of-range clock values are kept as sent: they harm nothing, and stock reads them too.
    if isFull {
      seconds = try reader.u8(6, "seconds_value")
      minutes = try reader.u8(6, "minutes_value")
      hours = try reader.u8(5, "hours_value")
    } else if try reader.flag("seconds_flag") {
      seconds = try reader.u8(6, "seconds_value")
      if try reader.flag("minutes_flag") {
        minutes = try reader.u8(6, "minutes_value")
        if try reader.flag("hours_flag") { hours = try reader.u8(5, "hours_value") }
      }
    }
    guard offsetLength > 0 else { return }
    let bits = try reader.u(offsetLength, "time_offset")
    // i(v): two's complement of `offsetLength` bits, at most 31.
    timeOffset = Int32(bitPattern: bits << UInt32(32 - offsetLength)) >> Int32(32 - offsetLength)
  }

  fileprivate func write(to writer: inout BitWriter, offsetLength: Int) {
    writer.u(2, UInt32(scanType))
    writer.flag(isFieldBased)
    writer.u(5, UInt32(countingType))
    let isFull = isFull && seconds != nil && minutes != nil && hours != nil
    writer.flag(isFull)
    writer.flag(isDiscontinuous)
    writer.flag(hasDroppedCount)
    writer.u(8, UInt32(frames))
    let parts: [(UInt8?, Int)] = [(seconds, 6), (minutes, 6), (hours, 5)]
    for (value, length) in parts {
      if !isFull { writer.flag(value != nil) }
      guard let value else { break }
      writer.u(length, UInt32(value))
    }
    writer.u(offsetLength, UInt32(bitPattern: timeOffset))
  }
}
