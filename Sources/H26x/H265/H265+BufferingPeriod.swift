// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `buffering_period()` (D.2.2).
  public struct BufferingPeriod: Sendable, Hashable {
    /// `initial_cpb_removal_delay` and `…_offset`, in units of a 90 kHz clock.
    public struct Delay: Sendable, Hashable {
      /// The initial removal delay, in ticks of 90 kHz.
      public var removalDelay: UInt32
      /// The offset that belongs to it, in ticks of 90 kHz.
      public var removalDelayOffset: UInt32
      /// `initial_alt_cpb_removal_delay` and `…_offset`; nil if not sent.
      public var alternative: Alternative?

      /// The delays for a stream without its leading pictures, or for decoding units.
      public struct Alternative: Sendable, Hashable {
        /// The initial removal delay, in ticks of 90 kHz.
        public var removalDelay: UInt32
        /// The offset that belongs to it, in ticks of 90 kHz.
        public var removalDelayOffset: UInt32
      }
    }

    /// `bp_seq_parameter_set_id`, 0 to 15.
    public var sequenceParameterSetID: SequenceParameterSetID
    /// `irap_cpb_params_present_flag` with `cpb_delay_offset` and `dpb_delay_offset`; nil if the flag is 0.
    public var randomAccess: RandomAccess?
    /// `concatenation_flag`.
    public var isConcatenation: Bool
    /// `au_cpb_removal_delay_delta_minus1` + 1, 1 to 2³².
    public var removalDelayDelta: UInt64
    /// One entry for each buffer of the NAL HRD; empty without one.
    public var nal: [Delay] = []
    /// One entry for each buffer of the VCL HRD; empty without one.
    public var vcl: [Delay] = []

    /// Delays when decoding starts at this IRAP picture, without its RASL pictures.
    public struct RandomAccess: Sendable, Hashable {
      /// `cpb_delay_offset`, in clock ticks.
      public var cpbDelayOffset: UInt32
      /// `dpb_delay_offset`, in clock ticks.
      public var dpbDelayOffset: UInt32
    }

    /// Reads a message of type ``SEIPayloadType/bufferingPeriod``, with the SPS that it refers to.
    ///
    /// - Throws: `.missingParameterSet` when the SPS or its HRD parameters are missing, or any other
    ///   ``BitstreamError``.
    public init(
      _ message: borrowing SEIMessages.Message, parameterSets: borrowing ParameterSets
    ) throws(BitstreamError) {
      var reader = message.reader
      let start = reader.bitOffset
      sequenceParameterSetID = .init(try reader.ue8(in: 0...15, "bp_seq_parameter_set_id"))
      guard let sps = parameterSets.sequenceParameterSet(sequenceParameterSetID),
        let hrd = sps.vui?.timing?.hrdParameters
      else { throw BitstreamError(.missingParameterSet, "bp_seq_parameter_set_id", bitOffset: start) }
      let common = hrd.common
      if common.subPicture == nil, try reader.flag("irap_cpb_params_present_flag") {
        let offset = try reader.u(Int(common.removalDelayLength), "cpb_delay_offset")
        randomAccess = RandomAccess(
          cpbDelayOffset: offset, dpbDelayOffset: try reader.u(Int(common.outputDelayLength), "dpb_delay_offset"))
      }
      isConcatenation = try reader.flag("concatenation_flag")
      removalDelayDelta =
        UInt64(try reader.u(Int(common.removalDelayLength), "au_cpb_removal_delay_delta_minus1")) + 1
      // HighestTid: the highest sub-layer.
      let count = hrd.subLayers.last?.bufferCount ?? 1
      let hasAlternative = common.subPicture != nil || randomAccess != nil
      let length = Int(common.initialRemovalDelayLength)
      if common.hasNAL { nal = try Self.delays(&reader, count, length, hasAlternative: hasAlternative) }
      if common.hasVCL { vcl = try Self.delays(&reader, count, length, hasAlternative: hasAlternative) }
    }

    /// The payload: the inverse of ``init(_:parameterSets:)``.
    ///
    /// - Parameter sps: the SPS that the message refers to.
    package func payload(sps: SequenceParameterSet) -> [UInt8] {
      var writer = BitWriter(addsEmulationPrevention: false)
      writer.ue(UInt32(sequenceParameterSetID.rawValue))
      let common = sps.vui?.timing?.hrdParameters?.common ?? HRDParameters.Common()
      if common.subPicture == nil {
        writer.flag(randomAccess != nil)
        if let randomAccess {
          writer.u(Int(common.removalDelayLength), randomAccess.cpbDelayOffset)
          writer.u(Int(common.outputDelayLength), randomAccess.dpbDelayOffset)
        }
      }
      writer.flag(isConcatenation)
      writer.u(Int(common.removalDelayLength), UInt32(truncatingIfNeeded: removalDelayDelta &- 1))
      let length = Int(common.initialRemovalDelayLength)
      for delay in nal + vcl {
        writer.u(length, delay.removalDelay)
        writer.u(length, delay.removalDelayOffset)
        guard let alternative = delay.alternative else { continue }
        writer.u(length, alternative.removalDelay)
        writer.u(length, alternative.removalDelayOffset)
      }
      if !writer.isByteAligned { writer.trailingBits() }
      return writer.bytes
    }

    /// The SPS that a message of type ``SEIPayloadType/bufferingPeriod`` refers to.
    ///
    /// - Throws: any ``BitstreamError`` of reading the id.
    package static func sequenceParameterSetID(
      of message: borrowing SEIMessages.Message
    ) throws(BitstreamError) -> SequenceParameterSetID {
      var reader = message.reader
      return .init(try reader.ue8(in: 0...15, "bp_seq_parameter_set_id"))
    }

    private static func delays(
      _ reader: inout BitReader, _ count: UInt8, _ length: Int, hasAlternative: Bool
    ) throws(BitstreamError) -> [Delay] {
      var delays: [Delay] = []
      for _ in 0..<count {
        let removal = try reader.u(length, "initial_cpb_removal_delay")
        var delay = Delay(
          removalDelay: removal, removalDelayOffset: try reader.u(length, "initial_cpb_removal_offset"))
        if hasAlternative {
          let alternative = try reader.u(length, "initial_alt_cpb_removal_delay")
          delay.alternative = .init(
            removalDelay: alternative, removalDelayOffset: try reader.u(length, "initial_alt_cpb_removal_offset"))
        }
        delays.append(delay)
      }
      return delays
    }
  }
}
