// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// A WAV file of a tone that nobody has written: its bytes are computed where they are read. `tone:440` is the URI of
/// a second of 440 Hz.
///
/// A source of bytes that can be read anywhere has a size. The base class seeks, and answers queries.
final class ToneSource: BaseSource {
  private static let sampleRate = 8000
  private static let sampleCount = 8000
  private let frequency = Locked(440)

  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "Tone source", classification: "Source/Audio", description: "Makes a WAV file of a tone",
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] { [.source("audio/x-wav")] }

  override class var uriHandler: URIHandler? {
    .source(of: ["tone"]) { (element: ToneSource) in
      "tone:\(element.frequency.snapshot)"
    } set: { element, uri throws(URIError) in
      guard let frequency = Int(uri.drop { $0 != ":" }.dropFirst()), 1...4000 ~= frequency else {
        throw URIError(.badReference, "\(uri) is not from 1 to 4000 Hz")
      }
      element.frequency.withLock { $0 = frequency }
    }
  }

  override func size() -> UInt64? { UInt64(Self.header.count + 2 * Self.sampleCount) }
  override func isSeekable() -> Bool { true }

  override func buffer(at offset: UInt64?, length: Int) throws(FlowError) -> Buffer {
    guard let offset, let size = size(), offset < size else { throw .endOfStream }
    let frequency = frequency.snapshot
    let bytes = (offset..<min(offset + UInt64(length), size)).map { Self.byte(Int($0), frequency) }
    guard let buffer = Buffer(copying: bytes.span) else { throw .error }
    return buffer
  }

  private static func byte(_ offset: Int, _ frequency: Int) -> UInt8 {
    guard offset >= header.count else { return header[offset] }
    let (sample, half) = (offset - header.count).quotientAndRemainder(dividingBy: 2)
    // A triangle needs no sine.
    let phase = sample * frequency % sampleRate
    let value = 8000 - abs(phase * 2 - sampleRate) * 2
    return UInt8(truncatingIfNeeded: value >> (8 * half))
  }

  private static let header: [UInt8] = {
    func word(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    let size = 2 * sampleCount
    let format = word(16) + [1, 0, 1, 0] + word(sampleRate) + word(2 * sampleRate) + [2, 0, 16, 0]
    return Array("RIFF".utf8) + word(36 + size) + Array("WAVEfmt ".utf8) + format + Array("data".utf8) + word(size)
  }()
}
