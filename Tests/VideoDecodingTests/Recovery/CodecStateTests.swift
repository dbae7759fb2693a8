// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Testing

@testable import VideoDecoding

@Suite struct CodecStateTests {
  private static let ended = AVError.processEnded(signal: 11)

  private static func circumstances(
    _ place: HardwareUse.Place = .software, canReplay: Bool = true, youngestDecoded: UInt64? = nil
  ) -> CodecState.Circumstances {
    CodecState.Circumstances(place: place, canReplay: canReplay, youngestDecoded: youngestDecoded)
  }

  /// A codec that is lost with these errors, one after the other, at access unit 5; in a drain, if it is drained.
  private static func lost(
    _ errors: [AVError] = [.external], from state: CodecState = .running, attempts: Int = 2
  ) -> CodecState {
    var state = state
    for error in errors { _ = state.lose(error, at: 5, attempts: attempts, circumstances()) }
    return state
  }

  // MARK: Every event in every state

  private static let states: [(name: String, state: CodecState)] = [
    ("opening", .replacing(CodecReplacement(firstWithAttempts: 1))),
    ("opening for the last time", .replacing(CodecReplacement(firstWithAttempts: 0))),
    ("closed", .closed), ("running", .running), ("draining", .draining(upTo: 5, nil)),
    ("replacing", lost()), ("replacing for the last time", lost(attempts: 1)),
    ("salvaging", lost([ended, ended], attempts: 1)),
    ("replacing in a drain", lost(from: .draining(upTo: 5, nil))),
    (
      "draining again",
      {
        var state = lost(from: .draining(upTo: 5, nil))
        _ = state.replayed()
        return state
      }()
    ),
    ("lost", lost(attempts: 0)),
  ]

  private static let events: [(name: String, happens: @Sendable (inout CodecState) -> String)] = [
    ("drain", { $0.drain(upTo: 5) ? "drain" : "none" }),
    (
      "drained",
      {
        $0.drained()
        return "none"
      }
    ),
    (
      "close",
      {
        $0.close()
        return "none"
      }
    ),
    ("replace", { "\($0.replace(at: 5, attempts: 1, circumstances()))" }),
    ("replace without a replay", { "\($0.replace(at: 5, attempts: 1, circumstances(canReplay: false)))" }),
    ("restart", { "\($0.restart(attempts: 1, circumstances()))" }),
    ("restart without attempts", { "\($0.restart(attempts: 0, circumstances()))" }),
    ("lose", { "\($0.lose(.external, at: 5, attempts: 1, circumstances()))" }),
    ("lose the device", { "\($0.lose(.hardwareFailed, at: 5, attempts: 1, circumstances(.device)))" }),
    ("lose without a replay", { "\($0.lose(.external, at: 5, attempts: 1, circumstances(canReplay: false)))" }),
    ("cancel", { "\($0.lose(.cancelled, at: 5, attempts: 1, circumstances()))" }),
    ("replayed", { "\($0.replayed())" }),
  ]

  /// The transitions: state, event, next state, action. Any other event changes nothing.
  private static let transitions = """
    opening | close | closed | none
    opening | lose | opening | open
    opening | lose the device | opening | openInSoftware
    opening | lose without a replay | opening | open
    opening | cancel | lost | giveUp
    opening | replayed | running | none
    opening for the last time | close | closed | none
    opening for the last time | lose | lost | giveUp
    opening for the last time | lose the device | opening | openInSoftware
    opening for the last time | lose without a replay | lost | giveUp
    opening for the last time | cancel | lost | giveUp
    opening for the last time | replayed | running | none
    closed | replace | replacing | open
    closed | replace without a replay | lost | giveUp
    running | drain | draining | drain
    running | close | closed | none
    running | replace | replacing | open
    running | replace without a replay | lost | giveUp
    running | lose | replacing | open
    running | lose the device | replacing | openInSoftware
    running | lose without a replay | lost | giveUp
    running | cancel | closed | cancel
    draining | drained | running | none
    draining | close | closed | none
    draining | lose | replacing in a drain | open
    draining | lose the device | replacing in a drain | openInSoftware
    draining | lose without a replay | lost | giveUp
    draining | cancel | closed | cancel
    replacing | close | closed | none
    replacing | lose | replacing | open
    replacing | lose the device | replacing | openInSoftware
    replacing | lose without a replay | lost | giveUp
    replacing | cancel | closed | cancel
    replacing | replayed | running | resume(after: 5)
    replacing for the last time | close | closed | none
    replacing for the last time | lose | lost | giveUp
    replacing for the last time | lose the device | replacing | openInSoftware
    replacing for the last time | lose without a replay | lost | giveUp
    replacing for the last time | cancel | closed | cancel
    replacing for the last time | replayed | running | resume(after: 5)
    salvaging | close | closed | none
    salvaging | lose | lost | giveUp
    salvaging | lose the device | salvaging | openInSoftware
    salvaging | lose without a replay | lost | giveUp
    salvaging | cancel | closed | cancel
    salvaging | replayed | lost | drainSalvaged
    replacing in a drain | close | closed | none
    replacing in a drain | lose | replacing in a drain | open
    replacing in a drain | lose the device | replacing in a drain | openInSoftware
    replacing in a drain | lose without a replay | lost | giveUp
    replacing in a drain | cancel | closed | cancel
    replacing in a drain | replayed | draining again | drainAgain(upTo: 5)
    draining again | drained | running | none
    draining again | close | closed | none
    draining again | lose | replacing in a drain | open
    draining again | lose the device | replacing in a drain | openInSoftware
    draining again | lose without a replay | lost | giveUp
    draining again | cancel | closed | cancel
    lost | drained | running | none
    lost | close | closed | none
    lost | restart | replacing | open
    lost | restart without attempts | lost | giveUp
    """

  private static func name(_ state: CodecState) -> String {
    switch state {
    case .closed: "closed"
    case .running: "running"
    case .draining(_, let replacement): replacement == nil ? "draining" : "draining again"
    case .replacing(let replacement):
      switch replacement.replay {
      case .first: "opening"
      case .salvaging: "salvaging"
      case .continuing, .cautious: replacement.isDraining ? "replacing in a drain" : "replacing"
      }
    case .lost: "lost"
    }
  }

  @Test func everyEventHasItsTransitionInEveryState() {
    var rows: [String: String] = [:]
    for line in Self.transitions.split(separator: "\n") {
      let row = line.split(separator: " | ").map(String.init)
      rows[row[0] + " | " + row[1]] = row[2] + " | " + row[3]
    }
    var count = 0
    for (stateName, state) in Self.states {
      for (eventName, happens) in Self.events {
        var next = state
        let action = happens(&next)
        let key = "\(stateName) | \(eventName)"
        if let row = rows[key] {
          count += 1
          #expect("\(Self.name(next)) | \(action)" == row, "\(key)")
        } else {
          #expect(next == state && action == "none", "\(key)")
        }
      }
    }
    #expect(count == rows.count, "a row has a state or an event that does not exist")
  }

  // MARK: Attempts

  /// The errors of a session's first codec: whether another is opened, on a device and in software.
  @Test(
    arguments: [
      (.external, .openInSoftware, .open), (.invalidData, .openInSoftware, .giveUp),
      (.hardwareUnavailable, .openInSoftware, .open), (.cancelled, .giveUp, .giveUp),
    ] as [(AVError, CodecState.LossAction, CodecState.LossAction)])
  func opensTheFirstCodecAgainIfThatMayHelp(
    _ error: AVError, _ onDevice: CodecState.LossAction, _ inSoftware: CodecState.LossAction
  ) {
    for (place, action) in [(HardwareUse.Place.device, onDevice), (.software, inSoftware)] {
      var state = CodecState.replacing(CodecReplacement(firstWithAttempts: 1))
      let circumstances = Self.circumstances(place, canReplay: false)
      #expect(state.lose(error, at: 0, attempts: 1, circumstances) == action, "\(place)")
      // Software has its attempts still.
      guard action == .openInSoftware else { continue }
      let last = [AVError.external, .external].map {
        state.lose($0, at: 0, attempts: 1, Self.circumstances(canReplay: false))
      }
      #expect(last == [.open, .giveUp])
    }
  }

  @Test(arguments: 0..<4) func makesAsManyAttemptsAsThereAre(_ attempts: Int) {
    var state = CodecState.running
    for _ in 0..<attempts {
      #expect(state.lose(.external, at: 5, attempts: attempts, Self.circumstances()) == .open)
    }
    #expect(state.lose(.external, at: 5, attempts: attempts, Self.circumstances()) == .giveUp)
  }

  /// However often its replacement outputs a part.
  @Test func aDrainGetsItsAttemptsOnce() {
    var state = CodecState.draining(upTo: 5, nil)
    for _ in 0..<2 {
      #expect(state.lose(.external, at: 5, attempts: 2, Self.circumstances()) == .open)
      #expect(state.replayed() == .drainAgain(upTo: 5))
    }
    #expect(state.lose(.external, at: 5, attempts: 2, Self.circumstances()) == .giveUp)
  }

  @Test func aCodecThatWasReplacedGetsNewAttempts() {
    var state = CodecState.running
    for index in UInt64(5)..<9 {
      #expect(state.lose(.external, at: index, attempts: 1, Self.circumstances()) == .open)
      #expect(state.replayed() == .resume(after: index))
    }
  }

  // MARK: Processes

  /// Processes that end, and what the next one decodes: everything, everything with one thread, or only a part.
  @Test func findsTheAccessUnitThatEndsProcesses() {
    var state = CodecState.running
    let expected: [(UInt64, CodecReplacement.Replay)] = [
      (9, .continuing(isRepeated: true)), (9, .cautious), (7, .cautious), (7, .salvaging(before: 7)),
      (4, .salvaging(before: 4)),
    ]
    for (index, replay) in expected {
      #expect(state.lose(Self.ended, at: index, attempts: 5, Self.circumstances()) == .open)
      #expect(state.replacement?.replay == replay && state.replacement?.isCautious == (replay != expected[0].1))
    }
    #expect(state.replayed() == .drainSalvaged)
    guard case .lost(let loss) = state else {
      Issue.record("not lost")
      return
    }
    #expect(loss.index == 9 && loss.culprit == 4 && loss.failedAt == 4 && loss.cause == Self.ended && !loss.isDraining)
  }

  /// A restart that has no attempts loses no codec.
  @Test func reportsTheLastLoss() {
    func failure(_ state: CodecState) -> DecodeError? { if case .lost(let loss) = state { loss.failure } else { nil } }
    let last = DecodeError(.allocationFailed)
    var state = CodecState.running
    _ = state.lose(.external, DecodeError(.malfunction), at: 9, attempts: 1, Self.circumstances())
    _ = state.lose(.outOfMemory, last, at: 9, attempts: 1, Self.circumstances())
    #expect(failure(state) == last)
    #expect(state.restart(attempts: 0, Self.circumstances()) == .giveUp)
    #expect(Self.name(state) == "lost" && failure(state) == nil)
  }

  /// An access unit that a process got past did not end the last one.
  @Test(
    arguments: [(nil, .salvaging(before: 9)), (8, .salvaging(before: 9)), (9, .cautious)]
      as [(UInt64?, CodecReplacement.Replay)])
  func clearsAnAccessUnitThatWasDecoded(_ youngestDecoded: UInt64?, _ replay: CodecReplacement.Replay) {
    var state = CodecState.running
    for _ in 0..<3 {
      _ = state.lose(Self.ended, at: 9, attempts: 5, Self.circumstances(youngestDecoded: youngestDecoded))
    }
    #expect(state.replacement?.replay == replay)
  }

  /// The restart is not the first attempt if a process has ended.
  @Test(arguments: [AVError.external, ended]) func aRestartContinuesAfterItsCause(_ cause: AVError) {
    var state = CodecState.running
    for _ in 0..<2 { _ = state.lose(cause, at: 9, attempts: 1, Self.circumstances()) }
    _ = state.replayed()
    #expect(state.restart(attempts: 2, Self.circumstances()) == .open)
    #expect(state.replacement?.replay == .continuing(isRepeated: cause == Self.ended))
    #expect(state.lose(Self.ended, at: 12, attempts: 2, Self.circumstances()) == .open)
    #expect(state.replacement?.isCautious == (cause == Self.ended))
  }

  /// The codec outputs the pictures of the access units in which codecs failed only in part.
  @Test func distrustsPicturesThatCodecsFailedIn() {
    var state = CodecState.running
    _ = state.lose(.external, at: 9, attempts: 1, Self.circumstances())
    #expect(!state.hasFailed(in: 9))
    _ = state.lose(.external, at: 6, attempts: 1, Self.circumstances())
    #expect((4..<11).filter { state.hasFailed(in: $0) } == [6, 9])
    var draining = CodecState.draining(upTo: 9, nil)
    _ = draining.lose(.external, at: 9, attempts: 0, Self.circumstances())
    #expect(!draining.hasFailed(in: 9))
  }

  // MARK: Devices

  /// Errors with which a device that decodes is lost: how many codecs are opened on it, and the action after them.
  @Test(
    arguments: [
      (.external, 2, .openInSoftware, .giveUp), (ended, 2, .openInSoftware, .giveUp),
      (.hardwareFailed, 0, .openInSoftware, .open), (.timedOut, 0, .openInSoftware, .giveUp),
      (.hardwareRefused, 0, .openInSoftware, .giveUp), (.serviceUnavailable, 0, .openInSoftware, .giveUp),
    ] as [(AVError, Int, CodecState.LossAction, CodecState.LossAction)])
  func triesADeviceAgainIfThatMayHelp(
    _ error: AVError, _ attempts: Int, _ action: CodecState.LossAction, _ required: CodecState.LossAction
  ) {
    for (place, last) in [(HardwareUse.Place.device, action), (.requiredDevice, required)] {
      var state = CodecState.running
      for _ in 0..<attempts {
        #expect(state.lose(error, at: 5, attempts: 2, Self.circumstances(place)) == .open, "\(place)")
      }
      #expect(state.lose(error, at: 5, attempts: 2, Self.circumstances(place)) == last, "\(place)")
    }
  }

  @Test func softwareGetsItsOwnAttempts() {
    var state = CodecState.running
    let actions = [HardwareUse.Place.device, .device, .device, .software, .software, .software].map {
      state.lose(.external, at: 5, attempts: 2, Self.circumstances($0))
    }
    #expect(actions == [.open, .open, .openInSoftware, .open, .open, .giveUp])
  }

  /// A device that nothing may replace decodes behind the access unit that it does not get past.
  @Test func aRequiredDeviceIsTriedAgainBehindALoss() {
    var state = CodecState.running
    #expect(state.lose(.hardwareRefused, at: 5, attempts: 2, Self.circumstances(.requiredDevice)) == .giveUp)
    #expect(state.restart(attempts: 2, Self.circumstances(.requiredDevice)) == .open)
  }
}
