// SPDX-License-Identifier: MPL-2.0
import H26x

extension RepackCodec {
  /// The level of `level=auto` in an element, where nothing is measured: the lowest that the parameter sets keep. It
  /// is not below the announced level unless they have both frame rate and bit rate, which prove a lower one.
  ///
  /// - Parameters:
  ///   - nalUnits: the parameter sets, before the edits.
  ///   - edits: the other changes.
  ///   - frameRate: the caps' frame rate.
  /// - Returns: nil when there is no SPS, and when the stream keeps no level.
  static func provenLevel(
    of nalUnits: [[UInt8]], after edits: [StreamEdit], sets: ParameterSets, frameRate: Ratio?
  ) -> StreamLevel? {
    let sets = edited(nalUnits, edits, sets)
    var rates: [Ratio] = []
    var leasts: [StreamLevel] = []
    for id in UInt8(0)...31 {
      let id = SequenceParameterSetID(id)
      guard let sps = sets.sequenceParameterSet(id),
        let format = try? formatDescription(sets, sequenceParameterSetID: id, nalLengthSize: nil)
      else { continue }
      if let rate = format.frameRate { rates.append(rate) }
      guard format.frameRate == nil || !hasBitRate(sps), let name = format.levelName else { continue }
      if let level = StreamLevel(name) { leasts.append(level) }
    }
    let demand = LevelDemand(frameRate: rates.first ?? frameRate)
    guard let lowest = lowestLevel(of: nalUnits, after: edits, demand) else { return nil }
    return (leasts + [lowest]).max { $0.rank < $1.rank }
  }

  private static func edited(_ nalUnits: [[UInt8]], _ edits: [StreamEdit], _ sets: ParameterSets) -> ParameterSets {
    var editor = StreamEditor<Self>(edits, sets: sets)
    var edited = ParameterSets()
    // An unreadable NAL unit announces nothing.
    for nalUnit in nalUnits { _ = try? edited.insert(editor.edited(nalUnit).span) }
    return edited
  }
}

extension StreamLevel {
  /// Its place among the levels of a codec: 1b is just below 1.1.
  fileprivate var rank: Int { 2 * Int(tenths) - (is1b ? 1 : 0) }
}
