// SPDX-License-Identifier: MPL-2.0
public import H26x

/// Reads a file with H.264 or H.265, an Annex B byte stream or MP4, and reports on it item by item.
///
/// ```swift
/// var reporter = try StreamReporter(source, options: ReportOptions())
/// while let item = reporter.next() { … }
/// ```
///
/// Memory does not grow with the file, except for the sample tables of MP4.
public struct StreamReporter {
  private let source: FileBytes
  /// Whether the summary was made.
  private var isOver = false
  private var reader = ByteStreamReader()
  /// The samples of MP4; nil for a byte stream, and at the end.
  private var samples: MP4.VideoSamples?
  /// Reads samples without payload, if that is not wanted.
  private var heads: SampleHeads?
  private var lengthSize = NALLengthSize.four
  /// Whether the samples have start codes in place of lengths, by the first one.
  private var haveStartCodes = false
  /// The sample description of the latest sample, as an index of the track's.
  private var descriptionIndex = 0
  /// Bytes of the configuration records that were read since the first.
  private var configurationBytes: UInt64 = 0
  private var analysis: EitherAnalysis

  /// Recognises the format and begins a report.
  ///
  /// - Parameters:
  ///   - source: the file. One whose ``ByteSource/size`` is `UInt64.max` is a pipe, which is read once from its
  ///     beginning to its end.
  ///   - options: the contents of the report.
  ///   - codec: the codec of a byte stream; nil to detect it.
  /// - Throws: ``ReportFailure``.
  public init(
    _ source: consuming some ByteSource, options: ReportOptions = ReportOptions(),
    codec: FormatDescription.Codec? = nil
  ) throws(ReportFailure) {
    try self.init(file: FileBytes(source), options: options, codec: codec)
  }

  private init(
    file source: FileBytes, options: ReportOptions, codec: FormatDescription.Codec?
  ) throws(ReportFailure) {
    self.source = source
    let front = source.read(at: 0, count: ByteStreamReader.frontSize)
    guard !front.isEmpty else { throw .empty }
    let size = source.size == UInt64.max ? nil : source.size
    if ContainerFormat(front.span) == .mp4 {
      guard size != nil else { throw .needsSeeking }
      let samples: MP4.VideoSamples
      do throws(MP4.ReadError) {
        samples = try MP4.VideoSamples(source)
      } catch {
        throw .mp4(error)
      }
      self.samples = samples
      if !options.readsPayload, !options.readsSliceData, options.countedAccessUnits == nil {
        heads = SampleHeads(source)
      }
      let track = samples.track
      guard let (index, description, codec) = track.video else { throw .unknownFormat }
      descriptionIndex = index
      var analysis = EitherAnalysis(codec, options: options)
      lengthSize = analysis.configure(description, timescale: track.timescale) ?? .four
      analysis.take(ContainerMetadata(description))
      var trial = samples
      if let first = try? trial.next(), Self.hasStartCode(source.read(at: first.range.lowerBound, count: 4)) {
        haveStartCodes = LengthPrefixed.isAnnexB(trial.bytes(of: first).span, lengthSize: lengthSize)
      }
      if let rate = track.otherEditRate { analysis.check(editRate: rate) }
      analysis.begin(
        StreamRecord(
          codec: codec, container: .mp4, size: size, timescale: track.timescale, track: track.id,
          coding: description.coding, rotation: track.rotation, lengthSize: lengthSize.byteCount))
      self.analysis = analysis
      return
    }
    guard let codec = codec ?? CodecGuess.codec(of: front.span) else { throw .unknownFormat }
    reader.append(front)
    analysis = EitherAnalysis(codec, options: options)
    analysis.begin(StreamRecord(codec: codec, container: .annexB, size: size))
  }

  /// The next item; nil after the summary.
  public mutating func next() -> ReportItem? {
    while true {
      if let item = analysis.next() { return item }
      if samples != nil {
        advanceSamples()
      } else if !isOver {
        advance()
      } else {
        return nil
      }
    }
  }

  private static func hasStartCode(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: [0, 0, 0, 1]) || bytes.starts(with: [0, 0, 1])
  }

  private mutating func advance() {
    switch reader.next() {
    case .nalUnit(let range, let prefix, let offset):
      let bytes = reader.bytes
      analysis.feed(bytes.span.extracting(range), at: offset, prefix: prefix)
    case .garbage(let count, let offset): analysis.garbage(count, at: offset)
    case .needsMore:
      reader.read(from: source)
    case .end:
      analysis.finish(at: reader.position)
      isOver = true
    }
  }

  /// Takes another sample description of the track, if it has one of the same codec.
  private mutating func changeDescription(to index: Int) {
    guard let track = samples?.track, index >= 0, index < track.descriptions.count else { return }
    let codec = track.descriptions[descriptionIndex].coding.videoCodec
    let description = track.descriptions[index]
    // A malicious file may change between large records with every sample.
    guard description.coding.videoCodec == codec, configurationBytes / 8 <= source.size else { return }
    configurationBytes += UInt64(description.configuration.count)
    descriptionIndex = index
    lengthSize = analysis.configure(description, timescale: track.timescale) ?? lengthSize
    analysis.take(ContainerMetadata(description))
  }

  private mutating func advanceSamples() {
    do throws(MP4.ReadError) {
      if let sample = try samples?.next() {
        if sample.descriptionIndex != descriptionIndex { changeDescription(to: sample.descriptionIndex) }
        return feed(sample)
      }
    } catch {
      // The samples before the damage have been reported.
      analysis.damaged(error)
    }
    analysis.finish(at: source.size)
    samples = nil
    isOver = true
  }

  private mutating func feed(_ sample: MP4.Sample) {
    let record = AccessUnitRecord.Sample(
      pts: sample.decodingTime &+ sample.compositionOffset, dts: sample.decodingTime, duration: sample.duration,
      isSync: sample.isSync)
    let (start, end) = (sample.range.lowerBound, sample.range.upperBound)
    if haveStartCodes || heads == nil {
      guard let (bytes, range) = samples?.load(sample) else { return }
      let piece = bytes.span.extracting(range)
      if haveStartCodes {
        analysis.feed(byteStream: piece, record, at: start, size: end - start)
      } else {
        analysis.feed(sample: piece, record, at: start, size: end - start, lengthSize: lengthSize)
      }
      return
    }
    let available = min(end, max(start, source.size)) - start
    analysis.beginSample(record, at: start, size: end - start, available: available)
    var failure: BitstreamError?
    do throws(BitstreamError) {
      try heads?.feed(sample.range, to: &analysis, lengthSize)
    } catch {
      failure = error
    }
    analysis.endSample(at: end, failure)
  }
}

/// An item of a report. They come in this order: the stream; access units, each after the parameter sets that are new
/// in it and before its findings; the summary.
public enum ReportItem: Sendable {
  /// The stream. Comes first.
  case stream(StreamRecord)
  /// A parameter set that is new, or has other content than the set before of its type and id.
  case parameterSet(ParameterSetRecord)
  /// An access unit.
  case accessUnit(AccessUnitRecord)
  /// A broken rule.
  case finding(Finding)
  /// The summary. Comes last.
  case summary(SummaryRecord)
}

/// The reason that no report of a file is possible.
public enum ReportFailure: Error, Sendable {
  /// The file has no bytes, or cannot be read.
  case empty
  /// It is neither an H.264 or H.265 byte stream nor MP4.
  case unknownFormat
  /// It is an MP4 file whose boxes cannot be read.
  case mp4(MP4.ReadError)
  /// It is MP4 from a pipe, which cannot be read because its `moov` box may be at the end.
  case needsSeeking
}
