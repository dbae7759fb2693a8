// SPDX-License-Identifier: MPL-2.0

/// How decoding has been going.
struct StreamHealth {
  /// Pictures put out undamaged.
  var decoded: UInt64 = 0
  /// Access units that no session was there for.
  var undecodable: UInt64 = 0
  /// Access units left out in key-unit trick mode.
  var skipped: UInt64 = 0
  /// Pictures that did not reach downstream, or its conversion, in the memory they were decoded into.
  var copied: UInt64 = 0
  /// Failures since the last good picture.
  var failuresInARow = 0
  /// There were too many: what is left goes out, and then the error.
  var isGivingUp = false
  /// The last failure, in words.
  var lastFault: String?

  /// Access units that went by since a random access point was asked for; `nil` when none is awaited.
  private var awaited: Int?
  /// Ask again after so many pictures that were in need of one: the request may have been lost.
  private static let patience = 30

  mutating func pictureDecoded() {
    decoded += 1
    failuresInARow = 0
    awaited = nil
  }

  mutating func flush() {
    failuresInARow = 0
    awaited = nil
  }

  /// Whether it is time to ask upstream for a random access point.
  mutating func mayRequestSyncPoint() -> Bool {
    guard let waited = awaited, waited < Self.patience else {
      awaited = 0
      return true
    }
    awaited = waited + 1
    return false
  }
}
