// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

/// The NAL units of the last scan.
func nalUnits(_ repackager: Repackager, of bytes: Span<UInt8>) -> [[UInt8]] {
  repackager.entries.map { [UInt8](bytes, $0.range) }
}

/// The scanned NAL units in another packaging; nil when a NAL unit is too long for it.
func write(_ repackager: Repackager, _ bytes: Span<UInt8>, as packaging: NALPackaging) -> [UInt8]? {
  guard let size = try? repackager.outputSize(packaging) else { return nil }
  var output = [UInt8](repeating: 0xAA, count: size)
  var span = output.mutableSpan
  let written = try? repackager.write(bytes, as: packaging, to: &span)
  require(written == size, "repack: wrote \(written ?? -1) bytes, announced \(size)")
  return output
}

/// Repackaging in place, if possible, must give the same bytes.
func checkInPlace(_ repackager: Repackager, _ bytes: Span<UInt8>, as packaging: NALPackaging, _ expected: [UInt8]) {
  guard repackager.canWriteInPlace(as: packaging) else { return }
  var copy = [UInt8](bytes, bytes.indices)
  var span = copy.mutableSpan
  require((try? repackager.writeInPlace(&span, as: packaging)) != nil, "repack: not in place after all")
  require(copy == expected, "repack: in place differs")
}

fuzz { input in
  var choices = Choices(input)
  let bytes = choices.data
  let size: NALLengthSize = [.one, .two, .four, .four][choices.below(4)]
  var repackager = Repackager(codec: choices.flag() ? .h265 : .h264)

  // Annex B to length prefixes and back is the identity.
  repackager.scanAnnexB(bytes)
  let units = nalUnits(repackager, of: bytes)
  if let prefixed = write(repackager, bytes, as: .lengthPrefixed(size)) {
    checkInPlace(repackager, bytes, as: .lengthPrefixed(size), prefixed)
    require(
      (try? repackager.scanLengthPrefixed(prefixed.span, lengthSize: size)) != nil, "repack: own lengths are wrong")
    require(nalUnits(repackager, of: prefixed.span) == units, "repack: NAL units differ as length-prefixed")
    require(repackager.repairStartCodes(in: prefixed.span) == 0, "repack: a start code in a NAL unit")
    guard let stream = write(repackager, prefixed.span, as: .annexB) else { fatalError("repack: no byte stream") }
    checkInPlace(repackager, prefixed.span, as: .annexB, stream)
    repackager.scanAnnexB(stream.span)
    require(nalUnits(repackager, of: stream.span) == units, "repack: NAL units differ as byte stream again")
  } else {
    require(units.contains { $0.count > size.maximumNALUnitLength }, "repack: refused without reason")
  }

  // Any bytes as length-prefixed to Annex B: the good NAL units, without trailing zeros.
  _ = try? repackager.scanLengthPrefixed(bytes, lengthSize: size)
  repackager.repairStartCodes(in: bytes)
  let good = nalUnits(repackager, of: bytes).map { unit in
    [UInt8](unit.prefix((unit.lastIndex { $0 != 0 } ?? -1) + 1))
  }
  guard let stream = write(repackager, bytes, as: .annexB) else { fatalError("repack: no byte stream") }
  repackager.scanAnnexB(stream.span)
  require(nalUnits(repackager, of: stream.span) == good.filter { !$0.isEmpty }, "repack: good NAL units lost")

  // NAL units of dropped types are missing, all other ones are there.
  let dropped = UInt8(choices.below(64))
  repackager.drop = NALUnitTypeSet([dropped])
  repackager.scanAnnexB(bytes)
  require(repackager.entries.count + repackager.droppedCount == units.count, "repack: dropped more than asked for")
  require(!repackager.entries.contains { $0.type == dropped }, "repack: not dropped")
}
