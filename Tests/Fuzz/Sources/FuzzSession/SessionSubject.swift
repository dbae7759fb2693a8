// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x
public import TestSupport
import VideoDecoding

/// A stream of random meaning through a decompression session. The input decides the stream, the session's settings, and
/// what an application calls between two access units.
///
/// A finding is a trap, a sanitizer's report, or an access unit that has no result, or more than one.
public enum SessionSubject<Stream: RandomStream> {
  /// Drives a new session with one input.
  public static func run(_ input: Span<UInt8>) {
    var decisions = ByteDecisions([UInt8](input, 0..<input.count))
    var stream = Stream(&decisions)
    guard let format = stream.format else { fatalError("the parameter sets cannot be read") }
    guard let session = try? DecompressionSession(format: format, configuration: configuration(&decisions)) else {
      return
    }
    var results: [UInt64: Int] = [:]
    var taken: UInt64 = 0
    var last: [UInt8] = []
    while !decisions.isAtEnd && taken < 200 {
      disturb(session, &stream, &decisions)
      if last.isEmpty || !decisions.oneIn(20) { last = MinimalStream.annexB(stream.nextAccessUnit(&decisions)) }
      let time: Duration? = decisions.oneIn(2) ? .milliseconds(40 * Int(taken)) : nil
      if (try? session.decode(last.span, tag: taken, time: time, doNotOutput: decisions.oneIn(20))) != nil {
        taken += 1
      }
      if !decisions.oneIn(4) { take(session, &results) }
    }
    if decisions.oneIn(8) { session.invalidate() } else { session.drain() }
    take(session, &results)
    require(results.count == Int(taken) && results.allSatisfy { $0.value == 1 }, "not one result for each access unit")
    let counts = session.statistics
    require(counts.output + counts.dropped + counts.failed == taken, "the counts are wrong")
  }

  private static func take(_ session: DecompressionSession, _ results: inout [UInt64: Int]) {
    while let result = session.nextResult() { results[result.tag, default: 0] += 1 }
  }

  private static func disturb(
    _ session: DecompressionSession, _ stream: inout Stream, _ decisions: inout ByteDecisions
  ) {
    switch decisions.below(32) {
    case 31: session.flush()
    case 30: session.drain()
    case 28, 29: session.skipFrames = decisions.one(of: Array(SessionConfiguration.SkipFrames.allCases))
    case 27:
      stream = Stream(&decisions)
      guard let format = stream.format, session.canAccept(format) else { return }
      require((try? session.accept(format)) != nil, "a format that can be accepted is not")
    default: break
    }
  }

  /// Without threads, so that a finding depends on the input only.
  private static func configuration(_ decisions: inout ByteDecisions) -> SessionConfiguration {
    var configuration = SessionConfiguration()
    configuration.threadType = .none
    configuration.lowDelay = decisions.oneIn(4)
    configuration.outputCorrupt = decisions.oneIn(2)
    configuration.skipFrames = decisions.one(of: Array(SessionConfiguration.SkipFrames.allCases))
    configuration.startPatience = decisions.one(of: [.seconds(10), .zero, .milliseconds(80)])
    configuration.replayByteLimit = decisions.one(of: [16 << 20, 1, 300])
    configuration.replayCountLimit = decisions.one(of: [600, 0, 1, 4])
    configuration.outputLayout = decisions.oneIn(3) ? .semiPlanar : .native
    configuration.verifiesPictureHash = decisions.oneIn(3)
    configuration.verifiesSlices = decisions.oneIn(3)
    return configuration
  }
}
