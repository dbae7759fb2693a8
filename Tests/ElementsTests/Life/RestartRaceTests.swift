// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import HarnessSupport
import Testing

/// An element is restarted while upstream pushes: state of one run must not be seen, or freed, by the next.
///
/// `RESTART_CYCLES` sets how often each is restarted; `make races` runs 5,000 in twenty processes.
@Suite(.serialized) struct RestartRaceTests {
  init() { #expect(Registration.succeeded) }

  private static let cycles = ProcessInfo.processInfo.environment["RESTART_CYCLES"].flatMap(Int.init) ?? 300

  @Test(arguments: Trial.all, ["READY", "NULL"])
  func elementIsRestartedWhileUpstreamPushes(trial: Trial, state: String) throws {
    // The second has other parameter sets, so that caps change all the time.
    let streams = try ["clip", "wide"].map { try LifeStreams.packets($0, for: trial, first: 6) }
    let race = RestartRace(element: trial.element, output: trial.output, streams: streams)
    let buffers = try race.run(to: state == "NULL" ? GST_STATE_NULL : GST_STATE_READY, cycles: Self.cycles)
    #expect(buffers > 0)
  }
}
