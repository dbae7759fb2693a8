// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import Synchronization

/// Reads the pictures of a file, or of a range of time.
///
/// Only Matroska and MP4 are sought, which have an index. In other files, all pictures are decoded, and pictures
/// before the range are skipped. The same happens if the pictures after a seek begin too late or damaged.
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
    /// Pictures with slices that do not end where they must are damaged. Takes time.
    var verifiesSlices = false
    /// Elements between decoder and sink, each with its properties.
    var filters: [(kind: String, properties: KeyValuePairs<String, FieldValue>)] = []
    /// Counted from the first picture.
    var start: ClockTime?
    var duration: ClockTime?
  }

  /// The time that is decoded before the start of the range: the leading pictures of a random access point are lost.
  private static let margin = ClockTime.second

  private let input: InputFile
  private let options: Options
  private let isCutOff: Bool
  private let pass: Mutex<DecodingPass>
  private let range: Mutex<PictureRange>
  /// The number of the container's part that is read.
  private let part = Mutex(0)
  /// The damage in earlier parts.
  private let before = Mutex(Damage(nil))

  init(_ input: InputFile, _ options: Options) throws(Failure) {
    (self.input, self.options) = (input, options)
    isCutOff = input.isCutOff
    range = Mutex(Self.range(of: input, options))
    pass = Mutex(try DecodingPass(input, options))
  }

  private static func range(of input: InputFile, _ options: Options) -> PictureRange {
    PictureRange(start: options.start ?? .zero, duration: options.duration, clock: PictureClock(input))
  }

  /// The reader of the present pass.
  var reader: any PictureSource { pass.withLock { $0 }.reader }

  /// The damage and the losses, among the pictures in the range as far as that is known.
  var damage: Damage {
    let pass = pass.withLock { $0 }
    var damage = before.withLock { $0 } + Damage(pass.decoderStatistics, parser: pass.reader.parserStatistics)
    damage.isCutOff = isCutOff
    if options.start != nil {
      damage.corrupted = range.withLock { $0.corrupted }
      // Access units between a random access point and the start are dropped on purpose.
      damage.dropped = 0
    }
    return damage
  }

  /// Calls `body` for every picture in the range of time, until it returns false, on a streaming thread.
  ///
  /// - Throws: a `Failure`, after reading was stopped; also for pictures without a time, if there is a range.
  func readAll(_ body: @escaping @Sendable (Sample) throws(Failure) -> Bool) async throws(Failure) {
    do throws(Failure) { try await readRange(body) } catch {
      await stop()
      throw error
    }
  }

  private func readRange(_ body: @escaping @Sendable (Sample) throws(Failure) -> Bool) async throws(Failure) {
    if let start = options.start, start > Self.margin + Self.margin, input.hasIndex,
      let origin = try await pass.withLock({ $0 }).firstTime()
    {
      await stop()
      let time = origin + start - Self.margin
      let near = try DecodingPass(input, options, part: partShown(at: time), from: time)
      pass.withLock { $0 = near }
      if near.reader.hasSought {
        range.withLock { $0.begin(origin: origin) }
        if try await readPass(body) || Interruption.signal != nil { return }
        await stop()
      }
      let again = try DecodingPass(input, options)
      pass.withLock { $0 = again }
      part.withLock { $0 = 0 }
      range.withLock { $0 = Self.range(of: input, options) }
    }
    _ = try await readPass(body)
  }

  /// Returns false if the range must be read from the front.
  private func readPass(_ body: @escaping @Sendable (Sample) throws(Failure) -> Bool) async throws(Failure) -> Bool {
    @Sendable func take(_ selection: PictureRange.Selection) throws(Failure) -> Bool {
      for sample in selection.samples where try !body(sample) { return false }
      return selection.next == .more
    }
    let isWhole = options.start == nil && options.duration == nil
    var (hasEnded, hasMore) = (false, false)
    repeat {
      hasEnded = try await pass.withLock { $0 }.readAll { [self] sample throws(Failure) in
        if isWhole { return try body(sample) }
        let selection = range.withLock { $0.select(sample) }
        if selection.next == .untimed { throw untimed }
        return try take(selection)
      }
      if hasEnded { hasMore = try await beginNextPart() } else { hasMore = false }
    } while hasMore
    if hasEnded, !isWhole { _ = try take(range.withLock { $0.finish() }) }
    return range.withLock { !$0.isMissed }
  }

  /// The last part that begins at or before a time.
  private func partShown(at time: ClockTime) -> Int {
    let found = reader.parts.lastIndex { $0.time <= Int64(clamping: time.nanoseconds) } ?? 0
    part.withLock { $0 = found }
    return found
  }

  /// Begins the next part that the container shows. Each part is decoded by itself.
  ///
  /// - Returns: whether there is one.
  func beginNextPart() async throws(Failure) -> Bool {
    let next = part.withLock { part in
      part += 1
      return part
    }
    guard next < reader.parts.count else { return false }
    let ended = pass.withLock { $0 }
    before.withLock { $0 = $0 + Damage(ended.decoderStatistics, parser: ended.reader.parserStatistics) }
    await stop()
    let further = try DecodingPass(input, options, part: next)
    pass.withLock { $0 = further }
    return true
  }

  /// The message that no picture came.
  ///
  /// - Parameter damage: of the pass that has ended.
  func nothing(_ damage: Damage) -> Failure {
    Failure("\(input.name): no picture\(options.start == nil ? " could be decoded" : " after --start")\(damage.remark)")
  }

  /// The message that a picture has no time.
  var untimed: Failure {
    Failure(
      "\(input.name): the stream has no frame rate, so its pictures have no times; set it with --framerate, "
        + "such as 25")
  }

  func stop() async { await reader.pipeline.stop() }
}
