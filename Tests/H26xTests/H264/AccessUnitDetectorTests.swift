// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct AccessUnitVectorTests {
  /// Stock drops pictures without parameter sets; the detector finds them all the same.
  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.rows(codec: "h264", container: "annexb"))
  func accessUnitsMatchTheManifest(_ row: Vectors.Row) throws {
    let stream = try Vectors.bytes(row.file)
    var inspector = H264.AccessUnitInspector()
    var withoutParameterSets = 0
    let units = accessUnits(stream)
    for unit in units {
      let info = inspector.inspect(stream.span.extracting(unit), packaging: .annexB)
      if info.error?.reason == .missingParameterSet { withoutParameterSets += 1 }
    }
    #expect(units.count - withoutParameterSets == row.accessUnits)
  }

  /// POC identifies each frame once: the number of distinct counts an epoch, fields paired, is the number of frames.
  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.rows(codec: "h264", container: "annexb"))
  func pictureOrderCountsAreDistinct(_ row: Vectors.Row) throws {
    let stream = try Vectors.bytes(row.file)
    var inspector = H264.AccessUnitInspector()
    var counter = H264.PictureOrderCounter()
    var seen: Set<Int32> = []
    for unit in accessUnits(stream) {
      let info = inspector.inspect(stream.span.extracting(unit), packaging: .annexB, depth: .referenceMarking)
      guard let slice = info.slice,
        let sps = inspector.parameterSets.sequenceParameterSet(slice.sequenceParameterSetID)
      else { continue }
      let order = counter.next(slice, sps: sps)
      if order.resetsPOC { seen = [] }
      // A frame's fields may share a count with each other, never with another frame's.
      let frame = Set([order.top, order.bottom].compactMap { $0 })
      if !info.isSecondField { #expect(seen.isDisjoint(with: frame), "\(frame) twice in \(row.file)") }
      seen.formUnion(frame)
    }
  }

  /// A slice of a layer or view is the picture's, where the base picture in front of it is missing.
  @Test(arguments: [H264.NALUnitType.sliceExtension, .depthSliceExtension])
  func layerSlicesAfterAnEndOfSequenceBeginAPicture(_ type: H264.NALUnitType) {
    var detector = H264.AccessUnitDetector()
    let types: [(H264.NALUnitType, AccessUnitBoundary, Bool)] = [
      (type, .begins, true), (.endOfSequence, .continues, true), (type, .begins, true), (type, .continues, true),
      (.sei, .begins, false), (type, .continues, true), (.prefix, .followsNext, true),
      (.sequenceParameterSet, .begins, false), (.endOfStream, .continues, false), (.prefix, .begins, false),
    ]
    for (type, boundary, hasPicture) in types {
      #expect(detector.feed(type) == boundary, "\(type)")
      #expect(detector.hasPrimaryPicture == hasPicture, "\(type)")
    }
  }
}

/// The access units of a byte stream, from the start code of the first NAL unit to that of the next one's.
func accessUnits(_ stream: [UInt8]) -> [Range<Int>] {
  var sets = H264.ParameterSets()
  var detector = H264.AccessUnitDetector()
  var starts: [Int] = []
  var prefix: Int?
  var units = AnnexB.NALUnits(stream.span)
  while let unit = units.next() {
    let bytes = stream.span.extracting(unit.range)
    if [7, 8, 13, 15].contains(bytes[0] & 0x1F) { _ = try? sets.insert(bytes) }
    switch detector.feed(bytes, parameterSets: sets).boundary {
    case .begins: starts.append(prefix ?? unit.startCodeOffset)
    case .followsNext:
      prefix = unit.startCodeOffset
      continue
    case .continues: break
    }
    prefix = nil
  }
  return starts.indices.map { starts[$0]..<($0 + 1 < starts.count ? starts[$0 + 1] : stream.count) }
}
