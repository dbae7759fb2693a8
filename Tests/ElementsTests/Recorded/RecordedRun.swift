// SPDX-License-Identifier: MPL-2.0
import Foundation
import GStreamer
import H26x
import HarnessSupport
import Testing

/// A stream, an element with properties, and its recorded output.
struct RecordedRun: Sendable, CustomTestStringConvertible {
  /// The last part of the element's name, such as "parse".
  var element: String
  var clip: String
  var input: RecordedInput
  /// The caps that downstream accepts, without the media type.
  var output: String
  var properties = ""
  var twist: RecordedTwist?

  var codec: StreamCodec { clip.hasSuffix("5") ? .h265 : .h264 }

  /// The name of the row.
  var name: String {
    [element, properties, clip, input.rawValue, twist?.rawValue ?? "", output].filter { !$0.isEmpty }
      .joined(separator: " ").replacing("stream-format=", with: "").replacing("alignment=", with: "")
      .replacing(", ", with: "/")
  }

  var testDescription: String { name }

  /// The columns of the row.
  func columns() throws -> [String] {
    _ = Harness.registered
    let stream = try RecordedStream(clip, as: input)
    let harness = try Harness("\(codec.element)\(element) \(properties)")
    let isDecoder = element == "dec"
    let recording = HarnessRecording(harness, keepsBuffers: isDecoder)
    harness.collectMessages()
    harness.setLive(false)
    if isDecoder { harness.proposeVideoMeta() }
    harness.setOutputCaps(caps(output))
    harness.setInputCaps(stream.caps)
    var flow: Int32 = 0
    if let twist {
      let packets = codec.chain("stream-format=avc, alignment=au")
      let wish = isDecoder ? "format=NV12" : output.contains("byte-stream") ? packets : Self.bytes
      let other = try RecordedStream(codec == .h264 ? "wide.h264" : "wide.h265", as: input)
      flow = twist.push(stream, other, wish: caps(wish), into: harness)
    } else {
      for piece in stream.pieces { flow = harness.push(piece.buffer) }
    }
    harness.endOfStream()
    let latency = harness.queryLatency()?.nanoseconds
    var summary = RunSummary(recording.entries)
    summary.messages = harness.takeAllMessages()
    let stats = harness.text("stats").replacing("\\", with: "")
    if let folder = ProcessInfo.processInfo.environment["RECORD_LINES"] {
      let lines = summary.lines + summary.messages + [stats]
      let file = URL(filePath: folder).appending(path: name.replacing("/", with: "_"))
      try Data(lines.joined(separator: "\n").utf8).write(to: file)
    }
    return summary.columns
      + ["flow \(flow), latency \((latency ?? 0) / 1_000_000) ms", HarnessRecording.checksum(Array(stats.utf8)).short]
      + (isDecoder ? [try pictures(harness)] : [])
  }

  /// A checksum of the samples, where all pictures have the same caps.
  private func pictures(_ harness: Harness) throws -> String {
    twist == .splice || twist == .reconfigure ? "" : checksum(try harness.takePictures()).short
  }

  /// The caps that downstream accepts.
  private func caps(_ fields: String) -> String {
    switch element {
    case "dec": "video/x-raw, \(fields)"
    case "parse": "\(codec.mediaType), parsed=true, \(fields)"
    default: "\(codec.mediaType), \(fields)"
    }
  }

  static let bytes = "stream-format=byte-stream, alignment=au"
  static let nalUnits = "stream-format=byte-stream, alignment=nal"

  /// Every packaging that a parser or repackager of this codec may output.
  static func outputs(_ codec: StreamCodec) -> [String] {
    [bytes, nalUnits, "stream-format=\(codec.outOfBand), alignment=au", "stream-format=\(codec.inBand), alignment=au"]
  }
}

/// The output as columns: numbers for readers, and checksums of the rest.
struct RunSummary {
  private(set) var lines: [String] = []
  var messages: [String] = []
  private var caps: [String] = []
  private var events: [String] = []
  private var upstreamEvents: [String] = []
  private var buffers: [HarnessRecording.Output] = []
  private var tags: [String] = []

  init(_ entries: [HarnessRecording.Entry]) {
    for entry in entries {
      switch entry {
      case .caps(let text):
        caps.append(text)
        lines.append("caps \(text)")
      // Base classes send these at any time.
      case .event(let text) where text.hasPrefix("tag"): if text != "tag", tags.last != text { tags.append(text) }
      case .event(let text):
        events.append(text)
        lines.append(text)
      case .upstreamEvent(let text):
        upstreamEvents.append(text)
        lines.append("up: \(text)")
      case .buffer(let output):
        buffers.append(output)
        lines.append("\(output.byteCount) bytes \(output.checksum.short) \(Self.times(output)) \(Self.flags(output))")
        if !output.metas.isEmpty { lines.append("  " + output.metas.joined(separator: ", ")) }
      }
    }
    lines += tags
  }

  var columns: [String] {
    [
      "\(buffers.count) buffers, \(buffers.reduce(0) { $0 + $1.byteCount }) bytes "
        + checksum(buffers.map { "\($0.byteCount) \($0.checksum)" }),
      "times " + buffers.prefix(4).map { Self.times($0, unit: 1_000_000) }.joined(separator: " ") + " "
        + checksum(buffers.map { Self.times($0) }),
      "flags " + Self.runs(buffers.map { Self.flags($0) }),
      "metas \(buffers.reduce(0) { $0 + $1.metas.count }) " + checksum(buffers.flatMap(\.metas)),
      "\(caps.count) caps " + checksum(caps), Self.runs(events.map { String($0.prefix { $0 != " " }) }),
      checksum(events + upstreamEvents + tags), "order " + checksum(lines.map { String($0.prefix(12)) }),
      messages.joined(separator: "; "),
    ]
  }

  private func checksum(_ texts: [String]) -> String {
    HarnessRecording.checksum(Array(texts.joined(separator: "\n").utf8)).short
  }

  private static func times(_ output: HarnessRecording.Output, unit: UInt64 = 1) -> String {
    [output.attributes.pts, output.attributes.dts, output.attributes.duration]
      .map { time in time.map { "\($0.nanoseconds / unit)" } ?? "" }.joined(separator: "/")
  }

  private static let letters: [(Buffer.Flags, Character)] = [
    (.discontinuity, "D"), (.deltaUnit, "d"), (.header, "h"), (.marker, "m"), (.droppable, "b"), (.corrupted, "c"),
    (.interlaced, "i"), (.topFieldFirst, "t"), (.repeatFirstField, "r"), (.oneField, "o"), (.decodeOnly, "n"),
    (.firstInBundle, "f"), (.gap, "g"), (.resync, "s"),
  ]

  private static func flags(_ output: HarnessRecording.Output) -> String {
    let text = String(letters.filter { output.attributes.flags.contains($0.0) }.map(\.1))
    return text.isEmpty ? "-" : text
  }

  /// The first texts, run-length coded, and a checksum of all.
  private static func runs(_ texts: [String]) -> String {
    var runs: [(text: String, count: Int)] = []
    for text in texts {
      if runs.last?.text == text { runs[runs.count - 1].count += 1 } else { runs.append((text, 1)) }
    }
    let all = runs.map { $0.count == 1 ? $0.text : "\($0.text)×\($0.count)" }
    let sum = HarnessRecording.checksum(Array(all.joined(separator: " ").utf8)).short
    return all.count <= 10 ? all.joined(separator: " ") : all.prefix(10).joined(separator: " ") + " … \(sum)"
  }
}

extension String {
  /// The first digits of a checksum.
  var short: String { String(prefix(10)) }
}
