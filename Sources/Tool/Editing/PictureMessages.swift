// SPDX-License-Identifier: MPL-2.0
import Containers

/// A message for each picture of a stream, in the order of presentation.
protocol PictureMessages: Sendable {
  /// The payload of an SEI message, or a NAL unit; `nil` for a picture that gets none.
  ///
  /// - Parameter rank: the number of the picture in the order of presentation, from 0.
  func message(at rank: Int) throws(Failure) -> [UInt8]?
}
