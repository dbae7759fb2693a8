// SPDX-License-Identifier: MPL-2.0
import H26x

extension RepackParameterSets {
  /// Decides the placement of an access unit's parameter sets, and marks them as delivered.
  ///
  /// - Parameters:
  ///   - content: of the access unit.
  ///   - insertion: when parameter sets are inserted.
  ///   - dropsInBand: whether those in the stream are removed.
  ///   - output: the output's stream format.
  mutating func place(
    _ content: RepackedAccessUnit<Codec>, insertion: RepackSettings.ParameterSetInsertion, dropsInBand: Bool,
    in output: StreamFormat<Codec>
  ) -> ParameterSetPlacement {
    if output == .outOfBand { return placeOutOfBand(content) }
    guard content.hasPicture else {
      if content.isParameterSetsOnly, !dropsInBand { addPending(content.parameterSets) }
      return ParameterSetPlacement()
    }
    return placeInBand(content, insertion: insertion, present: dropsInBand ? [] : content.parameterSets)
  }

  /// They go into `codec_data` at the next random access point. Decoders may restart on new `codec_data`, so a change
  /// in mid-sequence stays in-band.
  private mutating func placeOutOfBand(_ content: RepackedAccessUnit<Codec>) -> ParameterSetPlacement {
    var placement = ParameterSetPlacement()
    placement.removesOwn = content.hasParameterSets && content.unreadableParameterSets == 0
    addPending(content.changedParameterSets)
    guard content.hasPicture, hasPending || isDescriptionStale else { return placement }
    if content.isRandomAccessPoint {
      markDelivered(leavesDescriptionStale: false)
      placement.changesCodecData = true
    } else {
      placement.insertions = pendingNALUnits(includingOutOfBand: true)
      if !placement.insertions.isEmpty { markDelivered(leavesDescriptionStale: true) }
    }
    return placement
  }

  /// They go in front of the access unit.
  ///
  /// - Parameter present: those that it has, and that are not dropped.
  private mutating func placeInBand(
    _ content: RepackedAccessUnit<Codec>, insertion: RepackSettings.ParameterSetInsertion, present: [[UInt8]]
  ) -> ParameterSetPlacement {
    var placement = ParameterSetPlacement()
    placement.changesCodecData = !content.changedParameterSets.isEmpty || isDescriptionStale
    placement.insertions = pendingNALUnits(includingOutOfBand: insertion != .never)
    markDelivered(leavesDescriptionStale: false)
    if insertion == .keyframes, content.isRandomAccessPoint { placement.insertions = nalUnits }
    // All or none: a parameter set depends on those before it.
    if placement.insertions.allSatisfy(present.contains) { placement.insertions = [] }
    if content.hasMisplacedSets, !present.isEmpty, content.unreadableParameterSets == 0 {
      let insertions = placement.insertions
      placement.insertions = nalUnits.filter { present.contains($0) || insertions.contains($0) }
      placement.removesOwn = true
    }
    return placement
  }
}

/// The destination of an access unit's parameter sets.
struct ParameterSetPlacement {
  /// Those to insert in front of it.
  var insertions: [[UInt8]] = []
  /// Its own are removed.
  var removesOwn = false
  /// `codec_data` may have to change before it.
  var changesCodecData = false
}
