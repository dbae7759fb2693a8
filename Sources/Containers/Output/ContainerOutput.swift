// SPDX-License-Identifier: MPL-2.0
import AVFormat

/// The target of a copy that is not a byte stream: a container in one file, or segments and their playlists.
protocol ContainerOutput: AnyObject {
  /// Whether it can hold a stream, as it is or converted.
  func canHold(_ stream: StreamDescription, of source: InputContext) -> Bool
  /// The name of a source's stream in it, for the user.
  func displayName(of stream: StreamDescription) -> String
  /// Losses in conversion and writing, for the user.
  var losses: [String] { get }

  /// Adds streams and writes headers; see ``MediaOutput/begin(_:_:_:keeping:_:beginsLate:)``.
  func begin(
    _ video: MediaOutput.VideoFormat?, _ timeBase: TimeBase, _ source: OtherStreams?,
    keeping streams: [StreamDescription], _ chapters: [Chapter], beginsLate: Bool
  ) throws(Failure)

  /// Writes an access unit of the video, which has times of the presentation.
  func write(_ accessUnit: MediaOutput.AccessUnit) throws(Failure)

  /// Writes a packet of another stream.
  ///
  /// - Parameter zero: when the presentation begins, in nanoseconds of the source's media.
  func write(_ other: consuming OtherStreams.Packet, zero: Int64) throws(Failure)
}
