// SPDX-License-Identifier: MPL-2.0
import H26x

extension RepackParameterSets {
  /// Decides the placement of an access unit's parameter sets, and marks them as delivered.
  ///
  /// - Parameters:
  ///   - content: of the access unit, which gets the insertions.
  ///   - insertion: when parameter sets are inserted.
  ///   - dropsInBand: whether those in the stream are removed.
  ///   - output: the output's stream format.
  mutating func place(
    _ content: inout RepackedAccessUnit<Codec>, insertion: RepackSettings.ParameterSetInsertion, dropsInBand: Bool,
    in output: StreamFormat<Codec>
  ) {
    if output == .outOfBand { return placeOutOfBand(&content) }
    guard content.hasPicture else {
      if content.isParameterSetsOnly, !dropsInBand { addPending(content.parameterSets) }
      return
    }
    placeInBand(&content, insertion: insertion, present: dropsInBand ? [] : content.parameterSets)
  }

  /// They go into `codec_data` at the next random access point. Decoders may restart on new `codec_data`, so a change
  /// in mid-sequence stays in-band.
  private mutating func placeOutOfBand(_ content: inout RepackedAccessUnit<Codec>) {
    content.losesParameterSets = content.hasParameterSets && content.unreadableParameterSets == 0
    addPending(content.changedParameterSets)
    guard content.hasPicture, hasPending || isDescriptionStale else { return }
    if content.isRandomAccessPoint {
      markDelivered(leavesDescriptionStale: false)
      content.changesCodecData = true
    } else {
      content.insertions = pendingNALUnits(includingOutOfBand: true)
      if !content.insertions.isEmpty { markDelivered(leavesDescriptionStale: true) }
    }
  }

  /// They go in front of the access unit.
  ///
  /// - Parameter present: those that it has, and that are not dropped.
  private mutating func placeInBand(
    _ content: inout RepackedAccessUnit<Codec>, insertion: RepackSettings.ParameterSetInsertion, present: [[UInt8]]
  ) {
    content.changesCodecData = !content.changedParameterSets.isEmpty || isDescriptionStale
    var insertions = pendingNALUnits(includingOutOfBand: insertion != .never)
    markDelivered(leavesDescriptionStale: false)
    if insertion == .keyframes, content.isRandomAccessPoint { insertions = nalUnits }
    // All or none: a parameter set depends on those before it.
    if insertions.allSatisfy(present.contains) { insertions = [] }
    if content.hasMisplacedSets, !present.isEmpty, content.unreadableParameterSets == 0 {
      insertions = nalUnits.filter { present.contains($0) || insertions.contains($0) }
      content.losesParameterSets = true
    }
    content.insertions = insertions
  }
}
