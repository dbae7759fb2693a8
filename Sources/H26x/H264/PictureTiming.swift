// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `pic_timing()` (D.1.3): for how long and in which fields a picture is displayed, and its time codes.
  public struct PictureTiming: Sendable, Hashable {
    /// `cpb_removal_delay` and `dpb_output_delay`; nil without HRD parameters.
    public var delays: Delays?
    /// `pic_struct`; nil if the SPS has no `pic_struct_present_flag`.
    public var structure: Structure?
    /// `clock_timestamp()`s: ``Structure/clockTimestampCount`` of them, nil if `clock_timestamp_flag` is 0.
    public var clockTimestamps: [ClockTimestamp?] = []

    /// The delays of a picture, in clock ticks.
    public struct Delays: Sendable, Hashable {
      /// `cpb_removal_delay`, in clock ticks.
      public var cpbRemoval: UInt32
      /// `dpb_output_delay`, in clock ticks.
      public var dpbOutput: UInt32

      /// Creates the delays of a picture, in clock ticks.
      public init(cpbRemoval: UInt32, dpbOutput: UInt32) {
        self.cpbRemoval = cpbRemoval
        self.dpbOutput = dpbOutput
      }
    }

    /// `pic_struct` (Table D-1).
    public enum Structure: UInt8, Sendable, CaseIterable {
      /// A frame, progressive.
      case frame = 0
      /// A top field.
      case topField = 1
      /// A bottom field.
      case bottomField = 2
      /// A top field, then a bottom field.
      case topBottom = 3
      /// A bottom field, then a top field.
      case bottomTop = 4
      /// A top field, a bottom field, and the top field again.
      case topBottomTop = 5
      /// A bottom field, a top field, and the bottom field again.
      case bottomTopBottom = 6
      /// A frame, shown twice.
      case frameDoubling = 7
      /// A frame, shown three times.
      case frameTripling = 8

      /// `NumClockTS` (Table D-1).
      public var clockTimestampCount: Int {
        switch self {
        case .frame, .topField, .bottomField: 1
        case .topBottom, .bottomTop, .frameDoubling: 2
        case .topBottomTop, .bottomTopBottom, .frameTripling: 3
        }
      }

      /// For how many field periods the picture is displayed.
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
    public typealias ClockTimestamp = H26x.ClockTimestamp

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
    ///   - sps: the active SPS, which determines the parts and their lengths.
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
        clockTimestamps.append(isPresent ? try Self.timestamp(&reader, offsetLength: offsetLength) : nil)
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
          if let timestamp { Self.write(timestamp, to: &writer, offsetLength: offsetLength) }
        }
      }
      // A payload that does not end at a byte boundary ends like an RBSP (7.3.2.3.1).
      if !writer.isByteAligned { writer.trailingBits() }
      return writer.bytes
    }

    private static func timestamp(
      _ reader: inout BitReader, offsetLength: Int
    ) throws(BitstreamError) -> ClockTimestamp {
      var timestamp = ClockTimestamp()
      timestamp.scanType = try reader.u8(2, "ct_type")
      try timestamp.readClock(&reader, fieldBased: "nuit_field_based_flag", frameBits: 8)
      try timestamp.readOffset(&reader, bits: offsetLength, "time_offset")
      return timestamp
    }

    private static func write(_ timestamp: ClockTimestamp, to writer: inout BitWriter, offsetLength: Int) {
      writer.u(2, UInt32(timestamp.scanType))
      timestamp.writeClock(to: &writer, frameBits: 8)
      writer.u(offsetLength, UInt32(bitPattern: timestamp.timeOffset))
    }

    /// `time_offset_length`, 24 when there are no HRD parameters (E.2.2).
    private static func offsetLength(_ vui: VUI) -> Int {
      Int((vui.nalHRD ?? vui.vclHRD)?.timeOffsetLength ?? 24)
    }
  }
}
