// SPDX-License-Identifier: MPL-2.0

/// Why pictures of a range cannot be encoded, so that the range cannot be cut exactly.
package enum SeamObstacle: Error, Sendable, Hashable {
  /// There is no encoder for the codec, or none for the sample format.
  case noEncoder
  /// Encoded pictures cannot stand in the stream. The reason is a clause.
  case unsupported(String)
  /// Copying would continue with a recovery point, up to which encoded pictures cannot be numbered, and which cannot
  /// become an IDR picture.
  case recoveryPoint
  /// No picture in front of such a recovery point can begin the range.
  case noEntry
  /// The picture that can is so far in front of the range that memory cannot hold all between them.
  case distantEntry
  /// Copying would continue with a recovery point, and the SPS does not allow gaps in `frame_num`. ``CopyPlan`` changes
  /// it, if it can.
  case frameNumberGaps
  /// The range has gradual refreshes only, so that all of it would be encoded.
  case gradualRefresh
  /// The SPS changes among the encoded pictures.
  case formatChange
  /// A picture cannot be decoded without errors.
  case damage
  /// The order of presentation times is not that in which the stream shows its pictures, or two times are equal.
  case pictureOrder
  /// The encoder failed.
  case encoder
  /// The seam does not show the pictures of the source.
  case verification

  /// Whether it applies to all ranges of a stream.
  var isOfStream: Bool { self == .noEncoder }

  /// Why a range does not begin with a recovery point that is copied, as a clause for the user.
  var beginningText: String {
    switch self {
    case .recoveryPoint: "the recovery point in front of the range cannot become an IDR picture"
    case .damage: "pictures behind the recovery point in front of the range cannot be decoded without errors"
    case .verification:
      "pictures behind the recovery point in front of the range would not be decoded as in the source"
    default: text
    }
  }

  /// The reason for the user, as a clause.
  package var text: String {
    switch self {
    case .noEncoder: "there is no encoder for the codec"
    case .unsupported(let reason): reason
    case .recoveryPoint: "a recovery point follows the seam"
    case .noEntry: "no picture in front of it can begin a range"
    case .distantEntry: "the picture in front of it that can begin a range is more than 256 MiB away"
    case .frameNumberGaps: "its SPS does not allow gaps in frame numbers in front of a recovery point"
    case .gradualRefresh: "it has gradual refresh only, so all of it would be encoded"
    case .formatChange: "the format changes at the seam"
    case .damage: "pictures at the seam cannot be decoded without errors"
    case .pictureOrder: "the times of pictures contradict their order in the stream"
    case .encoder: "the encoder failed"
    case .verification: "pictures at the seam would not be decoded as in the source"
    }
  }
}
