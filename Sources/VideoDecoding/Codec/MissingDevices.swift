// SPDX-License-Identifier: MPL-2.0

/// Devices that could not be opened, and the reasons. Sessions do not look for them each time. They may appear later,
/// so each is looked for again after a pause.
struct MissingDevices<Request: Hashable & Sendable, Reason: Sendable>: Sendable {
  private struct Verdict: Sendable {
    var reason: Reason
    var pause = RetryBackOff()
  }
  private var verdicts: [Request: Verdict] = [:]

  /// The reason not to look for a device now; nil if it may be looked for.
  func reason(for request: Request, now: Duration = RetryBackOff.now) -> Reason? {
    verdicts[request].flatMap { now < $0.pause.end ? $0.reason : nil }
  }

  /// A device could not be opened.
  mutating func insert(_ request: Request, _ reason: Reason, now: Duration = RetryBackOff.now) {
    var verdict = verdicts[request] ?? Verdict(reason: reason)
    verdict.reason = reason
    // If several sessions have looked at the same time, only the first failure counts.
    if now >= verdict.pause.end { verdict.pause.extend(now: now) }
    verdicts[request] = verdict
  }

  /// A device was opened.
  mutating func remove(_ request: Request) { verdicts[request] = nil }
}
