// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
import Glibc
import Synchronization

/// Devices that could not be opened, and the reasons. Sessions do not look for them each time. They may appear later,
/// so each is looked for again after a pause.
///
/// Code that opens devices consults it first, and records the result. Sessions that have fallen back on software
/// consult it before they return to the device.
final class MissingDevices: Sendable {
  /// The record of devices that codecs in this process open.
  static let shared = MissingDevices()

  private struct Record: Sendable {
    var reason: String
    var pause = RetryBackOff()
  }
  private let records = Mutex<[DeviceRequest: Record]>([:])

  /// The reason not to look for a device now; nil if it may be looked for.
  func reason(for request: DeviceRequest, now: Duration = RetryBackOff.now) -> String? {
    records.withLock { $0[request].flatMap { now < $0.pause.end ? $0.reason : nil } }
  }

  /// A device could not be opened.
  func insert(_ request: DeviceRequest, _ reason: String, now: Duration = RetryBackOff.now) {
    records.withLock { records in
      var record = records[request] ?? Record(reason: reason)
      record.reason = reason
      // If several sessions have looked at the same time, only the first failure counts.
      if now >= record.pause.end { record.pause.extend(now: now) }
      records[request] = record
    }
  }

  /// A device was opened.
  func remove(_ request: DeviceRequest) { records.withLock { $0[request] = nil } }

  /// Whether an attempt to open a device may succeed now. None is opened to find out.
  func mayBeThere(at place: String?) -> Bool {
    reason(for: DeviceRequest(place: place)) == nil && HardwareRequest(place: place).hasCandidates
  }
}

/// The pause before the next attempt. Each failure in a row doubles it, from ten seconds to ten minutes.
struct RetryBackOff: Hashable, Sendable {
  private var failureCount = 0
  /// When it may be tried again.
  private(set) var end = Duration.zero

  /// The time of the monotonic clock; not `ContinuousClock`, which would bring the runtime for concurrency into the
  /// plugin.
  static var now: Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// It has failed.
  ///
  /// - Parameter isFirstFree: the first failure costs no pause.
  mutating func extend(isFirstFree: Bool = false, now: Duration) {
    failureCount += 1
    let doublings = isFirstFree ? failureCount - 1 : failureCount
    end = now + (doublings > 0 ? .seconds(min(5 << min(doublings, 10), 600)) : .zero)
  }

  /// The failures so far are in no row with the next one.
  mutating func forgetFailures() { failureCount = 0 }
}
