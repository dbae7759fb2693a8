// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import StreamReport

/// Pictures and keyframes of a stream, counted as a report counts them: the same whatever the stream is in.
struct PictureCount {
  /// Frames, and fields that have no second one.
  private(set) var pictures = 0
  private(set) var keyframes = 0
  /// Made with the first sample.
  private var reporter: SampleReporter?

  mutating func add(_ accessUnit: AccessUnitRecord) {
    guard accessUnit.letter != nil else { return }
    if !accessUnit.isSecondField { pictures += 1 }
    if accessUnit.keyframe != .none { keyframes += 1 }
  }

  /// Counts what is in a sample.
  mutating func add(_ sample: Sample, _ codec: FormatDescription.Codec) throws(FlowError) {
    if reporter == nil {
      let isByteStream = sample.capsField("stream-format")?.string == codec.syntax.byteStreamFormat
      reporter = SampleReporter(
        codec, in: .other, configuration: isByteStream ? nil : sample.codecData ?? [])
    }
    let map = try sample.map()
    reporter?.feed(unsafe map.bytes.withUnsafeBufferPointer { unsafe Array($0) }, nil)
    drain()
  }

  /// Nothing more comes.
  mutating func finish() {
    reporter?.finish()
    drain()
  }

  private mutating func drain() {
    while let item = reporter?.next() { if case .accessUnit(let accessUnit) = item { add(accessUnit) } }
  }
}
