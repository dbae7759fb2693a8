// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `buffering_period()` (D.1.2).
  public struct BufferingPeriod: Sendable, Hashable {
    /// `initial_cpb_removal_delay` and `…_offset`, in units of a 90 kHz clock.
    public struct Delay: Sendable, Hashable {
      /// `initial_cpb_removal_delay`.
      public var removalDelay: UInt32
      /// `initial_cpb_removal_delay_offset`.
      public var removalDelayOffset: UInt32
    }

    /// `seq_parameter_set_id`.
    public var sequenceParameterSetID: SequenceParameterSetID
    /// One entry for each buffer of the NAL HRD; empty without one.
    public var nal: [Delay] = []
    /// One entry for each buffer of the VCL HRD; empty without one.
    public var vcl: [Delay] = []

    /// Reads a message of type ``SEIPayloadType/bufferingPeriod``, with the SPS that it refers to.
    ///
    /// - Throws: `.missingParameterSet`, or any other ``BitstreamError``.
    public init(
      _ message: borrowing SEIMessages.Message, parameterSets: borrowing ParameterSets
    ) throws(BitstreamError) {
      var reader = message.reader
      let start = reader.bitOffset
      sequenceParameterSetID = .init(try reader.ue8(in: 0...31, "seq_parameter_set_id"))
      guard let sps = parameterSets.sequenceParameterSet(sequenceParameterSetID) else {
        throw BitstreamError(.missingParameterSet, "seq_parameter_set_id", bitOffset: start)
      }
      if let hrd = sps.vui?.nalHRD { nal = try Self.delays(&reader, hrd) }
      if let hrd = sps.vui?.vclHRD { vcl = try Self.delays(&reader, hrd) }
    }

    /// The payload: the inverse of ``init(_:parameterSets:)``.
    ///
    /// - Parameter sps: the SPS that the message refers to.
    package func payload(sps: SequenceParameterSet) -> [UInt8] {
      var writer = BitWriter(addsEmulationPrevention: false)
      writer.ue(UInt32(sequenceParameterSetID.rawValue))
      for (delays, hrd) in [(nal, sps.vui?.nalHRD), (vcl, sps.vui?.vclHRD)] {
        let length = Int(hrd?.initialRemovalDelayLength ?? 24)
        for delay in delays {
          writer.u(length, delay.removalDelay)
          writer.u(length, delay.removalDelayOffset)
        }
      }
      if !writer.isByteAligned { writer.trailingBits() }
      return writer.bytes
    }

    private static func delays(
      _ reader: inout BitReader, _ hrd: HRDParameters
    ) throws(BitstreamError) -> [Delay] {
      let length = Int(hrd.initialRemovalDelayLength)
      var delays: [Delay] = []
      for _ in hrd.buffers {
        let delay = try reader.u(length, "initial_cpb_removal_delay")
        delays.append(
          Delay(
            removalDelay: delay, removalDelayOffset: try reader.u(length, "initial_cpb_removal_delay_offset")))
      }
      return delays
    }
  }
}
