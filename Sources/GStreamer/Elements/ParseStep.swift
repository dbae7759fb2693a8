// SPDX-License-Identifier: MPL-2.0

/// The finding of `BaseParse.handleFrame` in the data.
public enum ParseStep: Sendable {
  /// A frame of this many bytes: push it.
  case frame(size: Int)
  /// This many bytes belong to no frame: skip them.
  case skip(Int)
  /// The frame is not complete: call again with more data.
  case needsMoreData

  /// The bytes consumed.
  public var size: Int {
    switch self {
    case .frame(let size), .skip(let size): size
    case .needsMoreData: 0
    }
  }
}
