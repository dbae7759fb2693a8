// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

extension RecordFile {
  /// What sessions read and conclude of access units before decoding.
  static let inspections = RecordFile("inspections.tsv")
}

/// The summary of each access unit, whether decoding may begin with it, and whether it is damaged, are as recorded.
/// Damaged streams have records too, because none of it depends on libavcodec.
@Suite struct InspectionRecordTests {
  private static let clips = [
    "clip.h264", "interlaced.h264", "intra-refresh.h264", "open-gop.h264", "small-slices.h264", "clip.h265",
    "interlaced.h265", "open-gop.h265", "ten-bit.h265",
  ]
  private static let vectors = Vector.undamaged.filter { $0.samples <= 320 * 240 * 120 }.prefix(16).map { vector in
    String(vector.file.split(separator: "/").last ?? "")
  }

  @Test(arguments: clips + vectors) func inspectionsMatchTheRecord(_ name: String) throws {
    let stream = try CodedStream(name)
    let units = Array(stream.units.prefix(40))
    var columns = [read(units, stream)]
    for kind in Damage.allCases { columns.append(read(kind.apply(to: units, rate: 0.2, seed: 11), stream)) }
    // Begun in the middle, after the parameter sets.
    let sets = (stream.format.parameterSets.sequence + stream.format.parameterSets.picture)
      .flatMap { [0, 0, 0, 1] + $0 as [UInt8] }
    columns.append(read([sets] + units.dropFirst(units.count / 3), stream))
    try RecordFile.inspections.expect(name, columns)
  }

  /// The numbers of access units that may be the first, are damaged, and are complete, and a digest of all that was
  /// read.
  private func read(_ units: [[UInt8]], _ stream: CodedStream) -> String {
    let follower: any StreamFollower =
      stream.format.codec == .h264
      ? H264StreamFollower(lengthSize: nil)
      : H265StreamFollower(lengthSize: nil, verifiesPictureHash: true)
    var input = SessionInput(follower)
    var gate = StartGate(SessionConfiguration())
    var damage = DamageTracker()
    var digest = Digest()
    var counts: [String: Int] = [:]
    for unit in units {
      let read = input.read(unit.span)
      digest.add(input.lookAhead(unit.span, read).isIntra ? 1 : 0)
      let summary = input.inspect(unit.span, read)
      let index = input.number()
      let admission = gate.admit(summary, index: index)
      if gate.start == .intra, admission == .begins { damage.taint(before: index) }
      if summary.randomAccess == .idr { input.beginSequence(at: index) }
      var record = LedgerEntry(
        index: index, request: DecodeRequest(tag: index), summary: summary,
        standsAlone: input.followsSequenceStart || summary.completesRecovery || summary.isIntra,
        sequenceStart: input.sequenceStart,
        recoveryStart: damage.recovery(completedBy: summary, index: index), start: gate.start ?? .marked)
      damage.admit(&record)
      // The record has the type's name of when it was made.
      let text = "\(summary)".replacing("DecodingSummary", with: "AccessUnitSummary")
      digest.add("\(text) \(admission) \(record.taint) \(damage.damageEnd)")
      counts["\(admission)", default: 0] += 1
      if record.taint != .none { counts["tainted", default: 0] += 1 }
      if summary.isIncomplete { counts["incomplete", default: 0] += 1 }
      if summary.changesParameterSets { counts["sets", default: 0] += 1 }
    }
    digest.add(input.parameterSets.count)
    return counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ") + " " + digest.text
  }
}
