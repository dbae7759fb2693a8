// SPDX-License-Identifier: MPL-2.0
import H26x
package import StreamReport

/// A report on the video track of a container that libavformat reads, as its packets are.
package struct ContainerReport {
  private let input: InputFile
  private let isSummary: Bool
  private let reader: ContainerVideoReader
  private let status: ReadingStatus
  private var reporter: SampleReporter
  private let container: StreamRecord.Container
  /// The origin of times, in nanoseconds.
  private let beginning: Int64
  private var hasEnded = false
  private var isEmpty = true
  /// The latest bytes of the stream, and the offset of the first of them.
  private var recent: [UInt8] = []
  private var origin: UInt64 = 0
  /// The most bytes in `recent`; a larger access unit is not kept whole. At least half remain, so items of access units
  /// whose slices were read together find their bytes.
  private let recentLimit: Int

  /// - Parameters:
  ///   - file: has another reader too, or nil.
  ///   - isSummary: whether only sums matter. Jumps of the file's clock are taken out, not reported, and no bytes are
  ///     kept.
  package init(
    _ input: InputFile, _ options: ReportOptions, sharing file: ContainerFile? = nil, isSummary: Bool = false
  ) throws(Failure) {
    (self.input, self.isSummary) = (input, isSummary)
    recentLimit = (8 << 20) + 2 * (options.sliceThreads?.batchSize ?? 0)
    let file = if let file { file } else { try ContainerFile(input, ReadingStatus()) }
    // A clock that restarts is a finding.
    let reader = try ContainerVideoReader(file, continuesClock: isSummary)
    file.hasAllReaders()
    (self.reader, status, beginning) = (reader, file.status, reader.beginning ?? 0)
    container = StreamRecord.Container(input.kind)
    // With a size, the offsets of MP4 are the file's.
    let size = container == .mp4 ? nil : input.size.map { UInt64($0) }
    reporter = SampleReporter(
      reader.track.codec, in: container, configuration: reader.track.packaging.configuration, size: size,
      options: options)
    reporter.take(
      ContainerMetadata(dolbyVision: reader.track.dolbyVision, hasMasteringDisplay: reader.track.hasMasteringDisplay))
  }

  package var track: VideoTrack { reader.track }
  /// How far the file was read, in bytes.
  package var position: Int64 { reader.position }

  /// The next item; `nil` after the summary.
  package mutating func next() throws(Failure) -> ReportItem? {
    while true {
      if let item = reporter.next() { return item }
      guard !hasEnded else { return nil }
      if let sample = try reader.next() {
        isEmpty = false
        feed(sample)
      } else {
        hasEnded = true
        guard !isEmpty else { throw input.noPicture(track.codec) }
        // In MP4, each missing sample is a finding.
        reporter.finish(isCutOff: container != .mp4 && input.isCutOff)
      }
    }
  }

  /// Recent bytes of the stream by their offset; `nil` when they are not kept any more.
  package func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
    guard offset >= origin, let start = Int(exactly: offset - origin), start <= recent.count,
      count <= recent.count - start
    else { return nil }
    return Array(recent[start..<start + count])
  }

  /// Appends to `recent`. When it is full, at least its older half is removed.
  private mutating func keep(_ bytes: [UInt8]) {
    if recent.count + bytes.count > recentLimit {
      let surplus = min(recent.count, max(recent.count / 2, recent.count + bytes.count - recentLimit))
      recent.removeFirst(surplus)
      origin += UInt64(surplus)
    }
    recent += bytes
  }

  private mutating func feed(_ sample: VideoSample) {
    if let configuration = sample.packaging?.configuration { reporter.configure(configuration) }
    // In a PES packet without DTS, the PTS is the DTS too (ISO/IEC 13818-1, 2.4.3.7). libavformat marks no random
    // access points.
    let isPacket = container == .mpegTS || input.kind == .container(.mpegPS)
    let decoding = sample.decoding ?? (isPacket ? sample.composition : nil)
    let beginning = beginning
    let time = sample.composition.map { composition in
      AccessUnitRecord.Sample(
        pts: composition - beginning, dts: decoding.map { $0 - beginning },
        duration: UInt32(clamping: sample.duration), isSync: isPacket ? nil : sample.isSync)
    }
    if !isSummary { keep(sample.bytes) }
    reporter.feed(sample.bytes, time)
  }
}

extension VideoTrack.Packaging {
  /// The configuration record, empty when it is missing; `nil` for start codes.
  package var configuration: [UInt8]? {
    switch self {
    case .lengthPrefixed(let configuration, _): configuration
    case .byteStream: nil
    }
  }
}

extension StreamRecord.Container {
  fileprivate init(_ kind: InputFile.Kind) {
    self =
      switch kind {
      case .container(.mp4): .mp4
      case .container(.matroska): .matroska
      case .container(.mpegTS): .mpegTS
      case .container(.flv): .flv
      case .container(.avi): .avi
      default: .other
      }
  }
}
