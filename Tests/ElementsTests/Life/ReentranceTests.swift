// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import HarnessSupport
import Synchronization
import Testing

/// Calls into an element while it works, from its own pushes and from other threads, as GStreamer allows them.
@Suite(.serialized) struct ReentranceTests {
  init() { #expect(Registration.succeeded) }

  /// The output of an element for a stream, with `body` called at every moment.
  private func output(
    of trial: Trial, _ stream: RestartRace.Stream,
    whenGiven: (@Sendable (PadBench, PadBench.Moment) -> Void)? = nil, beside: (@Sendable (PadBench) -> Void)? = nil
  ) throws -> [PadBench.Output] {
    let bench = try PadBench(trial.element, output: trial.output, records: true, whenGiven: whenGiven)
    bench.go(to: GST_STATE_PLAYING)
    let other = beside.map { body in BackgroundThread { body(bench) } }
    for _ in 0..<2 {
      bench.begin(caps: stream.caps)
      for (index, unit) in stream.accessUnits.enumerated() { bench.push(unit, pts: UInt64(index) * 40_000_000) }
      bench.flush()
    }
    bench.begin(caps: stream.caps)
    for (index, unit) in stream.accessUnits.enumerated() { bench.push(unit, pts: UInt64(index) * 40_000_000) }
    bench.end()
    other?.end()
    bench.go(to: GST_STATE_READY)
    return bench.output
  }

  private struct Subject {
    let stream: RestartRace.Stream
    /// libavcodec leaves samples of H.265 pictures that it cannot decode uninitialised, and reports nothing.
    var hasCertainSamples = true
  }

  /// The clip, the clip with every 997th byte changed, an open GOP, and fields.
  private static func subjects(_ trial: Trial) throws -> [Subject] {
    let whole = try LifeStreams.packets("clip", for: trial, first: 30)
    var damaged = whole
    for (index, unit) in whole.accessUnits.enumerated() {
      for position in stride(from: 40 + index, to: unit.count, by: 997) {
        damaged.accessUnits[index][position] ^= 0x55
      }
    }
    return [
      Subject(stream: whole),
      Subject(stream: damaged, hasCertainSamples: !trial.element.hasPrefix("swifth265dec")),
      Subject(stream: try LifeStreams.byteStream("open-gop", for: trial)),
      Subject(
        stream: try trial.isH265
          ? LifeStreams.byteStream("interlaced", for: trial) : LifeStreams.nalUnits("interlaced.h264")),
    ]
  }

  /// The same buffers.
  private func expectSame(_ disturbed: [PadBench.Output], _ plain: [PadBench.Output], of subject: Subject) {
    #expect(disturbed.count == plain.count)
    let areSame = { (one: PadBench.Output, other: PadBench.Output) in
      one.pts == other.pts && one.dts == other.dts && one.isCorrupt == other.isCorrupt
        && (one.bytes == other.bytes || !subject.hasCertainSamples)
    }
    guard let index = zip(disturbed, plain).enumerated().first(where: { !areSame($0.element.0, $0.element.1) })?.offset
    else { return }
    let (other, expected) = (disturbed[index], plain[index])
    let place = zip(other.bytes, expected.bytes).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    Issue.record(
      """
      buffer \(index) of \(plain.count), PTS \(expected.pts), corrupt \(expected.isCorrupt), became \
      PTS \(other.pts), corrupt \(other.isCorrupt), first other byte \(place.map { "\($0)" } ?? "none")
      """)
  }

  /// Downstream answers each buffer and event with events of its own, on the same thread.
  @Test(arguments: Trial.all) func downstreamSendsEventsFromItsChainFunction(_ trial: Trial) throws {
    for subject in try Self.subjects(trial) {
      let plain = try output(of: trial, subject.stream)
      let disturbed = try output(of: trial, subject.stream) { bench, moment in
        switch moment {
        case .buffer, .event: bench.sendUpstreamEvents()
        default: break
        }
      }
      #expect(!plain.isEmpty)
      // Parameter sets may be repeated where a keyframe was asked for; no picture is lost for it.
      #expect(disturbed.count >= plain.count)
    }
  }

  /// Seeks that upstream refuses change nothing.
  @Test(arguments: Trial.all) func downstreamSeeksFromItsChainFunction(_ trial: Trial) throws {
    for subject in try Self.subjects(trial) {
      let plain = try output(of: trial, subject.stream)
      let disturbed = try output(of: trial, subject.stream) { bench, moment in
        if case .buffer = moment { bench.sendSeeks() }
      }
      expectSame(disturbed, plain, of: subject)
    }
  }

  /// Both neighbours send queries whenever the element calls them.
  @Test(arguments: Trial.all) func neighborsQueryDuringEveryCall(_ trial: Trial) throws {
    for subject in try Self.subjects(trial) {
      let plain = try output(of: trial, subject.stream)
      let disturbed = try output(of: trial, subject.stream) { bench, moment in
        if case .buffer = moment { bench.askForPosition() }
        switch moment {
        case .buffer, .event, .upstreamEvent:
          bench.queryFromDownstream()
          bench.queryFromUpstream()
        case .query, .upstreamQuery, .message: break
        }
      }
      expectSame(disturbed, plain, of: subject)
    }
  }

  /// Properties are read and written by a sync handler of the bus, and by whatever runs inside a push or a query.
  @Test(arguments: Trial.all) func accessesPropertiesInsidePushesAndMessages(_ trial: Trial) throws {
    for subject in try Self.subjects(trial) {
      let plain = try output(of: trial, subject.stream)
      let disturbed = try output(of: trial, subject.stream) { bench, _ in bench.touchProperties() }
      expectSame(disturbed, plain, of: subject)
    }
  }

  /// Another thread sends queries and reads and writes properties all the time.
  @Test(arguments: Trial.all) func anotherThreadQueriesAndSetsProperties(_ trial: Trial) throws {
    for subject in try Self.subjects(trial) {
      let plain = try output(of: trial, subject.stream)
      let disturbed = try output(
        of: trial, subject.stream,
        beside: { bench in
          bench.queryFromDownstream()
          bench.queryFromUpstream()
          if !trial.element.contains("dec") { bench.askForPosition() }
          bench.touchProperties()
        })
      expectSame(disturbed, plain, of: subject)
    }
  }

  /// Three threads ask for the source pad's caps, with a filter, while they change with every picture.
  @Test(arguments: Trial.all) func capsAreQueriedWhileTheyChange(_ trial: Trial) throws {
    let stream = try LifeStreams.packets("clip", for: trial, first: 1)
    let first = try #require(stream.accessUnits.first)
    let bench = try PadBench(trial.element, output: trial.output)
    bench.go(to: GST_STATE_PLAYING)
    let others = (0..<3).map { _ in BackgroundThread { bench.askForCaps(trial.output) } }
    for round in 0..<100 {
      bench.begin(caps: stream.caps + ", framerate=\(round + 1)/1")
      for index in 0..<2 as Range<UInt64> { #expect(bench.push(first, pts: index * 40_000_000) == 0) }
    }
    bench.end()
    for other in others { other.end() }
    bench.go(to: GST_STATE_READY)
  }

  /// Another thread sends the events of a sink or an application, such as keyframe requests and seeks.
  @Test(arguments: Trial.all) func anotherThreadSendsEvents(_ trial: Trial) throws {
    for subject in try Self.subjects(trial) {
      let plain = try output(of: trial, subject.stream)
      let disturbed = try output(
        of: trial, subject.stream,
        beside: { bench in
          bench.sendUpstreamEvents()
          bench.sendSeeks()
        })
      #expect(disturbed.count >= plain.count)
    }
  }
}
