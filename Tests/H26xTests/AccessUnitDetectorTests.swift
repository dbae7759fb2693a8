// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@Suite struct AccessUnitVectorTests {
  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.rows(codec: "h264", container: "annexb"))
  func accessUnitsAreThoseOfTheManifest(_ row: Vectors.Row) throws {
    let stream = try Vectors.bytes(row.file)
    var sets = H264.ParameterSets()
    var detector = H264.AccessUnitDetector()
    var count = 0
    var withPicture = 0
    var unreadable = 0
    var counted = true
    for unit in nalUnits(stream) {
      if [7, 8, 13, 15].contains(unit[0] & 0x1F) { _ = try? sets.insert(unit.span) }
      let (boundary, slice) = detector.feed(unit.span, parameterSets: sets)
      if boundary == .begins {
        count += 1
        counted = false
      }
      if detector.hasPrimaryPicture, !counted {
        withPicture += 1
        counted = true
      }
      if H264.NALUnitType(rawValue: unit[0]).isVCL, slice == nil, ![3, 4].contains(unit[0] & 0x1F) { unreadable += 1 }
    }
    print(
      "\(row.file): begins \(count), pictures \(withPicture), manifest \(row.accessUnits), unreadable \(unreadable)")
    #expect(withPicture == row.accessUnits)
  }
}
