// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

/// The inspector gives the same for start codes and for length prefixes.
struct Inspection {
  var byStartCodes = H264.AccessUnitInspector()
  var byLengths = H264.AccessUnitInspector()
  var repackager = Repackager(codec: .h264)
  var counter = H264.PictureOrderCounter()

  mutating func inspect(_ accessUnit: [UInt8]) {
    let bytes = accessUnit.span
    repackager.scanAnnexB(bytes)
    guard let size = try? repackager.outputSize(.lengthPrefixed(.four)) else { return }
    var prefixed = [UInt8](repeating: 0, count: size)
    var span = prefixed.mutableSpan
    guard (try? repackager.write(bytes, as: .lengthPrefixed(.four), to: &span)) != nil else { return }
    let info = byStartCodes.inspect(bytes, packaging: .annexB, depth: .referenceMarking)
    let other = byLengths.inspect(prefixed.span, packaging: .lengthPrefixed(.four), depth: .referenceMarking)
    require(info.nalUnitCount == other.nalUnitCount, "access unit: packagings differ in NAL units")
    require(info.randomAccess == other.randomAccess, "access unit: packagings differ in random access")
    require(
      info.isIntra == other.isIntra && info.isSecondField == other.isSecondField, "access unit: packagings differ")
    require(info.error == other.error, "access unit: packagings differ in errors")
    require(info.seiRanges.count == other.seiRanges.count, "access unit: packagings differ in SEI")
    guard let slice = info.slice,
      let sps = byStartCodes.parameterSets.sequenceParameterSet(slice.sequenceParameterSetID)
    else { return }
    let count = counter.next(slice, sps: sps)
    require(count.resetsPOC || !slice.isIDR, "picture order count: an IDR picture that starts nothing")
    _ = count.picture
  }
}

fuzz { bytes in
  var inspection = Inspection()
  var detector = H264.AccessUnitDetector()
  var accessUnit: [UInt8] = []
  var units = AnnexB.NALUnits(bytes)
  while let unit = units.next() {
    let nalUnit = bytes.extracting(unit.range)
    if detector.feed(nalUnit, parameterSets: inspection.byStartCodes.parameterSets).boundary == .begins {
      inspection.inspect(accessUnit)
      accessUnit = []
    }
    accessUnit += [0, 0, 1] + [UInt8](bytes, unit.range)
  }
  inspection.inspect(accessUnit)
}
