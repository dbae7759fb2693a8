// SPDX-License-Identifier: MPL-2.0
import GStreamer

extension H264Parse {
  /// Keeps a request for a key frame that came along with the data until the key frame comes.
  func takeDownstreamKeyUnit(_ request: ForceKeyUnit, sequenceNumber: UInt32) {
    let isNew = pendingKeyUnit.withLock { pending in
      guard pending == nil else { return false }
      pending = PendingKeyUnit(request: request, sequenceNumber: sequenceNumber)
      return true
    }
    Self.log(.info, self, isNew ? "key unit requested" : "ignored a key unit request: another one waits")
  }

  /// Sends the request on in front of the key frame that answers it, with that key frame's times, and has parameter
  /// sets go with it.
  func answerKeyUnitRequest(pts: ClockTime?, isDelta: Bool) {
    guard !isDelta, let pending = pendingKeyUnit.snapshot else { return }
    let running = segment.runningTime(of: pts)
    if let wanted = pending.request.runningTime {
      guard let running, running >= wanted else { return }
    }
    pendingKeyUnit.withLock { $0 = nil }
    var answer = pending.request
    answer.timestamp = pts
    answer.streamTime = segment.streamTime(of: pts)
    answer.runningTime = running
    var event = answer.downstreamEvent()
    event.sequenceNumber = pending.sequenceNumber
    Self.log(.info, self, "key unit request answered")
    sourcePad.push(event)
    insertion.isForced = true
  }
}
