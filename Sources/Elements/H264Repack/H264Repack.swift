// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// `swifth264repack`: H.264 from any packaging to any other, without a change to its slices.
///
/// Input and output are avc (lengths in front of the NAL units, parameter sets in `codec_data`), avc3 (the same with
/// the parameter sets in the stream) and byte-stream (start codes). The caps of the output wait until the parameter
/// sets are known where `codec_data` has to be made from them.
final class H264Repack: BaseTransform {
  static let log = Log("swifth264repack", "H.264 repackager")

  let settings = Locked(H264RepackSettings())
  let statistics = Locked(H264RepackStatistics())
  /// For latency queries, which come from other threads.
  let latency = Locked(Latency())

  // What follows belongs to the streaming thread.

  /// The settings of the buffer in hand.
  var active = H264RepackSettings()
  var input: H264RepackFormat?
  var output: Output?
  var sets = H264RepackParameterSets()
  var collector = H264RepackCollector()
  var splitter = H264RepackSplitter()
  var pool = SizedBufferPool()
  /// The caps event, and the serialized events behind it, that wait for parameter sets.
  var heldCaps: HeldEvent?
  var heldEvents: [HeldEvent] = []
  /// What was said on the bus about this stream.
  var warned: Warning = []
  /// Something was left out since the last buffer.
  var hasLost = false

  /// How the output is packaged.
  struct Output: Equatable {
    var streamFormat: StreamFormat
    var alignment: StreamAlignment
    var packaging: NALPackaging
  }

  /// What makes this element wait.
  struct Latency: Sendable {
    /// The end of an access unit is seen only at the start of the next.
    var waitsForNextAccessUnit = false
    /// The time between access units; nil when the caps do not tell.
    var accessUnitDuration: ClockTime?
  }

  /// A warning that is given once a stream.
  struct Warning: OptionSet {
    let rawValue: UInt8
    static let damage = Self(rawValue: 1)
    static let misplacedStartCodes = Self(rawValue: 2)
    static let noParameterSets = Self(rawValue: 4)
    static let unreadableParameterSet = Self(rawValue: 8)
  }

  // No "Parser" in the classification: autopluggers put every parser they find into their chains.
  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "H.264 repackager in Swift", classification: "Codec/Converter/Video",
      description: "Converts H.264 among byte-stream, avc and avc3",
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] {
    [
      .sink("video/x-h264, stream-format={avc, avc3, byte-stream}, alignment={au, nal}"),
      .source(
        """
        video/x-h264, stream-format={avc, avc3}, alignment=au; \
        video/x-h264, stream-format=byte-stream, alignment={au, nal}
        """),
    ]
  }

  override class var properties: [Property] {
    Property.settings(
      { (element: H264Repack) in element.settings }, defaults: H264RepackSettings(), H264RepackSettings.properties)
      + [
        .structure("stats", "What was done since the start") { (element: H264Repack) in
          element.statistics.snapshot.structure
        }
      ]
  }

  override class var mode: Mode { .generating }

  // MARK: Life

  override func start() throws(ElementError) {
    reset()
    statistics.withLock { $0 = H264RepackStatistics() }
    active = settings.snapshot
    setPassthrough(false)
  }

  override func stop() {
    reset()
    pool.drain()
  }

  private func reset() {
    forgetStream()
    output = nil
    latency.withLock { $0 = Latency() }
  }

  /// Forgets the stream, and what was held back of it.
  private func forgetStream() {
    input = nil
    sets = H264RepackParameterSets()
    collector.removeAll()
    splitter.removeAll()
    heldCaps = nil
    heldEvents.removeAll()
    warned = []
    hasLost = false
  }

  // MARK: Negotiation

  override func transformCaps(_ caps: borrowing Caps, on side: Direction, filter: borrowing Caps?) -> Caps {
    possibleCaps(caps, on: side, filter: filter)
  }

  override func fixateCaps(_ caps: borrowing Caps, on side: Direction, other: consuming Caps) -> Caps {
    side == .sink ? chosenCaps(caps, from: other) : other.fixated()
  }

  override func acceptCaps(_ caps: borrowing Caps, on side: Direction) -> Bool {
    // What is wrong with a stream's caps is told on the bus when they come, not by a silent refusal.
    side == .sink ? caps.first.name == "video/x-h264" : super.acceptCaps(caps, on: side)
  }

  override func setCaps(input: borrowing Caps, output: borrowing Caps) -> Bool { adopt(output: output) }

  override func query(_ query: borrowing Query, on side: Direction) -> Bool {
    query.kind == .latency && side == .source ? answerLatency(query) : super.query(query, on: side)
  }

  // MARK: Events

  override func sinkEvent(_ event: consuming Event) -> Bool {
    switch event.kind {
    case .caps:
      finishAccessUnit()
      return takeCaps(event)
    case .segment, .gap:
      finishAccessUnit()
      return forwardInOrder(event)
    case .streamStart:
      finishAccessUnit()
      forgetStream()
      return super.sinkEvent(event)
    case .endOfStream:
      finishAccessUnit()
      complainOfHeldCaps()
      return super.sinkEvent(event)
    case .flushStop:
      flush()
      return super.sinkEvent(event)
    default:
      return event.isSerialized ? forwardInOrder(event) : super.sinkEvent(event)
    }
  }

  /// Hands an event to the base class.
  func forward(_ event: consuming Event) -> Bool { super.sinkEvent(event) }

  // MARK: Data

  override func submitInput(_ input: consuming Buffer, isDiscontinuous: Bool) throws(FlowError) {
    applySettings()
    let size = input.size
    guard heldCaps == nil else {
      statistics.withLock { $0.bytesIn += UInt64(size) }
      // The base class has not been told of the caps: it would refuse the buffer.
      collector.put(input)
      return
    }
    do throws(FlowError) {
      try super.submitInput(input, isDiscontinuous: isDiscontinuous)
    } catch {
      if error == .notNegotiated { explainRefusal() }
      throw error
    }
    let isUntouched = isPassthrough
    statistics.withLock {
      $0.bytesIn += UInt64(size)
      if isUntouched {
        $0.bytesOut += UInt64(size)
        $0.untouched += 1
      }
    }
  }

  override func generateOutput(_ input: consuming Buffer) throws(FlowError) -> Buffer? {
    collector.put(input)
    return try nextOutput()
  }

  override func nextOutput() throws(FlowError) -> Buffer? {
    while true {
      if let buffer = splitter.next() { return buffer }
      guard try takeAccessUnit() else { return nil }
      if let buffer = try convert() {
        guard output?.alignment == .nalUnit else { return buffer }
        splitter.put(buffer)
      }
    }
  }

  /// Takes over changed properties.
  private func applySettings() {
    let current = settings.snapshot
    guard current != active else { return }
    let isOtherSize = current.nalLengthSize != active.nalLengthSize
    active = current
    guard output != nil, heldCaps == nil else { return }
    setPassthrough(isIdentity)
    // The length size stands in codec_data.
    if isOtherSize { reconfigureSource() }
  }

  /// Whether there is nothing to do for this element.
  var isIdentity: Bool {
    guard let input, let output else { return false }
    guard input.streamFormat == output.streamFormat, input.alignment == output.alignment,
      input.packaging == output.packaging, active.drop.isEmpty
    else { return false }
    switch output.streamFormat {
    case .avc: return true
    case .avc3: return insertion == .never
    case .byteStream: return insertion == .never && !active.insertsDelimiter
    }
  }

  /// When to put parameter sets in-band.
  var insertion: H264RepackSettings.ParameterSetInsertion {
    guard active.parameterSets == .automatic else { return active.parameterSets }
    // In the stream they are where the encoder wanted them.
    if input?.streamFormat == output?.streamFormat { return .never }
    return input?.streamFormat == .avc || sets.areOutOfBand ? .keyframes : .never
  }

  // MARK: Messages

  /// Warns on the bus, once a stream.
  func warnOnce(_ kind: Warning, _ message: @autoclosure () -> String, debug: @autoclosure () -> String) {
    guard !warned.contains(kind) else { return }
    warned.insert(kind)
    postWarning(ElementError(.stream(.format), message(), debug: debug()))
  }
}
