// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// Stage: whether a device decodes, why it does not, and when it is tried again.
struct HardwareUse {
  private let wanted: SessionConfiguration.Hardware
  /// Software decodes in the device's place; nil if it does not.
  private var absence: Absence?
  /// The device has output a wrong picture: its other pictures are not trusted.
  private(set) var isDistrusted = false
  /// Times of the last attempts to return to the device.
  private var tries: [Duration] = []
  /// Since the device last decoded for a minute.
  private var pause = RetryBackOff()

  /// The decoder of a codec.
  enum Place {
    case software
    /// A device, in whose place software may continue.
    case device
    /// A device that nothing may replace.
    case requiredDevice
  }

  private struct Absence {
    let obstacle: Obstacle
    /// The first access unit that software decodes; later, the last one that the device must not decode.
    var since: UInt64
    var isReported = false
  }

  /// The reason that software has taken a device's place.
  enum Obstacle {
    /// The stream is damaged, and a device neither reports nor conceals that.
    case damage
    /// The device could not be opened, or failed, or refused the format that these parameter sets describe.
    case failure(CodecFailure, format: [UInt8])
  }

  /// To open a device takes long enough for a viewer to notice.
  private static let mostTriesAMinute = 6

  init(_ wanted: SessionConfiguration.Hardware) { self.wanted = wanted }

  /// The decoder of a codec that is opened now.
  var place: Place {
    switch wanted {
    case .off: .software
    case .preferred: absence == nil ? .device : .software
    case .required: .requiredDevice
    }
  }
  /// A codec that is opened now decodes on a device.
  var isOnDevice: Bool { place != .software }
  /// Software may take a device's place, or has.
  var isOptional: Bool { wanted == .preferred }

  // MARK: Away from the device

  /// The device cannot continue: software decodes access unit `index`, at which these parameter sets are in force.
  mutating func fallBack(
    for failure: CodecFailure, at index: UInt64, format parameterSets: [UInt8],
    now: @autoclosure () -> Duration = RetryBackOff.now
  ) {
    absence = Absence(obstacle: .failure(failure, format: parameterSets), since: index)
    guard failure.code != .hardwareUnavailable, failure.code != .hardwareRefused else { return }
    let now = now()
    if let last = tries.last, now - last > .seconds(60) { pause.forgetFailures() }
    // A process that could not be started will not start a moment later.
    pause.extend(isFirstFree: failure.code != .serviceUnavailable, now: now)
  }

  /// The reason that software has taken the device's place; nil if it has not since the last call.
  mutating func takeReport() -> Obstacle? {
    guard let absence, !absence.isReported else { return nil }
    self.absence?.isReported = true
    return absence.obstacle
  }

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
  ///   - replay: the access units that the other codec decodes first.
  ///   - isDamaged: whether a part of the access unit, or of its references, is known to be missing.
  ///   - mayBeThere: whether a device that could not be opened may be there now.
  mutating func changesPlace(
    at index: UInt64, oldest: UInt64, replaying replay: borrowing ReplayWindow, isDamaged: Bool,
    mayBeThere: @autoclosure () -> Bool = true, now: @autoclosure () -> Duration = RetryBackOff.now
  ) -> Bool {
    guard isOptional, let start = replay.firstIndex else { return false }
    let losesNothing = replay.isWhole && oldest >= start
    guard let absence else {
      guard isDamaged, losesNothing else { return false }
      self.absence = Absence(obstacle: .damage, since: index)
      return true
    }
    guard !isDamaged else {
      self.absence?.since = index
      return false
    }
    guard start > absence.since, losesNothing else { return false }
    if case .failure(let failure, let format) = absence.obstacle, failure.code == .hardwareRefused,
      replay.contains(format: format)
    {
      return false
    }
    let now = now()
    if tries.count > Self.mostTriesAMinute { tries.removeFirst() }
    let recent = tries.count { now - $0 <= .seconds(60) }
    guard now >= pause.end, recent < Self.mostTriesAMinute else { return false }
    if case .failure(let failure, _) = absence.obstacle, failure.code == .hardwareUnavailable, !mayBeThere() {
      return false
    }
    tries.append(now)
    self.absence = nil
    return true
  }
}
