// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// What the repackager counts, and what it has to say of the stream.
struct RepackJournal {
  var statistics = RepackStatistics()
  private var latency = RepackLatency()
  private var warnings: [ElementError] = []
  private var warned: Warning = []

  /// A warning that is given once a stream.
  struct Warning: OptionSet {
    let rawValue: UInt8
    static let damage = Self(rawValue: 1)
    static let misplacedStartCodes = Self(rawValue: 2)
    static let noParameterSets = Self(rawValue: 4)
    static let unreadableParameterSet = Self(rawValue: 8)
    static let unreadableCodecData = Self(rawValue: 16)
  }

  /// Another stream begins.
  mutating func beginStream() { warned = [] }

  /// Warns, once a stream.
  mutating func warnOnce(_ kind: Warning, _ warning: () -> ElementError) {
    if warned.insert(kind).inserted { warnings.append(warning()) }
  }

  /// An access unit lost data to something that cannot be read.
  mutating func note(_ damage: BitstreamError) {
    statistics.damaged += 1
    warnOnce(.damage) {
      ElementError(.stream(.format), "The stream is damaged; what is readable goes on.", debug: "\(damage)")
    }
  }

  mutating func note(misplacedStartCodes count: Int, in format: String?) {
    statistics.misplacedStartCodes += UInt64(count)
    warnOnce(.misplacedStartCodes) {
      ElementError(
        .stream(.format), "Start codes were found where lengths should be; they are replaced.",
        debug: "\(count) in one buffer of \(format ?? "unknown") input")
    }
  }

  mutating func note(unreadableParameterSets count: Int) {
    statistics.unreadableParameterSets += UInt64(count)
    warnOnce(.unreadableParameterSet) {
      ElementError(
        .stream(.format), "A parameter set cannot be read; it stays where it is.",
        debug: "\(count) in one access unit")
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

  /// Counts a buffer that goes out.
  mutating func count(output size: Int, _ way: RepackWay) {
    statistics.bytesOut += UInt64(size)
    switch way {
    case .untouched: statistics.untouched += 1
    case .inPlace: statistics.inPlace += 1
    case .copied: statistics.copied += 1
    }
  }

  /// What is to be told since the last time.
  mutating func takeReport(latency current: RepackLatency?) -> RepackReport {
    let changed = current == latency ? nil : current
    latency = changed ?? latency
    let report = RepackReport(statistics: statistics, latency: changed, warnings: warnings)
    if !warnings.isEmpty { warnings = [] }
    return report
  }
}
