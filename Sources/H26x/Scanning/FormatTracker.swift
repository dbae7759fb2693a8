// SPDX-License-Identifier: MPL-2.0

/// Describes a stream by the SPS of each access unit's first slice.
struct FormatTracker<Codec: VideoCodecSyntax>: Sendable {
  /// The format of the last access unit; nil until a slice came with its parameter sets.
  private(set) var format: FormatDescription?
  /// The SPS that the last slice refers to.
  private(set) var activeID: SequenceParameterSetID?
  /// Size of the stream's length prefixes; nil for start codes.
  private let nalLengthSize: NALLengthSize?
  private var isStale = false

  init(nalLengthSize: NALLengthSize?) { self.nalLengthSize = nalLengthSize }

  /// A parameter set is new.
  mutating func parameterSetsChanged() { isStale = true }

  /// Describes the stream by the first SPS, as long as no slice has come.
  mutating func describeFirst(of sets: borrowing Codec.ParameterSets) {
    if activeID == nil { activate(nil, of: sets) }
  }

  /// Takes the first slice of an access unit. Returns whether the format differs from the one before.
  mutating func take(_ slice: Codec.SliceHeader, _ sets: borrowing Codec.ParameterSets) -> Bool {
    guard isStale || slice.sequenceParameterSetID != activeID else { return false }
    return activate(slice.sequenceParameterSetID, of: sets)
  }

  /// Describes the stream by this SPS, or by the first. Returns whether the description has changed.
  @discardableResult
  private mutating func activate(_ id: SequenceParameterSetID?, of sets: borrowing Codec.ParameterSets) -> Bool {
    do throws(BitstreamError) {
      let next = try Codec.formatDescription(sets, sequenceParameterSetID: id, nalLengthSize: nalLengthSize)
      activeID = id
      isStale = false
      let changed = format.map { !$0.describesSameVideo(as: next) } ?? true
      format = next
      return changed
    } catch {
      return false
    }
  }
}
