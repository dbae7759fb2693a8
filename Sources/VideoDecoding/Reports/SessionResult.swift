// SPDX-License-Identifier: MPL-2.0

/// The result of an access unit. Every access unit that `decode` takes gets exactly one.
public enum SessionResult: Sendable {
  /// A picture. Frames come in presentation order.
  case frame(DecodedPicture)
  /// No picture, without a failure.
  case dropped(tag: UInt64, reason: DropReason)
  /// It could not be decoded.
  case failed(tag: UInt64, error: DecodeError)

  /// The tag given to `decode` with the access unit.
  public var tag: UInt64 {
    switch self {
    case .frame(let picture): picture.tag
    case .dropped(let tag, _), .failed(let tag, _): tag
    }
  }
}
