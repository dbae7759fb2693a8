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

    /// The buffering period of a picture that begins a coded video sequence.
    ///
    /// - Parameters:
    ///   - sps: of the sequence; nil is returned if it has no HRD parameters.
    ///   - fullness: how full the buffers are when the picture is removed, from 0 to 1.
    ///   - other: one of pictures that may follow in the sequence; nil if none do. The sum of delay and offset is the
    ///     same in the whole sequence (D.2.2).
    package init?(beginning sps: SequenceParameterSet, fullness: Double, like other: Self?) {
      guard let vui = sps.vui, vui.nalHRD != nil || vui.vclHRD != nil else { return nil }
      sequenceParameterSetID = sps.id
      nal = Self.delays(vui.nalHRD, fullness, like: other?.nal)
      vcl = Self.delays(vui.vclHRD, fullness, like: other?.vcl)
    }

    private static func delays(_ hrd: HRDParameters?, _ fullness: Double, like others: [Delay]?) -> [Delay] {
      guard let hrd else { return [] }
      return hrd.buffers.enumerated().map { index, buffer in
        let limit = UInt64(1) << UInt64(min(hrd.initialRemovalDelayLength, 32)) - 1
        // Exact enough for a sum that is below 2³².
        let full = Double(hrd.size(of: buffer)) / Double(max(1, hrd.bitRate(of: buffer))) * 90_000
        let other = others.flatMap { index < $0.count ? $0[index] : nil }
        let sum =
          other.map { UInt64($0.removalDelay) + UInt64($0.removalDelayOffset) } ?? UInt64(min(full, Double(limit)))
        let delay = max(1, min(UInt64(min(full * min(max(fullness, 0), 1), Double(limit))), sum))
        return Delay(
          removalDelay: UInt32(clamping: delay), removalDelayOffset: UInt32(clamping: min(sum - min(sum, delay), limit))
        )
      }
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
