// SPDX-License-Identifier: MPL-2.0

extension MP4 {
  /// The samples of a track that are needed to show one part of it, in decoding order: from a sync sample to the end
  /// of the part.
  package struct ShownSamples {
    /// At the first sample.
    private let start: VideoSamples
    private var samples: VideoSamples
    /// The sample before the next one of ``samples``, which is still to be read; nil for none.
    private var ahead: Sample?
    /// The part that is shown, in composition times of the track.
    package private(set) var range: ShownRange
    /// The composition time of the first sample that is shown, in ticks of the track: a part may begin inside it.
    package private(set) var firstTime: Int64
    /// How much later than they are composed samples are decoded by the file's times, at most, in ticks; above 0 with
    /// negative composition offsets (ISO/IEC 14496-12, 8.6.1.3: `compositionToDTSShift`). Of fragments, the first
    /// samples show it.
    package let decodingShift: Int64

    /// More samples than a sequence reorders.
    private static let trialCount = 128

    /// Begins at the sync sample from which a part can be shown.
    ///
    /// - Parameter start: a track of which no sample was read yet.
    package init(_ start: VideoSamples, showing range: ShownRange) {
      (self.start, samples, self.range, firstTime) = (start, start, range, range.start)
      decodingShift = Self.decodingShift(start)
      show(range)
    }

    private static func decodingShift(_ start: VideoSamples) -> Int64 {
      var smallest = start.track.samples?.smallestCompositionOffset(start.movie.bytes.span) ?? 0
      guard start.movie.isFragmented else { return -smallest }
      var scout = start
      for _ in 0..<trialCount {
        guard let sample = try? scout.next() else { break }
        if sample.compositionOffset > lowestCompositionOffset { smallest = min(smallest, sample.compositionOffset) }
      }
      return -smallest
    }

    /// The decoding time of a sample by which it is decoded before it is composed: the file's, less ``decodingShift``.
    package func decodingTime(of sample: Sample) -> Int64 {
      min(sample.decodingTime.subtractingReportingOverflow(decodingShift).partialValue, sample.compositionTime)
    }

    /// The file's tracks.
    package var movie: Movie { start.movie }
    /// The track of the samples.
    package var track: Track { start.track }

    /// Continues with the samples of another part.
    package mutating func show(_ range: ShownRange) {
      self.range = range
      let found = find(range.start) ?? range.start
      firstTime = range.showsCutSample ? found : range.start
    }

    /// Continues at the last sync sample that is composed at or before a time, in ticks of the track; at the first
    /// sample without one.
    package mutating func seek(to time: Int64) { _ = find(time) }

    /// Continues as ``seek(to:)`` does.
    ///
    /// - Returns: when the sample that is shown at this time is composed; nil if none is. A sample is shown until the
    ///   next one in order of composition. Its duration is a distance of decoding times.
    private mutating func find(_ time: Int64) -> Int64? {
      (samples, ahead) = (start, nil)
      var (scout, last) = (start, Int64?.none)
      while let sample = try? scout.next(), sample.decodingTime.subtractingReportingOverflow(decodingShift).0 <= time {
        guard sample.compositionTime <= time else { continue }
        last = max(last ?? .min, sample.compositionTime)
        if sample.isSync { (samples, ahead) = (scout, sample) }
      }
      return last
    }

    /// The next sample; nil if neither it nor a later one is needed.
    ///
    /// - Throws: ``ReadError``, as ``VideoSamples/next()`` does.
    package mutating func next() throws(ReadError) -> Sample? {
      if let sample = ahead.take() { return isBehind(sample) ? nil : sample }
      guard let sample = try samples.next(), !isBehind(sample) else { return nil }
      return sample
    }

    /// The bytes of a sample; fewer when the file ends inside it.
    package mutating func bytes(of sample: Sample) -> [UInt8] { samples.bytes(of: sample) }

    /// Whether neither this sample nor a later one is shown, or needed for a sample that is.
    private func isBehind(_ sample: Sample) -> Bool {
      guard let end = range.end else { return false }
      // Composition may precede decoding if a writer has negative offsets; two seconds are more than they span.
      return sample.decodingTime &- 2 &* Int64(track.timescale) >= end
    }
  }
}

extension MP4.Sample {
  /// Presentation time in the track's timescale, before edits.
  package var compositionTime: Int64 { decodingTime.addingReportingOverflow(compositionOffset).partialValue }
}
