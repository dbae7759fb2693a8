// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

// The detector over any NAL units: an access unit begins only after a picture or an end of sequence.
fuzz { bytes in
  var sets = H264.ParameterSets()
  var detector = H264.AccessUnitDetector()
  var isFirst = true
  var mayBegin = true
  var units = AnnexB.NALUnits(bytes)
  while let unit = units.next() {
    let nalUnit = bytes.extracting(unit.range)
    _ = try? sets.insert(nalUnit)
    let boundary = detector.feed(nalUnit, parameterSets: sets).boundary
    let type = H264.NALUnitType(rawValue: nalUnit[0])
    switch boundary {
    case .begins: require(mayBegin, "access unit: begins before the one before has a picture")
    case .followsNext: require(type == .prefix, "access unit: undecided about type \(type.rawValue)")
    case .continues: require(!isFirst, "access unit: the first NAL unit begins none")
    }
    if boundary == .begins { mayBegin = false }
    if detector.hasPrimaryPicture || [10, 11].contains(type.rawValue) { mayBegin = true }
    isFirst = false
  }
}
