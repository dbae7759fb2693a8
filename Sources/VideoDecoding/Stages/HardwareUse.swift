// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// Stage: whether a device decodes, why it does not, and when it is tried again.
struct HardwareUse {
  private let wanted: SessionConfiguration.Hardware
  /// The reason that software decodes in the device's place; nil if it does not.
  private var obstacle: Obstacle?
  /// The first access unit that software decodes.
  private var leftAt: UInt64 = 0
  /// The reason that software has taken the device's place, until it is reported.
  private var unreported: Reason?
  /// The device has output a wrong picture: its other pictures are not trusted.
  private(set) var isDistrusted = false
  /// Times of the last attempts to return to the device.
  private var tries: [Duration] = []
  /// Since the device last decoded for a minute.
  private var pause = RetryBackOff()

  /// The reason that a device does not decode.
  private enum Obstacle: Equatable {
    /// None can be opened: see ``MissingDevices``.
    case unavailable
    /// It does not decode the format that these parameter sets describe.
    case refused([UInt8])
    /// It has failed.
    case failed
    /// The stream is damaged, and a device neither reports nor conceals that.
    case damage
  }

  /// The reason that software takes a device's place.
  enum Reason {
    case failure(AVError)
    /// The stream is damaged.
    case damage
  }

  /// To open a device takes long enough for a viewer to notice.
  private static let mostTriesAMinute = 6

  init(_ wanted: SessionConfiguration.Hardware) { self.wanted = wanted }

  /// A codec that is opened now decodes on the device.
  var isOnDevice: Bool { wanted != .off && obstacle == nil }
  /// Software may take over from the device that decodes.
  var mayFallBack: Bool { wanted == .preferred && obstacle == nil }

  // MARK: Away from the device

  /// The device cannot continue: software decodes access unit `index`, at which these parameter sets are in force.
  mutating func fallBack(
    for error: AVError, at index: UInt64, format parameterSets: [UInt8],
    now: @autoclosure () -> Duration = RetryBackOff.now
  ) {
    unreported = .failure(error)
    leftAt = index
    obstacle =
      switch error {
      case .hardwareUnavailable: .unavailable
      case .hardwareRefused: .refused(parameterSets)
      default: .failed
      }
    guard obstacle == .failed else { return }
    let now = now()
    if let last = tries.last, now - last > .seconds(60) { pause.forgetFailures() }
    // A process that could not be started will not start a moment later.
    pause.extend(isFirstFree: error != .serviceUnavailable, now: now)
  }

  /// The reason that software has taken the device's place; nil if it has not since the last call.
  mutating func takeReport() -> Reason? { unreported.take() }

  mutating func distrust() { isDistrusted = true }

  /// Whether a wrong picture has come since the last call.
  mutating func takeDistrust() -> Bool {
    defer { isDistrusted = false }
    return isDistrusted
  }

  // MARK: Changing the decoder

  /// Whether another codec, of the device or in software, should decode access unit `index`.
  ///
  /// Software takes over if the stream is damaged. The device returns after a random access point, when the replay no
  /// longer contains the access unit that it failed in. Both wait until a replay gives every picture that is not out.
  ///
  /// - Parameters:
  ///   - oldest: the oldest access unit without a result.
  ///   - replay: the packets that the other codec decodes first.
  ///   - isDamaged: whether a part of the access unit, or of its references, is known to be missing.
  ///   - mayBeThere: whether a device that could not be opened may be there now.
  mutating func changesPlace(
    at index: UInt64, oldest: UInt64, replaying replay: borrowing ReplayBuffer, isDamaged: Bool,
    mayBeThere: @autoclosure () -> Bool = true, now: @autoclosure () -> Duration = RetryBackOff.now
  ) -> Bool {
    guard wanted == .preferred, let start = replay.firstIndex else { return false }
    let losesNothing = replay.isWhole && oldest >= start
    guard let obstacle else {
      guard isDamaged, losesNothing else { return false }
      self.obstacle = .damage
      unreported = .damage
      leftAt = index
      return true
    }
    guard !isDamaged else {
      leftAt = index
      return false
    }
    guard start > leftAt, losesNothing else { return false }
    if case .refused(let format) = obstacle, replay.contains(format: format) { return false }
    let now = now()
    if tries.count > Self.mostTriesAMinute { tries.removeFirst() }
    let recent = tries.count { now - $0 <= .seconds(60) }
    guard now >= pause.end, recent < Self.mostTriesAMinute else { return false }
    if obstacle == .unavailable, !mayBeThere() { return false }
    tries.append(now)
    self.obstacle = nil
    return true
  }
}
