// SPDX-License-Identifier: MPL-2.0

extension MP4 {
  /// The samples of a track that are needed to show one part of it, in decoding order: from a sync sample on to the end
  /// of the part.
  package struct ShownSamples {
    /// At the first sample.
    private let start: VideoSamples
    private var samples: VideoSamples
    /// The sample before the next one of ``samples``, which is still to be read; nil for none.
    private var ahead: Sample?
    /// What is shown, in composition times of the track.
    package private(set) var range: ShownRange
    /// How much later than they are composed samples are decoded by the file's times, at most, in ticks; above 0 with
    /// negative composition offsets (ISO/IEC 14496-12, 8.6.1.3: `compositionToDTSShift`). Of fragments, the first samples
    /// show it.
    package let decodingShift: Int64

    /// More samples than a sequence reorders.
    private static let trialCount = 128

    /// Begins at the sync sample from which a part can be shown.
    ///
    /// - Parameter start: a track of which no sample was read yet.
    package init(_ start: VideoSamples, showing range: ShownRange) {
      (self.start, samples, self.range) = (start, start, range)
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
      seek(to: range.start)
    }

    /// Continues at the last sync sample that is composed at or before a time, in ticks of the track; at the first
    /// sample without one.
    package mutating func seek(to time: Int64) {
      (samples, ahead) = (start, nil)
      var scout = start
      while let sample = try? scout.next(), sample.decodingTime <= time {
        if sample.isSync, sample.compositionTime <= time { (samples, ahead) = (scout, sample) }
      }
    }

    /// The next sample; nil when neither it nor a later one is needed.
    ///
    /// - Throws: ``ReadError``, as ``VideoSamples/next()`` does.
    package mutating func next() throws(ReadError) -> Sample? {
      if let sample = ahead.take() { return isBehind(sample) ? nil : sample }
      guard let sample = try samples.next(), !isBehind(sample) else { return nil }
      return sample
    }

    /// The bytes of a sample; fewer when the file ends inside it.
    package mutating func bytes(of sample: Sample) -> [UInt8] { samples.bytes(of: sample) }

    /// Whether neither this sample nor a later one is shown, nor needed for what is.
    private func isBehind(_ sample: Sample) -> Bool {
      guard let end = range.end else { return false }
      // Composition may precede decoding where a writer has negative offsets; two seconds are more than they span.
      return sample.decodingTime &- 2 &* Int64(track.timescale) >= end
    }
  }
}

extension MP4.Sample {
  /// Presentation time in the track's timescale, before edits.
  package var compositionTime: Int64 { decodingTime.addingReportingOverflow(compositionOffset).partialValue }
}
