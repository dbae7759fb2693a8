// SPDX-License-Identifier: MPL-2.0
import Glibc

/// Stage: whether a device decodes, and when it is tried again after it did not.
struct HardwareUse {
  private let wanted: SessionConfiguration.Hardware
  /// Why software decodes; nil where the device does.
  private var obstacle: Obstacle?
  /// When the device was tried again, the last times.
  private var tries: [Duration] = []

  /// Why a device does not decode.
  enum Obstacle: Equatable {
    /// None can be opened.
    case unavailable
    /// It does not decode the format that these parameter sets describe.
    case refused(parameterSets: [UInt8])
    /// It has failed.
    case failed
    /// The stream is damaged, and a device neither reports nor conceals that.
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
  /// Software may take its place.
  var mayFallBack: Bool { wanted == .preferred }

  /// Software decodes from here on.
  mutating func fallBack(_ obstacle: Obstacle) { if mayFallBack { self.obstacle = obstacle } }

  /// Whether the device is to decode again from an access unit on, to which nothing before it matters.
  ///
  /// - Parameter parameterSets: those in force.
  mutating func mayReturn(parameterSets: [UInt8], now: Duration = Self.now) -> Bool {
    switch obstacle {
    case .none, .unavailable: return false
    case .refused(parameterSets): return false
    case .refused, .failed, .damage: break
    }
    tries.removeAll { now - $0 > .seconds(60) }
    return tries.count < Self.mostTriesAMinute
  }

  /// The device is tried again.
  mutating func `return`(now: Duration = Self.now) {
    tries.append(now)
    obstacle = nil
  }
}
