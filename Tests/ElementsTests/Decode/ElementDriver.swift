// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HardwareSupport
import HarnessSupport
import Testing
import VideoDecoding

/// The driver that every decoder element of this process finds.
///
/// There is one, because all elements share what begins the codecs' processes, and that is set once.
struct ElementDriver: Sendable {
  /// Nil where no driver was built.
  static let shared = try? ElementDriver()

  let driver: VADriver
  /// The driver's number of each stream's first picture.
  private let firstEntries: [String: Int]

  /// The streams whose pictures it has.
  static let clips = [
    "clip.h264", "open-gop.h264", "interlaced.h264", "wide.h264", "clip.h265", "open-gop.h265", "interlaced.h265",
    "wide.h265", "ten-bit.h265",
  ]

  private init() throws {
    var table = PictureTable()
    var entries: [String: Int] = [:]
    for clip in Self.clips {
      entries[clip] = table.entryCount
      let units = try Self.accessUnits(clip)
      try table.add(units, try Self.format(of: units, clip.codec))
    }
    firstEntries = entries
    driver = try VADriver(table)
    driver.moveIntoEnvironment()
  }

  static func accessUnits(_ clip: String) throws -> [[UInt8]] { clip.codec.accessUnits(in: try Clip.read(clip)) }

  /// The format by the first parameter sets.
  static func format(of units: [[UInt8]], _ codec: StreamCodec) throws -> FormatDescription {
    var (h264, h265) = (H264.ParameterSets(), H265.ParameterSets())
    for unit in units {
      for nalUnit in Clip.nalUnits(unit) {
        switch codec {
        case .h264: _ = try? h264.insert(nalUnit.span)
        case .h265: _ = try? h265.insert(nalUnit.span)
        }
      }
      if h264.canReadSlices || h265.canReadSlices { break }
    }
    return codec == .h264 ? try FormatDescription(h264) : try FormatDescription(h265)
  }

  /// Has the driver do something wrong at a picture of a clip, counted in decoding order.
  func inject(_ fault: VADriver.Fault, parameter: Int = 0, at picture: Int, of clip: String, times: Int? = nil) throws {
    let first = try #require(firstEntries[clip])
    driver.inject(fault, parameter: parameter, entry: first + picture, times: times)
  }

  /// A decoder of a clip in a harness whose messages are collected.
  ///
  /// - Parameter properties: `hardware` among them; the device is the driver's unless they name another one.
  func decoder(_ clip: String, _ properties: String, output: String? = nil, takesVideoMeta: Bool = true) throws
    -> Harness
  {
    let codec = clip.codec
    let harness = try Harness.decoder(
      codec.chain("swifth264dec hardware-device=\(driver.display) max-threads=1 \(properties)"),
      input: "\(codec.mediaType), stream-format=byte-stream, alignment=au", output: output,
      takesVideoMeta: takesVideoMeta)
    harness.collectMessages()
    return harness
  }
}

extension String {
  /// By a clip's suffix.
  var codec: StreamCodec { hasSuffix("265") ? .h265 : .h264 }
}

extension Harness {
  /// Errors and warnings on the bus, but not that the machine, or a sanitizer, does not allow all protection.
  func takeFaults() -> [Fault] {
    var faults: [Fault] = []
    while let fault = takeFault() { if !fault.details.contains("incompleteSandbox") { faults.append(fault) } }
    return faults
  }

  /// Pushes access units in decoding order without times of their own, and the end of the stream.
  func decodeUntimed(_ units: [[UInt8]]) throws -> [Picture] {
    for unit in units { #expect(push(unit) == 0) }
    endOfStream()
    return try takePictures()
  }

  /// A text of `stats`; nil without it.
  func statisticText(_ name: String) -> String? {
    let text = text("stats").filter { $0 != "\\" }
    guard let start = text.firstRange(of: " \(name)=(string)") else { return nil }
    let rest = text[start.upperBound...]
    guard rest.first == "\"" else { return String(rest.prefix { $0 != "," && $0 != ";" }) }
    return String(rest.dropFirst().prefix { $0 != "\"" })
  }
}
