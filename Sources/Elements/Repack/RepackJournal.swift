// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The repackager's statistics and warnings.
struct RepackJournal {
  private(set) var statistics = RepackStatistics()
  private var latency = RepackLatency()
  private var warnings: [ElementError] = []
  private var warned: Warning = []
  private var isEditPending = false

  /// A warning that is given once a stream.
  struct Warning: OptionSet {
    let rawValue: UInt8
    static let damage = Self(rawValue: 1)
    static let misplacedStartCodes = Self(rawValue: 2)
    static let noParameterSets = Self(rawValue: 4)
    static let unreadableParameterSet = Self(rawValue: 8)
    static let unreadableCodecData = Self(rawValue: 16)
    static let refusedEdit = Self(rawValue: 32)
    static let unreadableCaptions = Self(rawValue: 64)
  }

  /// Another stream begins.
  mutating func beginStream() { warned = [] }

  /// Warns, once a stream.
  mutating func warnOnce(_ kind: Warning, _ warning: () -> ElementError) {
    if warned.insert(kind).inserted { warnings.append(warning()) }
  }

  /// Edits have changed: a refusal is of others than before.
  mutating func beginEdits() { warned.remove(.refusedEdit) }

  /// Notes the outcome of edits.
  mutating func note(refusal: StreamEditError?, isPending: Bool) {
    if isPending { isEditPending = true }
    guard let refusal else { return }
    warnOnce(.refusedEdit) {
      ElementError(
        .stream(.format), "An edit was refused; the stream continues unedited.", debug: refusal.description)
    }
  }

  /// Warns that pictures are reordered more than the headers announce by an edit.
  mutating func note(measuredReorderDepth depth: Int) {
    warnings.append(
      ElementError(
        .stream(.format), "Pictures are reordered more than the edited headers announce; the next headers announce it.",
        debug: "a reorder depth of \(depth)"))
  }

  /// Warns, once a stream, of captions that cannot be written.
  mutating func warnOfUnreadableCaptions() {
    warnOnce(.unreadableCaptions) {
      ElementError(
        .stream(.format), "Closed captions on buffers cannot be read; they are not written.",
        debug: "expected at most \(CaptionTriplet.limit) triplets or pairs, or a packet with its checksum")
    }
  }

  /// Counts NAL units that edits have changed, inserted or removed, and SEI with captions.
  mutating func count(edited: Int) { statistics.editedNALUnits += UInt64(edited) }

  /// Counts the damage of an access unit of the input, and warns of it.
  mutating func note<Codec>(_ content: RepackedAccessUnit<Codec>, in format: StreamFormat<Codec>?) {
    if let error = content.damage {
      statistics.damaged += 1
      if content.isLost { statistics.lost += 1 }
      warnOnce(.damage) {
        ElementError(.stream(.format), "The stream is damaged; its readable parts are passed on.", debug: "\(error)")
      }
    }
    let misplaced = content.misplacedStartCodes
    if misplaced > 0 {
      statistics.misplacedStartCodes += UInt64(misplaced)
      warnOnce(.misplacedStartCodes) {
        .muxedWrongly(
          "found \(misplaced) start codes in one buffer of \(format?.rawValue ?? "unknown") input, expected lengths")
      }
    }
    let unreadable = content.unreadableParameterSets
    if unreadable > 0 {
      statistics.unreadableParameterSets += UInt64(unreadable)
      warnOnce(.unreadableParameterSet) {
        ElementError(
          .stream(.format), "A parameter set cannot be read; it stays in its place.",
          debug: "\(unreadable) in one access unit")
      }
    }
  }

  /// An access unit is dropped, because its parameter sets have not come.
  mutating func noteMissingParameterSets() {
    statistics.droppedBeforeParameterSets += 1
    warnOnce(.noParameterSets) {
      ElementError(
        .stream(.format), "Access units are dropped until a sequence and a picture parameter set come.",
        debug: "codec_data cannot be made without them")
    }
  }

  /// Warns, once a stream, that nothing in it can be changed.
  mutating func warnOfUnreadableCodecData(_ error: ElementError) {
    warnOnce(.unreadableCodecData) {
      ElementError(
        .stream(.format), "codec_data cannot be read; the stream is passed through unchanged.", debug: error.debug)
    }
  }

  /// The error of a stream that has ended; nil when no access unit was dropped because it lacked parameter sets.
  var missingParameterSets: ElementError? {
    let count = statistics.droppedBeforeParameterSets
    guard count > 0 else { return nil }
    return ElementError(
      .stream(.format), "The stream has no parameter sets for its slices.",
      debug: "\(count) access units came without a sequence and a picture parameter set")
  }

  /// Counts a buffer that came in.
  mutating func count(input size: Int, isPassedOn: Bool) {
    statistics.bytesIn += UInt64(size)
    guard isPassedOn else { return }
    statistics.bytesOut += UInt64(size)
    statistics.untouched += 1
  }

  /// Counts NAL units removed because of `drop`.
  mutating func count(dropped: Int) { statistics.droppedNALUnits += UInt64(dropped) }

  /// Counts parameter sets put in-band.
  mutating func count(insertedParameterSets count: Int) { statistics.insertedParameterSets += UInt64(count) }

  /// Counts an inserted access unit delimiter.
  mutating func countInsertedDelimiter() { statistics.insertedDelimiters += 1 }

  /// Counts a change of `codec_data`.
  mutating func countParameterSetChange() { statistics.parameterSetChanges += 1 }

  /// Counts a buffer that is sent.
  mutating func count(output size: Int, _ method: RepackMethod) {
    statistics.bytesOut += UInt64(size)
    switch method {
    case .untouched: statistics.untouched += 1
    case .inPlace: statistics.inPlace += 1
    case .copied: statistics.copied += 1
    }
  }

  /// Returns the report since the last call.
  mutating func takeReport(latency current: RepackLatency?) -> RepackReport {
    let changed = current == latency ? nil : current
    latency = changed ?? latency
    let report = RepackReport(
      statistics: statistics, latency: changed, warnings: warnings, isEditPending: isEditPending)
    if !warnings.isEmpty { warnings = [] }
    isEditPending = false
    return report
  }
}

/// The core's report to other threads and the bus.
struct RepackReport {
  var statistics: RepackStatistics
  /// nil when it has not changed.
  var latency: RepackLatency?
  var warnings: [ElementError]
  /// Edits wait for the start of a coded video sequence.
  var isEditPending: Bool
}

/// The repackager's latency.
struct RepackLatency: Sendable, Equatable {
  /// The access units after one that must arrive before it is output.
  var accessUnits = 0
  /// The caps' frame rate; nil without one.
  var frameRate: Fraction?

  /// How long these access units last; nil if that is unknown.
  var time: ClockTime? {
    guard accessUnits > 0, let frameRate else { return nil }
    return .seconds(
      UInt64(accessUnits), times: UInt32(clamping: frameRate.denominator), over: UInt32(clamping: frameRate.numerator))
  }
}
