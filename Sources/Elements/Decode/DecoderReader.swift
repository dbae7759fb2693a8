// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// The decoder in front of output and session: frames become access units, each of which is read before it is decoded.
///
/// frame collection → queue → format
struct DecoderReader<Codec: DecoderCodec> {
  private var collection = FrameCollection<Codec>()
  private(set) var queue = AccessUnitQueue()
  private(set) var formats = FormatFollower<Codec>()
  private var repair = StartCodeRepair(codec: Codec.codec, lengthSize: nil)
  /// The sink caps; nil before they come.
  private(set) var input: DecoderInput<Codec>?

  /// Frames that were collected.
  enum Collected {
    /// An access unit, in order.
    case accessUnit([FrameNumber])
    /// All of them: their bytes cannot be read.
    case unreadable([FrameNumber])
  }

  // MARK: Caps

  /// Each frame holds NAL units instead of an access unit; nil before caps.
  var isNALAligned: Bool? { input?.caps.isNALAligned }

  /// The number of frames held, minus the number that the session holds.
  var latency: Int { isNALAligned == true && collection.waitsForNext ? 1 : 0 }

  /// Whether caps package NAL units differently; nil before there were caps.
  func isPackagedDifferently(_ next: CompressedCaps<Codec>) -> Bool? { input.map { !$0.caps.isPackaged(like: next) } }

  /// Takes new sink caps.
  mutating func begin(_ next: DecoderInput<Codec>, isOtherPackaging: Bool) {
    formats.begin(next.caps, isOtherPackaging: isOtherPackaging)
    if isOtherPackaging { repair = StartCodeRepair(codec: Codec.codec, lengthSize: next.caps.nalLengthSize) }
    input = next
  }

  // MARK: Frames

  /// Takes a frame that is an access unit.
  mutating func receive(_ number: FrameNumber) { queue.append(number) }

  /// Takes a frame of NAL units.
  mutating func receive(_ number: FrameNumber, nalUnits: borrowing Buffer) throws(FlowError) {
    guard let input else { return }
    try collection.put(number, nalUnits, packaging: input.caps.packaging)
  }

  /// Queues the next complete access unit of collected frames. Returns those; nil when there is none.
  mutating func takeCollected() -> Collected? {
    guard isNALAligned == true else { return nil }
    do throws(FlowError) {
      return try collection.next(&formats).map { queued($0) }
    } catch {
      return .unreadable(collection.removeAll())
    }
  }

  /// Queues the collected part of an incomplete access unit. Returns its frames; nil when there are none.
  mutating func takeRest() -> Collected? { collection.takeRest().map { queued($0) } }

  private mutating func queued(_ numbers: [FrameNumber]) -> Collected {
    if let first = numbers.first { queue.append(first) }
    return .accessUnit(numbers)
  }

  // MARK: The first access unit

  /// Its bytes with lengths in place of start codes; nil if it is sound.
  mutating func repaired(_ bytes: Span<UInt8>) -> [UInt8]? { repair.repaired(bytes) }

  /// Reads it, unless it was read before; `hasFormat` is false as long as parameter sets are missing.
  mutating func read(_ bytes: Span<UInt8>) -> (description: AccessUnitDescription, isNew: Bool, hasFormat: Bool) {
    if let description = queue.first?.description { return (description, false, true) }
    let description = formats.read(bytes)
    guard formats.format != nil else { return (description, true, false) }
    queue.read(description)
    return (description, true, true)
  }

  /// Whether libavcodec fails in it, given that it has no slice.
  func failsWithoutSlice(_ bytes: Span<UInt8>) -> Bool {
    let packaging = input?.caps.packaging ?? .annexB
    guard let last = packaging.nalUnits(of: bytes).last(where: { !$0.isEmpty }) else { return true }
    return Codec.failsWithoutSlice(bytes.extracting(last))
  }

  /// Whether its format can be decoded.
  var isDecodable: Bool {
    formats.format.map { PictureLayout($0, completesMonochrome: Codec.completesMonochrome) != nil } ?? false
  }

  /// Sets how far output and session are ready for it.
  mutating func prepare(_ step: AccessUnitQueue.Preparation) { queue.prepare(step) }

  /// Output and session are ready.
  mutating func settle() {
    formats.settle()
    queue.prepare(.done)
  }

  /// It is done with.
  mutating func removeFirst() { queue.removeFirst() }

  // MARK: Flow

  /// Removes all access units. Returns their frames.
  mutating func removeAll() -> [FrameNumber] { queue.removeAll() }

  /// A seek: nothing that came before is decoded any more.
  mutating func flush() {
    collection.flush()
    formats.flush()
    _ = queue.removeAll()
  }
}
