// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Parse {
  /// How NAL units are packed in the output.
  var outputPackaging: NALPackaging {
    guard format?.isLengthPrefixed == true else { return .annexB }
    return .lengthPrefixed(inputFormat?.isLengthPrefixed == true ? lengthSize : .four)
  }

  /// Makes an output buffer of its own where the input's bytes will not do as they are.
  ///
  /// - Returns: whether there is anything to put out. Between start codes inside a NAL unit there may be nothing.
  func repackage(_ size: Int, _ frame: borrowing BaseParseFrame) throws(FlowError) -> Bool {
    guard let format, let inputFormat else { return true }
    unit.outputSize = unit.coded.end
    let changes = format.isLengthPrefixed != inputFormat.isLengthPrefixed
    let codes =
      unit.information.pictureTimingRange != nil && settings.snapshot.updatesTimeCode
      ? frame.withBuffer { $0.timeCodes } : []
    // Those dropped are left out when the unit is split.
    let leavesOut = !unit.coded.dropped.isEmpty && unit.coded.nalUnits.isEmpty
    guard changes || leavesOut || unit.coded.holdsStartCodes || !codes.isEmpty else { return true }
    let map = try frame.map()
    let bytes = map.bytes.extracting(first: min(size, map.bytes.count))
    var output: Buffer
    if !codes.isEmpty, let rewritten = bytesWithTimeCodes(codes, bytes) {
      output = try repackaged(rewritten.span, from: inputFormat)
    } else {
      output = try repackaged(bytes, from: inputFormat)
    }
    guard output.size > 0 else { return false }
    frame.withBuffer { output.copyMetadata(from: $0) }
    frame.setOutput(output)
    return true
  }

  private func repackaged(_ bytes: Span<UInt8>, from inputFormat: StreamFormat) throws(FlowError) -> Buffer {
    do throws(BitstreamError) {
      try findEntries(bytes, isLengthPrefixed: inputFormat.isLengthPrefixed)
      let packaging = outputPackaging
      let size = try repackager.outputSize(packaging)
      guard var output = Buffer(size: size) else { throw BitstreamError(.outputTooSmall, "buffer", bitOffset: 0) }
      try write(bytes, packaging, to: &output)
      moveOffsets(packaging, size: size)
      return output
    } catch {
      post(
        ElementError(
          .stream(.format), "An access unit cannot be repackaged.",
          debug: "found \(bytes.count) bytes of \(inputFormat.rawValue), expected \(outputPackaging): \(error)"))
      throw .error
    }
  }

  private func findEntries(_ bytes: Span<UInt8>, isLengthPrefixed: Bool) throws(BitstreamError) {
    if isLengthPrefixed {
      // A bad length ended the unit before it: what is here is good.
      try repackager.scanLengthPrefixed(bytes, lengthSize: lengthSize)
      if unit.coded.holdsStartCodes { repackager.repairStartCodes(in: bytes) }
    } else {
      repackager.scanAnnexB(bytes)
    }
    let dropped = unit.coded.dropped
    guard !dropped.isEmpty else { return }
    repackager.drop { entry in dropped.contains { $0.contains(entry.range.lowerBound) } }
  }

  private func write(
    _ bytes: Span<UInt8>, _ packaging: NALPackaging, to output: inout Buffer
  ) throws(BitstreamError) {
    do throws(FlowError) {
      var map = try output.mapForWriting()
      var target = map.bytes
      do throws(BitstreamError) {
        try repackager.write(bytes, as: packaging, to: &target)
        return
      } catch {
        Self.log(.error, self, "\(error)")
      }
    } catch {
      Self.log(.error, self, "cannot map a new buffer")
    }
    throw BitstreamError(.outputTooSmall, "buffer", bitOffset: 0)
  }

  /// What the unit says of places in the input becomes places in the output.
  private func moveOffsets(_ packaging: NALPackaging, size: Int) {
    var position = 0
    let (information, idr) = (unit.coded.seiOffset, unit.coded.idrOffset)
    for entry in repackager.entries {
      if let information, entry.range.contains(information + entry.prefixLength) {
        unit.coded.seiOffset = position
      }
      if let idr, entry.range.contains(idr + entry.prefixLength) { unit.coded.idrOffset = position }
      position += packaging.prefixLength + entry.range.count
    }
    unit.outputSize = size
  }
}
