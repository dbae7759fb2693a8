// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `active_parameter_sets()` (D.2.21): which VPS and SPS the coded video sequence uses. SPSs of other layers are not
  /// read.
  public struct ActiveParameterSets: Sendable, Hashable {
    /// `active_video_parameter_set_id`, 0 to 15.
    public var videoParameterSetID: VideoParameterSetID
    /// `self_contained_cvs_flag`.
    public var isSelfContained: Bool
    /// `no_parameter_set_update_flag`: no parameter set changes within the sequence.
    public var hasNoUpdates: Bool
    /// `active_seq_parameter_set_id`, 1 to 16 of them; the base layer's is the first.
    public var sequenceParameterSetIDs: [SequenceParameterSetID]

    /// Creates one.
    public init(
      videoParameterSetID: VideoParameterSetID, isSelfContained: Bool = false, hasNoUpdates: Bool = false,
      sequenceParameterSetIDs: [SequenceParameterSetID]
    ) {
      self.videoParameterSetID = videoParameterSetID
      self.isSelfContained = isSelfContained
      self.hasNoUpdates = hasNoUpdates
      self.sequenceParameterSetIDs = sequenceParameterSetIDs
    }

    /// Reads a message of type ``SEIPayloadType/activeParameterSets``.
    ///
    /// - Throws: any ``BitstreamError``.
    public init(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
      var reader = message.reader
      videoParameterSetID = .init(try reader.u8(4, "active_video_parameter_set_id"))
      isSelfContained = try reader.flag("self_contained_cvs_flag")
      hasNoUpdates = try reader.flag("no_parameter_set_update_flag")
      sequenceParameterSetIDs = []
      for _ in 0...(try reader.ue8(in: 0...15, "num_sps_ids_minus1")) {
        sequenceParameterSetIDs.append(.init(try reader.ue8(in: 0...15, "active_seq_parameter_set_id")))
      }
    }

    /// The payload for a stream of one layer: the inverse of ``init(_:)``.
    public func payload() -> [UInt8] {
      var writer = BitWriter(addsEmulationPrevention: false)
      writer.u(4, UInt32(videoParameterSetID.rawValue))
      writer.flag(isSelfContained)
      writer.flag(hasNoUpdates)
      let ids = sequenceParameterSetIDs.prefix(16)
      writer.ue(UInt32(max(1, ids.count)) - 1)
      for id in ids { writer.ue(UInt32(id.rawValue)) }
      if !writer.isByteAligned { writer.trailingBits() }
      return writer.bytes
    }
  }
}
