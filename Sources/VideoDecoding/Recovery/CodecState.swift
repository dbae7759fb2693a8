// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// The state of a session's codec.
///
/// ```
///                         first, closed
///                                 │ open, replace
///                                 ▼
///   running ── replace, lose ─▶ replacing ── nothing left to try ─▶ lost
///    │ ▲ ▲                       │ │ ▲ ▲                            │ │
///    │ │ └─────── replayed ──────┘ │ │ └────────── restart ─────────┘ │
///    │ │                  replayed │ │ lose                           │
///    │ │                           ▼ │                                │
///    │ ├─────── drained ─────── draining                              │
///    │ │                           ▲                                  │
///    └─┼───────── drain ───────────┘                                  │
///      └──────────────────────── drained ─────────────────────────────┘
///
///   any state ── close ─▶ closed
///   running, draining, replacing ── cancel ─▶ closed
/// ```
///
/// A session begins as `replacing`: its first codec takes the place of none, and has nothing to replay.
///
/// `CodecControl` reports each event by the method of its name. The method moves to the next state, and returns the
/// action that this requires. It calls nothing, and gets the facts that it needs as values, so `CodecStateTests` can
/// test each event in each state.
///
/// The machine replaces no codec without end. A replacement has a number of attempts, which another loss does not
/// renew. A restart begins behind the access unit that no codec got past, so it has fewer access units to decode.
///
/// An event may come when it no longer matters. For example, the owner of picture memory may invalidate the session
/// while the codec decodes. The state then stays as it is, and there is no action.
enum CodecState: Equatable {
  /// There is no codec. Another one is opened for the next access unit.
  case closed
  /// A codec decodes.
  case running
  /// The codec outputs everything inside, up to an access unit. If it has replaced one that was lost in the same drain,
  /// the replacement goes on: a drain gets its attempts once.
  case draining(upTo: UInt64, CodecReplacement?)
  /// The codec is lost, or there was none yet. Another is being opened, or decodes the replay.
  case replacing(CodecReplacement)
  /// No codec can continue. The one that got furthest outputs its pictures.
  case lost(Loss)

  /// The result of a replacement that failed.
  struct Loss: Equatable {
    /// The access unit that was sent last when the codec was lost.
    let index: UInt64
    /// The access unit that fails.
    let culprit: UInt64
    /// The access unit that was sent last when the last codec was lost.
    let failedAt: UInt64
    /// The reason that the last codec was lost.
    let cause: AVError
    /// The report of that; nil if nothing has failed, and no codec could be tried.
    let failure: DecodeError?
    /// The codec was lost in a drain: nothing follows that needs its references.
    let isDraining: Bool
  }

  /// The facts that decide how a codec is replaced.
  struct Circumstances {
    /// The decoder of the codec.
    var place: HardwareUse.Place
    /// The replay has a random access point to begin at.
    var canReplay: Bool
    /// The youngest access unit whose decoding has ended in any codec so far.
    var youngestDecoded: UInt64?
  }

  /// The action after a loss.
  enum LossAction {
    case none
    /// Open another codec, and have it decode the replay.
    case open
    /// The same with a codec in software, in place of the device.
    case openInSoftware
    /// Drain the codec that got furthest.
    case giveUp
    /// Discard everything inside, and close the codec.
    case cancel
  }

  /// The action after a replay.
  enum ReplayAction: Equatable {
    case none
    /// Continue behind this access unit.
    case resume(after: UInt64)
    /// Drain the codec in place of the lost one.
    case drainAgain(upTo: UInt64)
    /// Drain the codec, which has decoded everything before the access unit that ends processes.
    case drainSalvaged
  }

  // MARK: Drain, close

  /// Everything up to an access unit should come out. Returns whether the codec has to be drained for that.
  mutating func drain(upTo index: UInt64) -> Bool {
    guard case .running = self else { return false }
    self = .draining(upTo: index, nil)
    return true
  }

  /// The codec has output everything that it could.
  mutating func drained() {
    switch self {
    case .draining, .lost: self = .running
    case .closed, .running, .replacing: break
    }
  }

  /// The codec is closed.
  mutating func close() { self = .closed }

  // MARK: Lose and replace the codec

  /// Another codec should decode from an access unit on: there is none, or it needs other settings.
  mutating func replace(at index: UInt64, attempts: Int, _ circumstances: Circumstances) -> LossAction {
    switch self {
    case .closed, .running:
      return begin(CodecReplacement(at: index, .external, attempts: attempts, isDraining: false), circumstances)
    case .draining, .replacing, .lost: return .none
    }
  }

  /// No codec gets past an access unit: another one begins behind it.
  mutating func restart(attempts: Int, _ circumstances: Circumstances) -> LossAction {
    guard case .lost(let loss) = self else { return .none }
    return begin(
      CodecReplacement(at: loss.index, loss.cause, attempts: attempts, isDraining: loss.isDraining), circumstances)
  }

  /// The codec is lost, or could not be opened in place of a lost one.
  ///
  /// - Parameters:
  ///   - failure: the report of the error, if nothing takes the codec's place.
  ///   - index: the access unit that it got last.
  ///   - attempts: the attempts to replace it, unless it is a replacement itself.
  mutating func lose(
    _ error: AVError, _ failure: DecodeError? = nil, at index: UInt64, attempts: Int, _ circumstances: Circumstances
  ) -> LossAction {
    var replacement: CodecReplacement
    switch self {
    case .running: replacement = CodecReplacement(at: index, error, attempts: attempts, isDraining: false)
    case .draining(_, nil): replacement = CodecReplacement(at: index, error, attempts: attempts, isDraining: true)
    case .draining(_, let current?), .replacing(let current): replacement = current
    case .closed, .lost: return .none
    }
    let isFirst = replacement.replay == .first
    if error == .cancelled && !isFirst {
      self = .closed
      return .cancel
    }
    replacement.fail(error, failure, at: index)
    let action = circumstances.canReplay || isFirst ? replacement.chooseAction(circumstances) : .giveUp
    return enter(replacement, action)
  }

  private mutating func begin(_ replacement: CodecReplacement, _ circumstances: Circumstances) -> LossAction {
    var replacement = replacement
    let isPossible = circumstances.canReplay && replacement.begin()
    return enter(replacement, isPossible ? .open : .giveUp)
  }

  private mutating func enter(_ replacement: CodecReplacement, _ action: LossAction) -> LossAction {
    self = action == .giveUp ? .lost(replacement.loss) : .replacing(replacement)
    return action
  }

  /// The new codec has decoded the replay, or the part of it that it should.
  mutating func replayed() -> ReplayAction {
    guard case .replacing(let replacement) = self else { return .none }
    switch replacement.replay {
    case .first:
      self = .running
      return .none
    case .salvaging:
      self = .lost(replacement.loss)
      return .drainSalvaged
    case .continuing, .cautious: break
    }
    if replacement.isDraining {
      self = .draining(upTo: replacement.index, replacement)
      return .drainAgain(upTo: replacement.index)
    }
    self = .running
    return .resume(after: replacement.index)
  }
}

extension CodecState {
  /// There is a codec, or there will be one.
  var isOpen: Bool { if case .closed = self { false } else { true } }
  /// The replacement of a lost codec, until the new one has decoded the replay.
  var replacement: CodecReplacement? { if case .replacing(let replacement) = self { replacement } else { nil } }
  /// The access unit that was sent last when the codec was lost.
  var lostAt: UInt64? {
    switch self {
    case .lost(let loss): loss.index
    case .replacing(let replacement), .draining(_, let replacement?): replacement.index
    case .closed, .running, .draining(_, nil): nil
    }
  }

  /// Whether a codec failed in decoding this access unit. If that codec outputs its picture anyway, the picture is
  /// incomplete.
  func hasFailed(in accessUnit: UInt64) -> Bool {
    guard case .lost(let loss) = self, !loss.isDraining else { return false }
    return accessUnit == loss.index || accessUnit == loss.failedAt
  }
}
