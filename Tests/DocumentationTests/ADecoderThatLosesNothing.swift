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
