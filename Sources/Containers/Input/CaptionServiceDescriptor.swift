// SPDX-License-Identifier: MPL-2.0
package import H26x
import StreamReport

/// `caption_service_descriptor()` of the video in a transport stream's program map (ATSC A/65, 6.9.2): the caption
/// services and their languages, which the captions themselves do not have.
package struct CaptionServiceDescriptor: Sendable, Equatable {
  /// The bytes behind tag and length.
  let content: [UInt8]

  /// The bytes of an entry.
  private static let entrySize = 6

  /// The services, as far as they can be read.
  package var services: CaptionDistributionPacket.ServiceInformation {
    let count = Int((content.first ?? 0) & 0x1F)
    let places = stride(from: 1, through: content.count - Self.entrySize, by: Self.entrySize).prefix(count)
    let services = places.map { place in
      // The packet's entries have the number of the service in front.
      CaptionDistributionPacket.Service(
        number: content[place + 3] & 0x3F, languageCode: Array(content[place..<place + 3]), type: content[place + 3],
        properties: UInt16(content[place + 4]) << 8 | UInt16(content[place + 5]))
    }
    return CaptionDistributionPacket.ServiceInformation(flags: 0, services: services)
  }

  /// For the user: "caption services in the program map (field 1 in eng, service 1 in eng)".
  var summary: String {
    let names = services.services.compactMap { service in
      service.service.map { $0.name + (service.language.map { " in \($0)" } ?? "") }
    }
    return "caption services in the program map" + (names.isEmpty ? "" : " (\(names.joined(separator: ", ")))")
  }
}

extension CaptionServiceDescriptor {
  private static let (pieceSize, limit) = (1 << 16, 1 << 22)

  /// Reads the first program map that has a stream.
  ///
  /// - Parameters:
  ///   - identifier: the PID of the stream.
  ///   - limit: the most bytes that are read.
  /// - Returns: `nil` if the map has no descriptor, or comes later.
  init?(ofStream identifier: UInt16, in bytes: InputBytes, upTo limit: UInt64) {
    var maps = ProgramMapRewriter()
    var (rest, place): ([UInt8], UInt64) = ([], 0)
    var packets: TransportStream.Packets?
    while place < min(limit, UInt64(Self.limit)) {
      let count = rest.count
      bytes.read(at: place, count: min(Self.pieceSize, Int(clamping: limit - place)), appendingTo: &rest)
      guard rest.count > count else { return nil }
      place += UInt64(rest.count - count)
      guard let found = packets ?? TransportStream.Packets(in: rest) else { continue }
      var start = found.first
      while start + 188 <= rest.count {
        // Bytes that are missing or too many.
        guard rest[start] == 0x47 else { break }
        _ = maps.rewrite(rest.span.extracting(start..<start + 188))
        start += found.size
      }
      if let content = maps.captionServices[identifier] {
        guard !content.isEmpty else { return nil }
        self.content = content
        return
      }
      let isInStep = start + 188 > rest.count
      packets = isInStep ? TransportStream.Packets(first: max(0, start - rest.count), size: found.size) : nil
      rest.removeFirst(min(isInStep ? start : start + 1, rest.count))
    }
    return nil
  }
}
