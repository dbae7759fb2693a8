// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Synchronization

/// Reads the pictures of a file, or those of a range of time.
///
/// Only Matroska and MP4 without fragments are sought: of those GStreamer finds every random access point. Of other
/// files all pictures are decoded, and those before the range are skipped. So it is done too when what comes after a
/// seek begins too late or damaged.
final class DecodedPictureReader: Sendable {
  /// The decoder's settings, the elements behind it, and the range of time.
  struct Options: Sendable {
    var framerate: Fraction?
    /// The decoder's threads; 0 for one per processor.
    var threads: Int32 = 0
    /// The decoder element; `nil` for the plugin's.
    var decoder: String?
    /// Pictures that differ from the hashes that the stream has of them are damaged. Takes time.
    var verifiesPictureHash = false
    /// Elements between decoder and sink, each with its properties.
    var filters: [(kind: String, properties: KeyValuePairs<String, FieldValue>)] = []
    /// Counted from the first picture.
    var start: ClockTime?
    var duration: ClockTime?
  }

  /// What is decoded before the start of the range: demultiplexers choose a random access point by its decoding time,
  /// and its leading pictures are lost.
  private static let margin = ClockTime.second

  private let input: InputFile
  private let options: Options
  private let layout: MP4Layout?
  private let pass: Mutex<DecodingPass>
  private let range: Mutex<PictureRange>

  init(_ input: InputFile, _ options: Options) throws(Failure) {
    (self.input, self.options) = (input, options)
    layout = MP4Layout(of: input)
    range = Mutex(Self.range(of: input, options))
    pass = Mutex(try DecodingPass(input, options, pushed: layout?.isFragmented == true))
  }

  private static func range(of input: InputFile, _ options: Options) -> PictureRange {
    PictureRange(
      start: options.start ?? .zero, duration: options.duration, addsDurations: input.kind == .container("AVI"))
  }

  /// The reader of the present pass.
  var reader: MediaReader { pass.withLock { $0 }.reader }

  /// What was damaged or lost, among the pictures in the range as far as that is known.
  var damage: Damage {
    let pass = pass.withLock { $0 }
    var damage = Damage(pass.decoderStatistics, parser: pass.reader.parserStatistics)
    damage.isCutOff = layout?.isCutOff == true
    if options.start != nil {
      damage.corrupted = range.withLock { $0.corrupted }
      // Access units between a random access point and the start are dropped on purpose.
      damage.dropped = 0
    }
    return damage
  }

  /// Calls `body` for every picture in the range of time, until it returns false, on a streaming thread.
  ///
  /// - Throws: a `Failure`; one for pictures without a time too, when there is a range.
  func readAll(_ body: @escaping @Sendable (Sample) throws(Failure) -> Bool) async throws(Failure) {
    let start = options.start ?? .zero
    if isSeekable, start > Self.margin + Self.margin,
      let origin = try await pass.withLock({ $0 }).seek(to: start - Self.margin)
    {
      range.withLock { $0.begin(origin: origin) }
      if try await readPass(body) || Interruption.signal != nil { return }
      await stop()
      let again = try DecodingPass(input, options, pushed: layout?.isFragmented == true)
      pass.withLock { $0 = again }
      range.withLock { $0 = Self.range(of: input, options) }
    }
    _ = try await readPass(body)
  }

  /// Returns false when the range has to be read from the front.
  private func readPass(_ body: @escaping @Sendable (Sample) throws(Failure) -> Bool) async throws(Failure) -> Bool {
    @Sendable func take(_ selection: PictureRange.Selection) throws(Failure) -> Bool {
      for sample in selection.samples where try !body(sample) { return false }
      return selection.next == .more
    }
    let isWhole = options.start == nil && options.duration == nil
    let hasEnded = try await pass.withLock { $0 }.readAll { [self] sample throws(Failure) in
      if isWhole { return try body(sample) }
      let selection = range.withLock { $0.select(sample) }
      if selection.next == .untimed { throw untimed }
      return try take(selection)
    }
    if hasEnded, !isWhole { _ = try take(range.withLock { $0.finish() }) }
    return range.withLock { !$0.isMissed }
  }

  private var untimed: Failure {
    Failure(
      "\(input.name): the stream has no frame rate, so that its pictures have no times; give it with --framerate, "
        + "such as 25")
  }

  /// Whether there is an index of random access points, or one is made by the demultiplexer.
  private var isSeekable: Bool {
    switch input.kind {
    case .container("Matroska"): input.size != nil
    case .container("MP4"): layout?.isFragmented == false
    default: false
    }
  }

  func stop() async { await reader.pipeline.stop() }
}

extension Sample {
  /// The stream time of its PTS: its time since the beginning of the file.
  var streamTime: ClockTime? {
    guard let pts else { return nil }
    return segment?.streamTime(of: pts) ?? pts
  }
}
