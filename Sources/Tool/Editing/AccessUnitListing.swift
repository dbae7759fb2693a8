// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x

/// Takes the access units of a stream in decoding order, as they are before the edits.
protocol AccessUnitListing: Sendable {
  /// Whether samples of MP4 that its edit list hides are listed, even those that a copy leaves out.
  var includesHidden: Bool { get }
  /// Takes the NAL units of a configuration record.
  mutating func add<Codec: StreamEditing>(_ nalUnits: [[UInt8]], _ codec: Codec.Type)
  /// Takes the next access unit.
  mutating func add<Codec: StreamEditing>(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, _ place: AccessUnitPlace, _ codec: Codec.Type
  ) throws(Failure)
  /// Ends the stream.
  mutating func finish() throws(Failure)
}

extension AccessUnitListing {
  var includesHidden: Bool { false }
}

/// The place of an access unit in a file.
struct AccessUnitPlace: Sendable {
  /// Its number in decoding order, from 0.
  let number: Int
  /// The offset of its first byte: in a byte stream, or in the bytes that a container has of it.
  let offset: UInt64
  /// When its picture is shown, in nanoseconds since the beginning of the presentation; `nil` if the file has no time
  /// for it.
  let time: Int64?
}
