// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Synchronization

/// The queues in front of a muxer. One demultiplexer thread fills them all, and a muxer waits for data of each stream:
/// neither must wait for the other.
///
/// - Streams are held back until the muxer has all its pads with their caps, because most muxers accept none once they
///   have begun.
/// - While a stream is silent, the queues of the others grow. At a bound the silent stream ends.
final class MuxerQueues: Sendable {
  /// The bytes that a queue can hold, and by which it grows.
  private static let step = 32 << 20
  /// The bytes that a queue can hold while another stream is silent.
  private static let bound = 256 << 20
  /// Nanoseconds of a pipe that are held back for streams that the demultiplexer may still find: `flvdemux` and
  /// `tsdemux` add a pad with its first data. Of a file it is what queues can hold.
  private static let patience: UInt64 = 10_000_000_000

  private struct Stream {
    let queue: PipelineElement
    let isVideo: Bool
    var limit = MuxerQueues.step
    /// The pad that is linked to the muxer.
    var last: PipelinePad?
    var block: PipelinePad.Block?
    /// Whether its first buffer waits at the block.
    var isBlocked = false
    /// Whether the queue is empty, and everything from it has reached the muxer.
    var isStarving = false
    /// The latest PTS.
    var position = ClockTime.zero
    /// The number of buffers that came after its end; `nil` while it goes on.
    var lost: Int?

    /// Whether the muxer has its caps, or need not wait for them.
    var isReady: Bool {
      guard let last else { return false }
      return isBlocked || last.hasEnded || isStarving && last.currentCaps != nil
    }
    var isFull: Bool { (try? queue.get("current-level-bytes").integer).map { $0 >= limit } ?? false }
    /// The muxer may wait for it. (The queue's own thread may not have noticed yet that something has come.)
    var isSilent: Bool {
      isStarving && lost == nil && last?.hasEnded == false && (try? queue.get("current-level-buffers").integer) == 0
    }
  }

  private struct State {
    var streams: [String: Stream] = [:]
    /// The queue that is full and that the demultiplexer waits for.
    var full: String?
    /// Whether no further stream is waited for.
    var isComplete = false
    /// Whether the muxer has begun.
    var isReleased: Bool
    var whenGivenUp: (@Sendable () -> Void)?
  }
  private let state: Mutex<State>
  private let isPipe: Bool

  /// - Parameters:
  ///   - holds: whether to wait for several streams.
  ///   - isPipe: whether the input may be live, so that the output should not come much later.
  init(holds: Bool, isPipe: Bool) {
    state = Mutex(State(isReleased: !holds))
    self.isPipe = isPipe
  }

  /// Sets a handler that is called when a stream brings neither data nor caps while others fill their queues.
  func onGivenUp(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.whenGivenUp = handler } }

  /// Makes the queue for a stream, which is waited for until `connect` or `remove`; `nil` when the muxer has begun.
  func queue(for pad: PipelinePad?, isVideo: Bool) throws(PipelineError) -> PipelineElement? {
    let queue = try PipelineElement("queue", ["max-size-buffers": 0, "max-size-bytes": .int(Int32(Self.step))])
    let name = queue.name
    let isLate = try state.withLock { state throws(PipelineError) in
      guard !state.isReleased || isVideo else { return true }
      try queue.set("max-size-time", .uint64(state.isReleased || !isPipe ? 0 : Self.patience))
      state.streams[name] = Stream(queue: queue, isVideo: isVideo)
      return false
    }
    guard !isLate else { return nil }
    try connect("overrun", of: queue) { $0.filled(name) }
    try connect("underrun", of: queue) { $0.emptied(name) }
    try connect("running", of: queue) { $0.update(name) { $0.isStarving = false } }
    pad?.dropEvents { [weak self] event in
      if event.kind == .endOfStream { self?.complete() }
      // A gap before the first data would reach the muxer before complete caps do.
      return event.kind == .gap
    }
    pad?.dropBuffers { [weak self] pts, _ in self?.passed(pts, name) ?? false }
    return queue
  }

  private func connect(
    _ signal: String, of queue: PipelineElement, _ body: @escaping @Sendable (MuxerQueues) -> Void
  ) throws(PipelineError) {
    try queue.connect(signal) { [weak self] _ in
      if let self { body(self) }
      return nil
    }
  }

  /// Holds back a stream, whose last source pad is about to be linked to the muxer.
  func connect(_ queue: PipelineElement, to last: PipelinePad) {
    let name = queue.name
    guard !state.withLock({ $0.isReleased }) else { return update(name) { $0.last = last } }
    let block = last.blockBuffers { [weak self] in
      self?.update(name) { $0.isBlocked = true }
      self?.release()
    }
    update(name) { ($0.last, $0.block) = (last, block) }
    release()
  }

  /// Forgets a stream that could not be linked.
  func remove(_ queue: PipelineElement) {
    state.withLock { $0.streams[queue.name] = nil }
    release()
  }

  /// Lets the muxer begin as soon as it has the caps of all streams; it gets no further stream.
  func complete() {
    state.withLock { $0.isComplete = true }
    release()
  }

  /// Lets the muxer begin with what it has.
  func releaseAll() { release(always: true) }

  private func update(_ name: String, _ change: (inout Stream) -> Void) {
    state.withLock { state in
      guard var stream = state.streams[name] else { return }
      change(&stream)
      state.streams[name] = stream
    }
  }

  private func release(always: Bool = false) {
    let released: [Stream]? = state.withLock { state in
      let streams = Array(state.streams.values)
      guard !state.isReleased, always || state.isComplete && streams.allSatisfy(\.isReady) else { return nil }
      (state.isReleased, state.isComplete) = (true, true)
      for name in state.streams.keys { state.streams[name]?.block = nil }
      return streams
    }
    for stream in released ?? [] {
      try? stream.queue.set("max-size-time", .uint64(0))
      stream.block?.remove()
    }
  }

  /// Notes a buffer, and returns whether it comes too late.
  private func passed(_ pts: ClockTime?, _ name: String) -> Bool {
    state.withLock { state in
      state.full = nil
      guard let lost = state.streams[name]?.lost else {
        if let pts, let position = state.streams[name]?.position { state.streams[name]?.position = max(position, pts) }
        return false
      }
      state.streams[name]?.lost = lost + 1
      return true
    }
  }

  /// Where streams were ended of which more came later.
  var cuts: [(isVideo: Bool, after: ClockTime)] {
    state.withLock { $0.streams.values.filter { $0.lost ?? 0 > 0 }.map { ($0.isVideo, $0.position) } }
  }

  private func filled(_ name: String) {
    // By time: the first video is not held back longer for other streams.
    let impatient: PipelineElement? = state.withLock { state in
      state.full = name
      guard !state.isReleased, let stream = state.streams[name], !stream.isFull else { return nil }
      if state.streams.values.contains(where: \.isVideo) { state.isComplete = true }
      return stream.queue
    }
    try? impatient?.set("max-size-time", .uint64(0))
    release()
    relieve()
  }

  private func emptied(_ name: String) {
    update(name) { $0.isStarving = true }
    release()
    relieve()
  }

  /// Makes room in a full queue while a stream is silent, so that the demultiplexer comes to its data.
  private func relieve() {
    enum Remedy {
      case grow(PipelineElement, limit: Int)
      case end([PipelineElement])
      case begin
      case giveUp((@Sendable () -> Void)?)
    }
    let remedy: Remedy? = state.withLock { state in
      guard let name = state.full, let full = state.streams[name], full.isFull else { return nil }
      let silent = state.streams.filter { state.isReleased ? $1.isSilent : !$1.isReady }
      guard !silent.isEmpty || !state.isReleased else { return nil }
      if full.limit < Self.bound {
        state.streams[name]?.limit += Self.step
        return .grow(full.queue, limit: full.limit + Self.step)
      }
      guard state.isReleased else {
        state.isComplete = true
        return silent.isEmpty ? .begin : .giveUp(state.whenGivenUp)
      }
      for name in silent.keys { state.streams[name]?.lost = 0 }
      return .end(silent.values.map(\.queue))
    }
    switch remedy {
    case .grow(let queue, let limit): try? queue.set("max-size-bytes", .int(Int32(limit)))
    case .end(let queues): for queue in queues { queue.pad("sink")?.send(.endOfStream()) }
    case .begin: release()
    case .giveUp(let handler): handler?()
    case nil: break
    }
  }
}
