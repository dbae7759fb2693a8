// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
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
