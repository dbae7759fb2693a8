// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import SystemPackage

/// A session description (SDP, RFC 8866), read whole.
struct SessionDescription {
  private let bytes: [UInt8]
  private static let greatestSize = 65_536

  /// Reads a file; `-` is standard input.
  ///
  /// - Throws: a `Failure` if the file is no session description, or has no H.264 or H.265.
  init(_ path: FilePath) throws(Failure) {
    let input = try InputFile(path)
    let source = try InputBytes(input)
    bytes = source.read(at: 0, count: Self.greatestSize + 1)
    let lines = String(decoding: bytes.prefix(Self.greatestSize), as: UTF8.self).split(whereSeparator: \.isNewline)
    guard bytes.count <= Self.greatestSize, !bytes.contains(0), lines.first == "v=0" else {
      throw Failure("\(input.name): no session description (SDP), which begins with v=0")
    }
    let streams = Self.streams(lines)
    guard !streams.contains(where: { $0.isSupported }) else { return }
    let others = streams.isEmpty ? "no stream" : Text.list(streams.map { "\($0.kind) (\($0.encoding))" })
    throw Failure("\(input.name): no H.264 or H.265; it has \(others)")
  }

  private struct Stream {
    var kind: String
    var encoding = "unknown"
    var isSupported: Bool { kind == "video" && (encoding == "H264" || encoding == "H265") }
  }

  private static func streams(_ lines: [Substring]) -> [Stream] {
    var streams: [Stream] = []
    for line in lines {
      if line.hasPrefix("m=") {
        streams.append(Stream(kind: String(line.dropFirst(2).prefix { $0 != " " })))
      } else if line.hasPrefix("a=rtpmap:"), let last = streams.indices.last, !streams[last].isSupported {
        // a=rtpmap:96 H264/90000
        let encoding = line.drop { $0 != " " }.drop { $0 == " " }.prefix { $0 != "/" }
        streams[last].encoding = encoding.uppercased()
      }
    }
    return streams
  }

  /// Makes the element that sends the description.
  func source() throws(PipelineError) -> PipelineElement {
    let digits = Array("0123456789ABCDEF")
    let escaped = bytes.flatMap { ["%", digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return try PipelineElement("dataurisrc", ["uri": .string("data:application/sdp," + String(escaped))])
  }
}
