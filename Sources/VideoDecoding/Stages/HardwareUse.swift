// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Glibc

/// Stage: whether a device decodes, why it does not, and when it is tried again.
struct HardwareUse {
  private let wanted: SessionConfiguration.Hardware
  /// Why software decodes in the device's place; nil where it does not.
  private var obstacle: Obstacle?
  /// The access unit from which on software decodes.
  private var leftAt: UInt64 = 0
  /// Why software has taken the device's place, until it is reported.
  private var unreported: Reason?
  /// The device has output a wrong picture: what else it outputs is not trusted.
  private(set) var isDistrusted = false
  /// Times of the last attempts to return to the device.
  private var tries: [Duration] = []
  /// Failures since the device last decoded for a minute.
  private var failureCount = 0
  /// When the device may be tried again.
  private var pauseEnd = Duration.zero

  /// Why a device does not decode.
  private enum Obstacle: Equatable {
    /// None can be opened.
    case unavailable
    /// It does not decode the format that these parameter sets describe.
    case refused([UInt8])
    /// It has failed.
    case failed
    /// The stream is damaged, and a device neither reports nor conceals that.
    case damage
  }

  /// Why software takes a device's place.
  enum Reason {
    case failure(AVError)
    /// The stream is damaged.
    case damage
  }

  /// To open a device takes long enough for a viewer to notice.
  private static let mostTriesAMinute = 6

  /// Not `ContinuousClock`, which would bring the runtime for concurrency into the plugin.
  private static var now: Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  init(_ wanted: SessionConfiguration.Hardware) { self.wanted = wanted }

  /// A codec that is opened now decodes on the device.
  var isOnDevice: Bool { wanted != .off && obstacle == nil }
  /// Software may take over from the device that decodes.
  var mayFallBack: Bool { wanted == .preferred && obstacle == nil }

  // MARK: Away from the device

  /// The device cannot go on: software decodes access unit `index`, where these parameter sets are in force.
  mutating func fallBack(
    for error: AVError, at index: UInt64, format parameterSets: [UInt8], now: @autoclosure () -> Duration = Self.now
  ) {
    unreported = .failure(error)
    leftAt = index
    obstacle =
      switch error {
      case .hardwareUnavailable, .serviceUnavailable: .unavailable
      case .hardwareRefused: .refused(parameterSets)
      default: .failed
      }
    if obstacle == .failed { extendPause(now: now()) }
  }

  /// Each failure in a row doubles the pause before the next attempt, up to ten minutes; the first one costs none.
  private mutating func extendPause(now: Duration) {
    if let last = tries.last, now - last > .seconds(60) { failureCount = 0 }
    failureCount += 1
    pauseEnd = now + (failureCount > 1 ? .seconds(min(5 << min(failureCount - 1, 10), 600)) : .zero)
  }

  /// Why software has taken the device's place; nil where it has not since the last call.
  mutating func takeReport() -> Reason? { unreported.take() }

  mutating func distrust() { isDistrusted = true }

  /// Whether a wrong picture has come since the last call.
  mutating func takeDistrust() -> Bool {
    defer { isDistrusted = false }
    return isDistrusted
  }

  // MARK: Changing the decoder

  /// Whether another codec, of the device or in software, is to decode access unit `index`.
  ///
  /// Software takes over where the stream is damaged. The device returns after a random access point, when the replay no
  /// longer contains what it failed in. Both wait until a replay gives every picture that is not out.
  ///
  /// - Parameters:
  ///   - oldest: the oldest access unit without a result.
  ///   - replay: what the other codec decodes first.
  ///   - isDamaged: a part of the access unit, or of what it refers to, is known to be missing.
  mutating func changesPlace(
    at index: UInt64, oldest: UInt64, replaying replay: borrowing ReplayBuffer, isDamaged: Bool,
    now: @autoclosure () -> Duration = Self.now
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
    switch obstacle {
    case .unavailable: return false
    case .refused(let format) where replay.contains(format: format): return false
    case .refused, .failed, .damage: break
    }
    let now = now()
    if tries.count > Self.mostTriesAMinute { tries.removeFirst() }
    let recent = tries.count { now - $0 <= .seconds(60) }
    guard now >= pauseEnd, recent < Self.mostTriesAMinute else { return false }
    tries.append(now)
    self.obstacle = nil
    return true
  }
}
