// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `hrd_parameters()` (E.1.2): the buffers of the hypothetical reference decoder.
  public struct HRDParameters: Sendable, Hashable {
    /// One coded picture buffer.
    public struct CodedPictureBuffer: Sendable, Hashable {
      /// `bit_rate_value_minus1` + 1, in units of 2^(6 + `bitRateScale`) bits a second.
      public var bitRateValue: UInt32
      /// `cpb_size_value_minus1` + 1, in units of 2^(4 + `sizeScale`) bits.
      public var sizeValue: UInt32
      /// `cbr_flag`.
      public var isConstantBitRate: Bool
    }

    /// `bit_rate_scale`, 0 to 15.
    public var bitRateScale: UInt8
    /// `cpb_size_scale`, 0 to 15.
    public var sizeScale: UInt8
    /// The buffers, 1 to 32 (`cpb_cnt_minus1` + 1).
    public var buffers: [CodedPictureBuffer]
    /// `initial_cpb_removal_delay_length_minus1` + 1, 1 to 32 bits.
    public var initialRemovalDelayLength: UInt8
    /// `cpb_removal_delay_length_minus1` + 1, 1 to 32 bits.
    public var removalDelayLength: UInt8
    /// `dpb_output_delay_length_minus1` + 1, 1 to 32 bits.
    public var outputDelayLength: UInt8
    /// `time_offset_length`, 0 to 31 bits.
    public var timeOffsetLength: UInt8

    /// The bit rate of a buffer, in bits a second.
    public func bitRate(of buffer: CodedPictureBuffer) -> UInt64 {
      UInt64(buffer.bitRateValue) << UInt64(6 + bitRateScale & 0xF)
    }

    /// The size of a buffer, in bits.
    public func size(of buffer: CodedPictureBuffer) -> UInt64 {
      UInt64(buffer.sizeValue) << UInt64(4 + sizeScale & 0xF)
    }

    init(_ reader: inout BitReader) throws(BitstreamError) {
      let count = Int(try reader.ue(in: 0...31, "cpb_cnt_minus1")) + 1
      bitRateScale = UInt8(truncatingIfNeeded: try reader.u(4, "bit_rate_scale"))
      sizeScale = UInt8(truncatingIfNeeded: try reader.u(4, "cpb_size_scale"))
      buffers = []
      buffers.reserveCapacity(count)
      for _ in 0..<count {
        let rate = try reader.ue(in: 0...UInt32.max - 1, "bit_rate_value_minus1")
        let size = try reader.ue(in: 0...UInt32.max - 1, "cpb_size_value_minus1")
        buffers.append(
          CodedPictureBuffer(
            bitRateValue: rate + 1, sizeValue: size + 1, isConstantBitRate: try reader.flag("cbr_flag")))
      }
      initialRemovalDelayLength =
        UInt8(truncatingIfNeeded: try reader.u(5, "initial_cpb_removal_delay_length_minus1")) + 1
      removalDelayLength = UInt8(truncatingIfNeeded: try reader.u(5, "cpb_removal_delay_length_minus1")) + 1
      outputDelayLength = UInt8(truncatingIfNeeded: try reader.u(5, "dpb_output_delay_length_minus1")) + 1
      timeOffsetLength = UInt8(truncatingIfNeeded: try reader.u(5, "time_offset_length"))
    }

    func write(to writer: inout BitWriter) {
      writer.ue(UInt32(clamping: max(1, buffers.count) - 1))
      writer.u(4, UInt32(bitRateScale))
      writer.u(4, UInt32(sizeScale))
      for buffer in buffers {
        writer.ue(max(1, buffer.bitRateValue) - 1)
        writer.ue(max(1, buffer.sizeValue) - 1)
        writer.flag(buffer.isConstantBitRate)
      }
      writer.u(5, UInt32(max(1, initialRemovalDelayLength) - 1))
      writer.u(5, UInt32(max(1, removalDelayLength) - 1))
      writer.u(5, UInt32(max(1, outputDelayLength) - 1))
      writer.u(5, UInt32(timeOffsetLength))
    }
  }
}
