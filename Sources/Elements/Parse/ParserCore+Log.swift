// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension ParserCore {
  /// Tells of what the scanner met, and has caps looked at anew when parameter sets are not what they were.
  mutating func follow(_ notices: [ScannerNotice<Codec.NALUnitType>], _ log: ElementLog) {
    // No parameter set changes without a notice.
    guard !notices.isEmpty else { return }
    for notice in notices {
      switch notice {
      case .parameterSet(let type, let byteCount, let change):
        log(.info, "\(change) \(type.name), \(byteCount) bytes")
      case .unreadableParameterSet(let type, let byteCount, let error):
        log(.warning, "cannot read \(type.name) of \(byteCount) bytes: \(error)")
      case .foreignType(let type):
        log(.warning, "left out a NAL unit of type \(type.rawValue) (\(type.name)): only RTP packets have them")
      case .badLength(let error, let goodBytes, let byteCount):
        log(
          .warning,
          "bad NAL unit length: found \(error), expected at most \(byteCount) bytes; \(goodBytes) bytes are good"
        )
        // A stream that begins with damage may have lost its parameter sets.
        if Codec.repeatsSetsAfterDamage, caps.awaitsFirstBuffer { output.insertion.force() }
      case .lateParameterSets:
        log(.info, "the parameter sets of the first picture come behind it")
        output.insertion.force()
      case .startCodes:
        warning = ElementError(
          .stream(.format), "The stream was muxed wrongly; it is being repaired.",
          debug: "found start codes inside length-prefixed NAL units, expected one NAL unit behind each length")
      }
    }
    caps.follow(parameterSetChanges: scanner.parameterSetChanges)
  }

  /// One line for each NAL unit of an access unit.
  mutating func logAccessUnit(_ bytes: Span<UInt8>, _ log: ElementLog) {
    switch scanner.packaging {
    case .annexB:
      var units = AnnexB.NALUnits(bytes)
      while let place = units.next() { logNALUnit(bytes.extracting(place.range), log) }
    case .lengthPrefixed(let size):
      var units = LengthPrefixed.NALUnits(bytes, lengthSize: size)
      do throws(BitstreamError) {
        while let range = try units.next() { logNALUnit(bytes.extracting(range), log) }
      } catch {}  // The scanner told of it.
    }
  }

  private mutating func logNALUnit(_ nalUnit: Span<UInt8>, _ log: ElementLog) {
    let type = Codec.NALUnitType(headerByte: nalUnit[0])
    var line = "\(type.name), \(nalUnit.count) bytes"
    do throws(BitstreamError) {
      if Codec.role(of: nalUnit) == .slice {
        let slice = try Codec.SliceHeader(
          nalUnit: nalUnit, parameterSets: scanner.parameterSets, depth: .referenceMarking)
        line += ", \(Codec.describe(slice))"
        if let count = orderLog.count(slice, scanner.parameterSets) { line += ", POC \(count)" }
      }
    } catch {
      line += ", \(error)"
    }
    log(.log, line)
  }
}
