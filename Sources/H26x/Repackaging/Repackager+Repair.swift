// SPDX-License-Identifier: MPL-2.0

extension Repackager {
  /// A length-prefixed access unit without the start codes that a careless muxer has left in it.
  ///
  /// - Parameter history: of the packets before it.
  /// - Returns: nil if there is none, or if the NAL units cannot be read or do not fit their length prefixes.
  package mutating func repaired(
    _ accessUnit: Span<UInt8>, lengthSize: NALLengthSize, _ history: inout LengthPrefixed.PacketHistory
  ) -> [UInt8]? {
    let startCodes = history.judge(accessUnit, lengthSize: lengthSize)
    do throws(BitstreamError) {
      guard try scanPacket(accessUnit, lengthSize: lengthSize, startCodes: startCodes) > 0 else { return nil }
      let packaging = NALPackaging.lengthPrefixed(lengthSize)
      var bytes = [UInt8](repeating: 0, count: try outputSize(packaging))
      var output = bytes.mutableSpan
      try write(accessUnit, as: packaging, to: &output)
      return bytes
    } catch {
      return nil
    }
  }
}
