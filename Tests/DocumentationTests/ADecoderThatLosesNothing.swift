// SPDX-License-Identifier: MPL-2.0
import VideoDecoding

// The code of the article, checked by ArticleTests.

/// What became of the access units of a stream.
struct Account {
  var shown = 0
  var damaged = 0
  var dropped: [DropReason: Int] = [:]
  var failed: [DecodeError] = []
}

/// Decodes a stream and accounts for every access unit.
func account(for accessUnits: AccessUnits<WholeStream>) async throws -> Account {
  var account = Account()
  var results = DecodedPictures(of: accessUnits).makeAsyncIterator()
  while let result = try await results.nextResult() {
    switch result {
    case .frame(let picture):
      account.shown += 1
      account.damaged += picture.isCorrupt ? 1 : 0
    case .dropped(_, let reason):
      account.dropped[reason, default: 0] += 1
    case .failed(_, let error):
      account.failed.append(error)
    }
  }
  return account
}

/// What became of a stream whose codec was lost.
struct LossReport {
  var shown = 0
  var missing = 0
  var codecWasLost = false
}

/// Decodes a stream and loses the codec at one of its access units, to test what becomes of that.
func decode(
  _ accessUnits: AccessUnits<WholeStream>, losingCodecAt number: UInt64, _ loss: SimulatedLoss
) async throws -> LossReport {
  var report = LossReport()
  var session: DecompressionSession?
  for await accessUnit in accessUnits {
    // The first access unit has the format. Later access units have a format only if it changes, which `decode`
    // handles.
    if session == nil, let format = accessUnit.format { session = try DecompressionSession(format: format) }
    guard let session else { continue }
    if accessUnit.tag == number { session.simulateLoss(loss) }
    try session.decode(accessUnit)
    fetch(from: session, into: &report)
    // Here a live application asks its sender for a keyframe: nothing comes before the next one.
    if session.isLost { report.codecWasLost = true }
  }
  if let session {
    session.drain()
    fetch(from: session, into: &report)
  }
  return report
}

private func fetch(from session: DecompressionSession, into report: inout LossReport) {
  while let result = session.nextResult() {
    switch result {
    case .frame: report.shown += 1
    case .dropped(_, let reason): report.missing += reason.isLoss ? 1 : 0
    case .failed: report.missing += 1
    }
  }
  while let notice = session.nextNotice() { print(notice) }
}
