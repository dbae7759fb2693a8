// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

/// The inspector gives the same for start codes and for length prefixes.
struct Inspection {
  var byStartCodes = H265.AccessUnitInspector()
  var byLengths = H265.AccessUnitInspector()
  var repackager = Repackager(codec: .h265)
  var reader = H265.PictureReader()

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
    if let slice = info.slice, let sps = byStartCodes.parameterSets.sequenceParameterSet(slice.sequenceParameterSetID) {
      let picture = reader.picture(slice, sps)
      require(picture.resetsPOC || !slice.isIDR, "picture order count: an IDR picture that starts nothing")
    }
    if info.endsSequence { reader.endSequence() }
  }
}

// The detector over any NAL units: an access unit begins only after a picture or an end of sequence.
fuzz { bytes in
  var inspection = Inspection()
  var detector = H265.AccessUnitDetector()
  var isFirst = true
  var mayBegin = true
  var accessUnit: [UInt8] = []
  var units = AnnexB.NALUnits(bytes)
  while let unit = units.next() {
    let nalUnit = bytes.extracting(unit.range)
    guard nalUnit.count > 1 else { continue }
    let boundary = detector.feed(nalUnit, parameterSets: inspection.byStartCodes.parameterSets).boundary
    let type = H265.NALUnitType(headerByte: nalUnit[0])
    require(!isFirst || boundary == .begins, "access unit: the first NAL unit begins none")
    if boundary == .begins {
      require(mayBegin, "access unit: begins before the one before has a picture")
      inspection.inspect(accessUnit)
      accessUnit = []
      mayBegin = false
    }
    if detector.hasPrimaryPicture || type == .endOfSequence || type == .endOfStream { mayBegin = true }
    isFirst = false
    accessUnit += [0, 0, 1] + [UInt8](bytes, unit.range)
  }
  inspection.inspect(accessUnit)
}
