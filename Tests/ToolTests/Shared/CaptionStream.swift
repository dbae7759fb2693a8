// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import Testing

/// Streams with captions: text of CC1 that is shown at once, and a service of CTA-708.
enum CaptionStream {
  /// The triplets of a frame at 29.97 frames a second.
  static func triplets(_ frame: Int, hasPairs: Bool = true, hasPackets: Bool = true) throws -> [CaptionTriplet] {
    let pair = hasPairs ? pairs[frame] ?? [0, 0] : [0, 0]
    var triplets = [
      CaptionTriplet(.field1, parity(pair[0]), parity(pair[1])), CaptionTriplet(.field2, 0x80, 0x80),
    ]
    if hasPackets, frame % 25 == 3 {
      let block = CaptionPacket.ServiceBlock(number: 1, data: [0x41, 0x42, UInt8(0x40 + frame / 25)])
      let packet = CaptionPacket(sequenceNumber: UInt8(frame / 25 & 3), serviceBlocks: [block])
      let bytes = try packet.bytes()
      for start in stride(from: 0, to: bytes.count, by: 2) {
        triplets.append(CaptionTriplet(start == 0 ? .packetStart : .packetData, bytes[start], bytes[start + 1]))
      }
    }
    let padding = CaptionTriplet(.packetData, isValid: false, 0, 0)
    return triplets + [CaptionTriplet](repeating: padding, count: 20 - triplets.count)
  }

  /// Odd parity in the eighth bit.
  private static func parity(_ byte: UInt8) -> UInt8 { byte.nonzeroBitCount & 1 == 0 ? byte | 0x80 : byte }

  /// Pairs of field 1 by frame: two texts, each loaded, shown and erased.
  private static let pairs: [Int: [UInt8]] = {
    let (load, erase, row, show, clear): ([UInt8], [UInt8], [UInt8], [UInt8], [UInt8]) =
      ([0x14, 0x20], [0x14, 0x2E], [0x14, 0x70], [0x14, 0x2F], [0x14, 0x2C])
    func text(_ text: String) -> [[UInt8]] {
      let bytes = Array(text.utf8)
      return stride(from: 0, to: bytes.count, by: 2).map { [bytes[$0], $0 + 1 < bytes.count ? bytes[$0 + 1] : 0] }
    }
    let lines: [(Int, [[UInt8]])] = [
      (10, [load, load, erase, erase, row, row] + text("HELLO WORLD")), (40, [show, show]),
      (60, [load, load, erase, erase, row, row] + text("SECOND")), (80, [clear, clear]), (110, [show, show]),
      (160, [clear, clear]),
    ]
    var pairs: [Int: [UInt8]] = [:]
    for (frame, codes) in lines { for (index, code) in codes.enumerated() { pairs[frame + index] = code } }
    return pairs
  }()

  // MARK: Files

  /// Makes 180 pictures at 29.97 frames a second, with three B-frames in a row.
  static func make(_ name: String, in folder: Folder) async throws {
    let encoder =
      name.hasSuffix("265")
      ? "x265enc option-string=bframes=3:b-adapt=0:keyint=60 ! h265parse"
      : "x264enc bframes=3 b-adapt=false key-int-max=60 ! h264parse"
    let type = name.hasSuffix("265") ? "h265" : "h264"
    let run = try await Program.shell(
      "gst-launch-1.0 -q videotestsrc num-buffers=180 ! video/x-raw,format=I420,width=64,height=64,framerate=30000/1001 "
        + "! \(encoder) ! video/x-\(type),stream-format=byte-stream ! filesink location=\(name)", in: folder.url)
    try #require(run.status == 0, "\(run.said)")
  }

  /// Gives pictures messages, which another command inserts.
  ///
  /// - Parameter payloads: those of a picture, by its number in the order of presentation.
  static func insert(
    _ name: String, as output: String, in folder: Folder, payloads: (Int) throws -> [[UInt8]]
  ) async throws {
    var lines = ""
    for (accessUnit, place) in try await AddedMetadata.presentationPlaces(name, in: folder).enumerated() {
      for payload in try payloads(place) {
        let digits = payload.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        lines += "{\"access-unit\":\(accessUnit),\"type\":4,\"payload\":\"\(digits)\"}\n"
      }
    }
    try folder.write("messages.jsonl", Data(lines.utf8))
    let run = try await Program.run(
      ["edit", name, "-o", output, "--insert-sei-from", "messages.jsonl"], in: folder.url)
    try #require(run.status == 0, "\(run.said)")
  }

  /// The payload of a message.
  static func payload(_ triplets: [CaptionTriplet]) throws -> [UInt8] {
    try CaptionMessage(CaptionData(triplets)).userData().payload
  }

  /// Makes a stream with captions.
  static func makeCaptioned(
    _ name: String, in folder: Folder, hasPairs: Bool = true, hasPackets: Bool = true
  ) async throws {
    try await make("plain.\(name)", in: folder)
    try await insert("plain.\(name)", as: name, in: folder) { frame in
      [try payload(triplets(frame, hasPairs: hasPairs, hasPackets: hasPackets))]
    }
  }
}
