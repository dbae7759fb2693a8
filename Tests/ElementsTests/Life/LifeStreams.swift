// SPDX-License-Identifier: MPL-2.0
import H26x
import HarnessSupport
import Testing

/// An element under test, with its input streams and output caps.
struct Trial: Sendable, CustomTestStringConvertible {
  /// As on a gst-launch-1.0 line.
  var element: String
  /// The caps that downstream accepts.
  var output: String

  var testDescription: String { "\(element) → \(output)" }

  /// Whether it is an element of H.265.
  var isH265: Bool { element.contains("h265") }

  /// Every element, in each of its modes.
  static let all = [
    Trial(element: "swifth264parse", output: "video/x-h264, stream-format=byte-stream, alignment=au"),
    Trial(element: "swifth264parse", output: "video/x-h264, stream-format=byte-stream, alignment=nal"),
    Trial(element: "swifth264parse", output: "video/x-h264, stream-format=avc3, alignment=au"),
    Trial(element: "swifth264repack", output: "video/x-h264, stream-format=byte-stream, alignment=au"),
    Trial(element: "swifth264repack", output: "video/x-h264, stream-format=avc3, alignment=au"),
    Trial(element: "swifth265parse", output: "video/x-h265, stream-format=byte-stream, alignment=au"),
    Trial(element: "swifth265parse", output: "video/x-h265, stream-format=hev1, alignment=au"),
    Trial(element: "swifth265parse", output: "video/x-h265, stream-format=byte-stream, alignment=nal"),
    Trial(element: "swifth265repack", output: "video/x-h265, stream-format=byte-stream, alignment=nal"),
    Trial(element: "swifth265repack", output: "video/x-h265, stream-format=hev1, alignment=au"),
    Trial(
      element: "swifth265repack insert-captions=true caption-meta-order=display",
      output: "video/x-h265, stream-format=byte-stream, alignment=au"),
    Trial(element: "swifth264dec max-threads=1", output: "video/x-raw"),
    Trial(element: "swifth264dec max-threads=2 thread-type=frame", output: "video/x-raw, format=NV12"),
    Trial(element: "swifth265dec max-threads=1", output: "video/x-raw"),
    Trial(element: "swifth265dec max-threads=2 thread-type=frame", output: "video/x-raw, format=NV12"),
  ]
}

/// Clips in the packaging of MP4.
enum LifeStreams {
  /// A clip of the trial's codec, with its parameter sets in the caps.
  static func packets(_ clip: String, for trial: Trial, first count: Int? = nil) throws -> RestartRace.Stream {
    try trial.isH265 ? hvc1(clip, first: count) : avc("\(clip).h264", first: count)
  }

  /// A clip as `hvc1` in access units, with its configuration record in the caps.
  static func hvc1(_ name: String, first count: Int? = nil) throws -> RestartRace.Stream {
    let bytes = try Clip.read("\(name).h265")
    var scanner = H265.Scanner()
    var units: [[[UInt8]]] = []
    var offset = 0
    while case .accessUnit(let size) = scanner.next(
      in: bytes.span.extracting(offset...), isMarked: false, isDraining: true)
    {
      units.append(Clip.nalUnits(Array(bytes[offset..<offset + size])))
      offset += size
    }
    let sets = units[0].filter { 32...34 ~= $0[0] >> 1 }
    return RestartRace.Stream(
      caps: H265Stream.caps("hvc1", codecData: H265Stream.hvcC(sets.map { [$0] })),
      accessUnits: units.prefix(count ?? units.count).map { RepackStream.lengthPrefixed($0) })
  }

  /// A clip of the trial's codec as a byte stream, in buffers that are aligned to nothing.
  static func byteStream(_ clip: String, for trial: Trial) throws -> RestartRace.Stream {
    guard trial.isH265 else { return try byteStream("\(clip).h264") }
    return RestartRace.Stream(
      caps: H265Stream.caps("byte-stream", "nal"),
      accessUnits: Clip.nalUnits(try Clip.read("\(clip).h265")).map { RepackStream.annexB([$0]) })
  }

  /// A clip as `avc` in access units, with its configuration record in the caps.
  static func avc(_ name: String, first count: Int? = nil) throws -> RestartRace.Stream {
    let units = try Clip.accessUnits(name)
    let sets = Clip.nalUnits(units[0])
    let sps = sets.filter { $0[0] & 31 == 7 }
    let pps = sets.filter { $0[0] & 31 == 8 }
    // High profiles have chroma format and bit depths in avcC, here 4:2:0 and 8 bits.
    let high: [UInt8] = (sps.first.map { $0[1] } ?? 0) >= 100 ? [0xFD, 0xF8, 0xF8, 0] : []
    let record = RepackStream.avcC(sps, pps: pps, high: high)
    return RestartRace.Stream(
      caps: RepackStream.caps("avc", "au", codecData: record),
      accessUnits: units.prefix(count ?? units.count).map { RepackStream.lengthPrefixed(Clip.nalUnits($0)) })
  }

  /// A clip of H.264 as a byte stream, a NAL unit a buffer.
  static func nalUnits(_ name: String) throws -> RestartRace.Stream {
    RestartRace.Stream(
      caps: RepackStream.caps("byte-stream", "nal"),
      accessUnits: try Clip.accessUnits(name).flatMap { Clip.nalUnits($0).map { RepackStream.annexB([$0]) } })
  }

  /// A clip as a byte stream in access units.
  static func byteStream(_ name: String) throws -> RestartRace.Stream {
    RestartRace.Stream(caps: RepackStream.caps("byte-stream", "au"), accessUnits: try Clip.accessUnits(name))
  }
}
