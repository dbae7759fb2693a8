// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

// A byte stream: its parameter sets, and its slices read with them at both depths and cut short.
fuzz { bytes in
  var sets = H264.ParameterSets()
  var units = AnnexB.NALUnits(bytes)
  while let unit = units.next() {
    let nalUnit = bytes.extracting(unit.range)
    if (try? sets.insert(nalUnit)) != nil {
      require((try? sets.insert(nalUnit)) == .unchanged, "a parameter set is not the same the second time")
      continue
    }
    _ = H264.SliceHeader.startsAtFirstMacroblock(nalUnit)
    guard let identity = try? H264.SliceHeader(nalUnit: nalUnit, parameterSets: sets) else { continue }
    require(!identity.resetsPictureOrderCount, "slice header: read further than asked for")
    if let whole = try? H264.SliceHeader(nalUnit: nalUnit, parameterSets: sets, depth: .referenceMarking) {
      require(
        (try? H264.SliceHeader.withReferences(nalUnit: nalUnit, parameterSets: sets)) != nil,
        "slice header: readable and not")
      require(!H264.AccessUnitDetector.isFirstOfPicture(identity, after: whole), "slice header: depths differ")
    }
    // A slice that is there in part reads the same, or not at all.
    for count in 1..<min(nalUnit.count, 24) {
      guard let part = try? H264.SliceHeader(nalUnit: nalUnit.extracting(first: count), parameterSets: sets) else {
        continue
      }
      require(!H264.AccessUnitDetector.isFirstOfPicture(identity, after: part), "slice header: part and whole differ")
    }
  }
}
