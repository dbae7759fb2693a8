// SPDX-License-Identifier: MPL-2.0
public import H26x

/// Reports on a stream that the caller demultiplexes, sample by sample.
///
/// ```swift
/// var reporter = SampleReporter(.h264, in: .matroska, configuration: codecPrivate)
/// reporter.feed(block, sample)
/// while let item = reporter.next() { … }
/// ```
///
/// Offsets in the report count the bytes that were fed.
public struct SampleReporter {
  private let codec: FormatDescription.Codec
  private var reader = ByteStreamReader()
  private var lengthSize: NALLengthSize?
  private var analysis: EitherAnalysis
  private var position: UInt64 = 0

  /// Ticks a second of the samples' timestamps: nanoseconds.
  package static var timescale: UInt32 { 1_000_000_000 }

  /// Begins a report.
  ///
  /// - Parameters:
  ///   - codec: the codec of the stream.
  ///   - container: its container.
  ///   - configuration: the configuration record (avcC or hvcC) of a stream with length prefixes; nil for start codes.
  ///   - size: bytes of the file, if that is known.
  ///   - options: the contents of the report.
  public init(
    _ codec: FormatDescription.Codec, in container: StreamRecord.Container, configuration: [UInt8]?,
    size: UInt64? = nil,
    options: ReportOptions = ReportOptions()
  ) {
    var analysis = EitherAnalysis(codec, options: options)
    var record = StreamRecord(codec: codec, container: container, size: size)
    if container != .annexB { record.timescale = Self.timescale }
    if let configuration {
      let size = analysis.configure(Self.description(codec, configuration), timescale: Self.timescale) ?? .four
      (lengthSize, record.lengthSize) = (size, size.byteCount)
    }
    analysis.begin(record)
    self.analysis = analysis
    self.codec = codec
  }

  /// Takes another configuration record, which holds for the next access unit and later ones. Ignored for a stream
  /// with start codes.
  public mutating func configure(_ configuration: [UInt8]) {
    guard lengthSize != nil else { return }
    if let size = analysis.configure(Self.description(codec, configuration), timescale: Self.timescale) {
      lengthSize = size
    }
  }

  /// Takes the container's statements about metadata, which hold for the next access unit and later ones.
  package mutating func take(_ stated: ContainerMetadata) { analysis.take(stated) }

  /// A sample description of a type that allows in-band parameter sets, as all containers but MP4 do.
  private static func description(
    _ codec: FormatDescription.Codec, _ configuration: [UInt8]
  ) -> MP4.VisualSampleDescription {
    var description = MP4.VisualSampleDescription(
      coding: FourCharacterCode(codec == .h264 ? "avc3" : "hev1"), width: 0, height: 0)
    description.configuration = configuration
    return description
  }

  /// Takes an access unit with length prefixes, or any piece of a stream with start codes.
  ///
  /// - Parameters:
  ///   - bytes: the next bytes of the stream.
  ///   - sample: the access unit's timestamps in nanoseconds. In a stream with start codes those of the first access
  ///     unit that begins in these bytes, as a PES packet has them (ISO/IEC 13818-1, 2.4.3.7).
  public mutating func feed(_ bytes: [UInt8], _ sample: AccessUnitRecord.Sample?) {
    guard !bytes.isEmpty else { return }
    if let lengthSize {
      analysis.feed(sample: bytes.span, sample, at: position, size: UInt64(bytes.count), lengthSize: lengthSize)
    } else {
      analysis.addPacket(sample, timescale: Self.timescale, at: position)
      reader.append(bytes)
      readOn()
    }
    position += UInt64(bytes.count)
  }

  /// Ends the stream.
  ///
  /// - Parameter isCutOff: whether the end of the file is missing, which is a finding then.
  public mutating func finish(isCutOff: Bool = false) {
    if lengthSize == nil {
      reader.append([])
      readOn()
    }
    analysis.finish(at: position, isCutOff: isCutOff)
  }

  /// The next item; nil if it needs more of the stream, and after the summary.
  public mutating func next() -> ReportItem? { analysis.next() }

  private mutating func readOn() {
    while true {
      switch reader.next() {
      case .nalUnit(let range, let prefix, let offset):
        let bytes = reader.bytes
        analysis.feed(bytes.span.extracting(range), at: offset, prefix: prefix)
      case .garbage(let count, let offset): analysis.garbage(count, at: offset)
      case .needsMore, .end: return
      }
    }
  }
}
