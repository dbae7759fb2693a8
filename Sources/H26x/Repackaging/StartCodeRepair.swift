// SPDX-License-Identifier: MPL-2.0

/// Replaces the start codes that a careless muxer has left in length-prefixed access units.
package struct StartCodeRepair: Sendable {
  private var repackager: Repackager
  private var history = LengthPrefixed.PacketHistory()
  private let lengthSize: NALLengthSize?

  /// - Parameter lengthSize: the size of length prefixes; nil for a byte stream, which needs no repair.
  package init(codec: FormatDescription.Codec, lengthSize: NALLengthSize?) {
    repackager = Repackager(codec: codec)
    self.lengthSize = lengthSize
  }

  /// The next access unit with lengths in place of start codes.
  ///
  /// - Returns: nil if it has no start codes, or if its NAL units cannot be read or do not fit their length prefixes.
  package mutating func repaired(_ accessUnit: Span<UInt8>) -> [UInt8]? {
    guard let lengthSize else { return nil }
    let startCodes = history.judge(accessUnit, lengthSize: lengthSize)
    do throws(BitstreamError) {
      guard try repackager.scanPacket(accessUnit, lengthSize: lengthSize, startCodes: startCodes) > 0 else {
        return nil
      }
      let packaging = NALPackaging.lengthPrefixed(lengthSize)
      var bytes = [UInt8](repeating: 0, count: try repackager.outputSize(packaging))
      var output = bytes.mutableSpan
      try repackager.write(accessUnit, as: packaging, to: &output)
      return bytes
    } catch {
      return nil
    }
  }
}
