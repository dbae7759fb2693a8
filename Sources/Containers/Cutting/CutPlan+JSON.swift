// SPDX-License-Identifier: MPL-2.0
package import StreamReport

extension CutPlan {
  /// The plan as a JSON object. Times are in seconds since the first picture, and access units have numbers in decoding
  /// order, from 0. Members that do not apply are absent:
  ///
  /// - `schema`: 1. Changes when a member is removed or changes its meaning.
  /// - `parts`, in the order of the request, each with
  ///   - `name`, `start`, `end`: as requested. Without `end`, the part ends with the video.
  ///   - `missingEnd`: the requested end, as text, if it is behind the end of the video.
  ///   - `mode`: `exact`, `hidden` or `keyframe`, and `reasons` why no better mode is used: `requested`, `pipe`,
  ///     `noEncoder`, `unsupported`, `gradualRefresh`, `noEditList` or `noPicture`, with a `text`.
  ///   - `shown`: `start` and `end` of the pictures that are shown.
  ///   - `copied`, `encoded`, `needed` (decoded for those that are encoded; some are also copied), `hidden`: the `count`
  ///     of access units, and `runs` of their numbers, each the first and the last.
  ///   - `leftOut`: the counts of access units that are left out since the last keyframe in front of the part, as they
  ///     are shown in `front` or `behind`, or are `leading` pictures that cannot be decoded.
  package func write(to json: inout JSONText) {
    json.open()
    json.member("schema", 1)
    json.openArray("parts")
    for part in parts { part.write(to: &json) }
    json.closeArray()
    json.close()
  }
}

extension CutPlan.Part {
  fileprivate func write(to json: inout JSONText) {
    json.open()
    if let name = range.name { json.member("name", string: name) }
    json.member("start", seconds: range.start)
    if let end = range.end { json.member("end", seconds: end) }
    if let missing = range.missingEnd { json.member("missingEnd", string: missing.text) }
    json.member("mode", string: mode.rawValue)
    json.openArray("reasons")
    for reason in reasons {
      json.open()
      json.member("reason", string: reason.code)
      json.member("text", string: reason.text)
      json.close()
    }
    json.closeArray()
    if let shown {
      json.key("shown")
      json.open()
      json.member("start", seconds: shown.lowerBound)
      json.member("end", seconds: shown.upperBound)
      json.close()
    }
    json.member("copied", copied)
    json.member("encoded", encoded)
    json.member("needed", needed)
    json.member("hidden", hidden)
    json.key("leftOut")
    json.open()
    for reason in Window.Tally.Reason.allCases {
      guard let count = leftOut[reason] else { continue }
      json.key(string: reason.rawValue)
      json.value(Int64(count))
    }
    json.close()
    json.close()
  }
}

extension JSONText {
  fileprivate mutating func member(_ name: StaticString, _ numbers: AccessUnitNumbers) {
    key(name)
    open()
    member("count", numbers.count)
    openArray("runs")
    for run in numbers.runs {
      open(UInt8(ascii: "["))
      value(Int64(run.lowerBound))
      value(Int64(run.upperBound))
      close(UInt8(ascii: "]"))
    }
    closeArray()
    close()
  }

  /// Nanoseconds, as seconds without rounding.
  mutating func member(_ name: StaticString, seconds nanoseconds: Int64) {
    let (whole, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
    var digits = String(1_000_000_000 + rest).dropFirst()
    while digits.last == "0", digits.count > 1 { digits.removeLast() }
    key(name)
    value(literal: "\(nanoseconds < 0 ? "-" : "")\(whole).\(digits)")
  }
}
