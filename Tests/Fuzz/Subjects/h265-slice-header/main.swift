// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

// Reads the slice segments of a byte stream with its parameter sets, to every depth and truncated.
fuzz { bytes in
  var sets = H265.ParameterSets()
  var units = AnnexB.NALUnits(bytes)
  while let unit = units.next() {
    let nalUnit = bytes.extracting(unit.range)
    if (try? sets.insert(nalUnit)) != nil {
      require((try? sets.insert(nalUnit)) == .unchanged, "a parameter set is not the same the second time")
      continue
    }
    let isFirst = H265.SliceSegmentHeader.startsPicture(nalUnit)
    guard let slice = try? H265.SliceSegmentHeader(nalUnit: nalUnit, parameterSets: sets) else { continue }
    require(slice.isFirstInPicture == isFirst, "slice header: the first segment or not")
    if let deep = try? H265.SliceSegmentHeader.withReferences(nalUnit: nalUnit, parameterSets: sets) {
      require(
        !H265.isFirstOfPicture(deep.header, after: slice) || slice.isFirstInPicture, "slice header: depths differ")
      require(deep.references?.shortTerm.count ?? 0 <= 16, "slice header: a reference picture set too large")
      require(deep.references?.longTerm.count ?? 0 <= 64, "slice header: too many long-term pictures")
    }
    if let whole = try? H265.WholeSliceHeader(nalUnit: nalUnit, parameterSets: sets), let coding = whole.coding {
      require(coding.dataBitOffset <= nalUnit.count * 8, "slice header: data behind the end")
      require(-48...51 ~= coding.quantizationParameter, "slice header: QP out of range")
    }
    // A truncated slice gives the same header or an error.
    for count in 1..<min(nalUnit.count, 24) {
      guard let part = try? H265.SliceSegmentHeader(nalUnit: nalUnit.extracting(first: count), parameterSets: sets)
      else { continue }
      require(
        part.segmentAddress == slice.segmentAddress && part.pictureOrderCountLSB == slice.pictureOrderCountLSB,
        "slice header: part and whole differ")
    }
  }
}
