// SPDX-License-Identifier: MPL-2.0

/// Reads of each access unit what the session decides by.
struct AccessUnitInspector {
  private let nalLengthSize: Int?
  var parameterSets: [UInt8] { [] }

  init(_ format: StreamSetup) { nalLengthSize = format.nalLengthSize }

  mutating func accept(_ format: StreamSetup) {}
  mutating func takeNewParameterSets() -> [UInt8] { [] }

  mutating func inspect(_ accessUnit: Span<UInt8>) -> AccessUnitSummary {
    var summary = AccessUnitSummary()
    var index = 0
    while index + 4 < accessUnit.count {
      guard accessUnit[index] == 0, accessUnit[index + 1] == 0, accessUnit[index + 2] == 1 else {
        index += 1
        continue
      }
      let type = accessUnit[index + 3] & 31
      if (1...5).contains(type), summary.nalUnitType == nil {
        summary.nalUnitType = type
        if type == 5 { summary.randomAccess = .instantaneous }
      }
      if type == 6, accessUnit[index + 4] == 6, summary.randomAccess == .none {
        summary.randomAccess = .recoveryPoint(frameCount: 0)
      }
      index += 3
    }
    return summary
  }
}
