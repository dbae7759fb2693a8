// SPDX-License-Identifier: MPL-2.0
import H26x
package import StreamReport

extension JoinPlan {
  /// The plan as a JSON object. Times are in seconds:
  ///
  /// - `schema`: 1. Changes when a member is removed or changes its meaning.
  /// - `codec`, and `inBandReason` if parameter sets stay with their pictures: why.
  /// - `inputs`, in the order of the target, each with
  ///   - `file`, `width`, `height`: the size of its first picture.
  ///   - `start`: when its first picture is shown in the target. `duration`: how long its pictures are shown.
  ///   - `mode`: how it begins: `keyframe`, or `hidden` or `exact` if it has an edit list. If pictures cannot be
  ///     encoded, it is not `exact`.
  ///   - `copied`, `encoded`, `hidden`: the counts of access units.
  ///   - `leftOut`: the count of access units that are left out.
  ///   - `parameterSets`: its sets. `shared` is the count of those that an earlier input has. `renumbered` lists those
  ///     with other ids: the `kind` (VPS, SPS or PPS), the id in the input (`from`) and in the target (`to`).
  ///
  /// Needs inputs that were surveyed.
  package func write(to json: inout JSONText) {
    json.open()
    json.member("schema", 1)
    json.member("codec", string: description.codec.name)
    if let inBandReason { json.member("inBandReason", string: inBandReason) }
    json.openArray("inputs")
    var start: Int64 = 0
    for number in inputs.indices {
      let parts = parts(of: number)
      let duration = parts.reduce(0) { $0 &+ ($1.shown.map { $0.upperBound &- $0.lowerBound } ?? 0) }
      let (input, sets) = (inputs[number], parameterSets[number])
      json.open()
      json.member("file", string: input.file.name)
      json.member("width", input.format.croppedSize.width)
      json.member("height", input.format.croppedSize.height)
      json.member("start", seconds: start)
      json.member("duration", seconds: duration)
      json.member("mode", string: (parts.map(\.mode).first { $0 != mode[number] } ?? mode[number]).rawValue)
      json.member("copied", parts.reduce(0) { $0 + $1.copied.count })
      json.member("encoded", parts.reduce(0) { $0 + $1.encoded.count })
      json.member("hidden", parts.reduce(0) { $0 + $1.hidden.count })
      json.member("leftOut", parts.reduce(0) { $0 + $1.leftOut.values.reduce(0, +) })
      json.key("parameterSets")
      json.open()
      json.member("shared", sets.sharedCount)
      json.openArray("renumbered")
      for renumbering in sets.renumbered {
        json.open()
        json.member("kind", string: renumbering.name.kind.name)
        json.member("from", renumbering.name.id)
        json.member("to", renumbering.id)
        json.close()
      }
      json.closeArray()
      json.close()
      json.close()
      start = start &+ duration
    }
    json.closeArray()
    json.close()
  }

  /// The plan of each range of an input.
  private func parts(of number: Int) -> [CutPlan.Part] {
    let (input, mode) = (inputs[number], mode[number])
    guard let survey = input.survey else { return [] }
    var planner = CutPlanner(of: survey.shown, parts: survey.parts)
    for accessUnit in survey.accessUnits {
      planner.add(presentation: accessUnit.presentation, duration: accessUnit.duration, role: accessUnit.role)
    }
    let abilities = CutPlan.Abilities(
      mode: mode, refusal: survey.obstacle.map { CutPlan.Reason($0) },
      openSeam: survey.openObstacle.map { CutPlan.Reason($0) }, hasEditList: mode == .hidden, isHalfOpen: false,
      beginning: .anewIfPossible)
    let ranges = input.bounds(mode).map { ResolvedRange(start: $0.start, end: $0.end) }
    return planner.plan(ranges, abilities, behindAnother: number > 0).parts
  }
}

extension ParameterSetName.Kind {
  /// The name for users.
  fileprivate var name: String {
    switch self {
    case .video: "VPS"
    case .sequence: "SPS"
    case .picture: "PPS"
    }
  }
}
