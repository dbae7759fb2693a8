// SPDX-License-Identifier: MPL-2.0

/// New ids for the parameter sets of a stream, by their ids in it.
///
/// Streams that are joined use it so that their parameter sets do not replace one another.
package struct ParameterSetIdentifiers: Sendable, Hashable {
  private var videos = Array(UInt8.min...UInt8.max)
  private var sequences = Array(UInt8.min...UInt8.max)
  private var pictures = Array(UInt8.min...UInt8.max)

  /// Creates identifiers with which every set keeps its id.
  package init() {}

  /// The new id of a VPS.
  package subscript(id: VideoParameterSetID) -> VideoParameterSetID {
    get { .init(videos[Int(id.rawValue)]) }
    set { videos[Int(id.rawValue)] = newValue.rawValue }
  }

  /// The new id of an SPS, and of its subset SPS and SPS extension.
  package subscript(id: SequenceParameterSetID) -> SequenceParameterSetID {
    get { .init(sequences[Int(id.rawValue)]) }
    set { sequences[Int(id.rawValue)] = newValue.rawValue }
  }

  /// The new id of a PPS.
  package subscript(id: PictureParameterSetID) -> PictureParameterSetID {
    get { .init(pictures[Int(id.rawValue)]) }
    set { pictures[Int(id.rawValue)] = newValue.rawValue }
  }
}
