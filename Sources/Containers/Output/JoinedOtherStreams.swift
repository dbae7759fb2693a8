// SPDX-License-Identifier: MPL-2.0
import AVFormat

/// The streams of a joined input that continue streams of the target. Streams of a kind are matched by their order, and
/// must have the same format.
struct JoinedOtherStreams {
  /// The streams of the input whose packets are written.
  private(set) var streams: [StreamDescription] = []
  /// The numbers in the first input of the streams that they continue, by their own numbers.
  private var numbers: [Int: Int] = [:]
  /// The streams that have a header in each frame, by the same numbers as the target's.
  private var headed: Set<Int> = []

  /// - Parameters:
  ///   - source: the streams of the input; `nil` for a byte stream.
  ///   - kept: the streams of the first input that the target has.
  ///   - first: the streams of the first input.
  init(_ source: OtherStreams?, continuing kept: [StreamDescription], of first: OtherStreams?) {
    guard let source, let first else { return }
    for kind in [StreamDescription.Kind.audio, .subtitle, .data] {
      let own = source.chosen.filter { $0.kind == kind }
      // Of the streams that the first input has, not of those that the target has.
      let others = first.chosen.filter { $0.kind == kind }
      for (stream, other) in zip(own, others) where kept.contains(where: { $0.index == other.index }) {
        guard stream.continues(other) else { continue }
        streams.append(stream)
        numbers[stream.index] = other.index
        if source.sound.hasHeaders(stream) { headed.insert(other.index) }
      }
    }
  }

  /// The number in the first input of the stream that a stream continues.
  func number(of stream: Int) -> Int { numbers[stream] ?? stream }

  /// Whether frames of a stream have headers.
  ///
  /// - Parameter number: of the stream in the first input.
  func hasHeaders(_ number: Int) -> Bool { headed.contains(number) }

  /// Whether a stream of the input is written.
  func contains(_ stream: Int) -> Bool { numbers[stream] != nil }
}

extension StreamDescription {
  /// Whether packets can follow those of another stream under its description.
  fileprivate func continues(_ other: StreamDescription) -> Bool {
    guard kind == other.kind, codecName == other.codecName else { return false }
    return kind == .subtitle || isSensorData && other.isSensorData
      || sampleRate == other.sampleRate && channels == other.channels && configuration == other.configuration
  }

  /// The codec's configuration, without the note of AAC that there is no spectral band replication (ISO/IEC 14496-3,
  /// 1.6.6.1), which some muxers add.
  private var configuration: ArraySlice<UInt8> {
    let note: [UInt8] = [0x56, 0xE5, 0x00]
    guard codecName == "aac", extradata.count > note.count, extradata.suffix(note.count) == note[...] else {
      return extradata[...]
    }
    return extradata.dropLast(note.count)
  }
}
