// SPDX-License-Identifier: MPL-2.0
import H26x

/// Finds beginnings of access units at the ends of packets, which belong to the packets after them.
///
/// Some encoders write SEI behind a picture's slices, and the muxer begins the next PES packet with the next delimiter
/// or slice. Such SEI begins the next access unit (H.264 7.4.1.2.3, H.265 7.4.2.4.4). That access unit would then begin
/// in the packet that has the time of the access unit before it.
struct PacketAlignment {
  private let codec: FormatDescription.Codec
  /// Whether the current packet begins with an access unit.
  private var isAligned = false

  init(_ codec: FormatDescription.Codec) { self.codec = codec }

  /// Takes the beginning of an access unit from the end of a packet. Returns its bytes, which belong to the next packet
  /// if that ``begins(_:after:)`` with the rest; none if the packet ends with a picture.
  mutating func takeEnd(of packet: inout VideoSample) -> [UInt8] {
    let start =
      switch codec {
      case .h264: end(of: packet, H264.self)
      case .h265: end(of: packet, H265.self)
      }
    guard let start else { return [] }
    let bytes = Array(packet.bytes[start...])
    packet.bytes.removeSubrange(start...)
    return bytes
  }

  /// Whether a packet begins with a NAL unit and has a time of its own.
  static func begins(_ packet: VideoSample, after last: VideoSample) -> Bool {
    guard let time = packet.composition, time != last.composition,
      let prefix = AnnexB.startCode(in: packet.bytes.span)
    else { return false }
    return prefix == 0 || prefix == 1 && packet.bytes[0] == 0
  }

  /// The offset of the NAL units behind the last slice that begin an access unit; nil if there are none.
  private mutating func end<Codec: ElementCodecSyntax>(of packet: VideoSample, _ codec: Codec.Type) -> Int? {
    let bytes = packet.bytes.span
    var units = AnnexB.NALUnits(bytes)
    var isFirst = true
    var start: Int?
    while let unit = units.next() {
      let nalUnit = bytes.extracting(unit.range)
      let role = Codec.role(of: nalUnit)
      // libavformat splits long packets: only the first part has a time.
      if isFirst, packet.composition != nil {
        isAligned = unit.startCodeOffset == 0 && (role != .slice || Codec.startsPicture(nalUnit) == true)
      }
      isFirst = false
      switch role {
      case .slice, .slicePart, .layerSlice: start = nil
      case .accessUnitDelimiter, .sei: start = start ?? unit.startCodeOffset
      case _ where role.isParameterSet: start = start ?? unit.startCodeOffset
      default: break
      }
    }
    guard isAligned, let start, start > 0 else { return nil }
    return start
  }
}
