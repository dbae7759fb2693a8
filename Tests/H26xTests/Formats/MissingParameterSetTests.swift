// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// Slices before the parameter sets that they need.
@Suite struct MissingParameterSetTests {
  private static let delimiter: [UInt8] = [0x09, 0xF0]
  private static let picture = MinimalStream.slice(isIDR: false)

  /// The findings in a stream that comes at once, and how many of them are counted as without parameter sets.
  private func scan(
    _ nalUnits: [[UInt8]], _ configure: (inout H264.AccessUnitScanner) -> Void = { _ in }
  ) -> (findings: [ScannerFinding], missing: UInt64) {
    var scanner = H264.AccessUnitScanner()
    configure(&scanner)
    let stream = MinimalStream.annexB(nalUnits)
    var findings: [ScannerFinding] = []
    var offset = 0
    while offset < stream.count {
      let finding = scanner.next(in: stream.span.extracting(offset...), isMarked: false, isDraining: true)
      guard finding.size > 0 else { break }
      findings.append(finding)
      offset += finding.size
    }
    return (findings, scanner.errors.missingParameterSets)
  }

  /// Three pictures with an SPS in front and no PPS: the access unit of the SPS is spared, where that is wanted.
  @Test(arguments: [(true, UInt64(2)), (false, 3)]) func countsPicturesWithoutAPPS(_ spares: Bool, _ missing: UInt64) {
    let found = scan(
      [Self.delimiter, MinimalStream.sps(), Self.picture, Self.delimiter, Self.picture, Self.delimiter, Self.picture]
    ) { $0.sparesUnreadablePictureParameterSets = spares }
    #expect(found.findings.count == 3 && found.missing == missing)
    let unusable = found.findings.count { if case .unusable = $0 { true } else { false } }
    #expect(unusable == Int(missing))
  }

  /// From the PPS on no picture is counted any more.
  @Test func countsNoPictureAfterALatePPS() {
    let found = scan(
      [
        Self.delimiter, MinimalStream.sps(), Self.picture, Self.delimiter, Self.picture, Self.delimiter,
        MinimalStream.pps(), Self.picture, Self.delimiter, Self.picture,
      ])
    #expect(found.findings.count == 4 && found.missing == 1)
  }

  /// Each slice is counted where NAL units are cut.
  @Test func countsNALUnitsWithoutParameterSets() {
    let found = scan([Self.picture, Self.picture, MinimalStream.sps(), Self.picture, MinimalStream.pps(), Self.picture])
    { $0.cutsNALUnits = true }
    #expect(found.missing == 3)
    #expect(found.findings.suffix(2).allSatisfy { if case .accessUnit = $0 { true } else { false } })
  }

  @Test func countsNothingWhereParameterSetsAreThere() {
    let found = scan([MinimalStream.sps(), MinimalStream.pps(), Self.picture, Self.delimiter, Self.picture])
    #expect(found.findings.count == 2 && found.missing == 0)
  }

  /// After the parameter sets were removed, a random access point waits for new ones again.
  @Test func awaitsRemovedParameterSetsAgain() {
    var scanner = H264.AccessUnitScanner()
    let stream = MinimalStream.annexB([
      MinimalStream.slice(isIDR: true), MinimalStream.sps(), MinimalStream.pps(), Self.picture,
    ])
    for _ in 0..<2 {
      let finding = scanner.next(in: stream.span, isMarked: false, isDraining: true)
      #expect(finding == .accessUnit(4 + MinimalStream.slice(isIDR: true).count))
      scanner.resetPosition()
      scanner.removeParameterSets()
    }
  }

  /// Data that is held back before the first parameter sets is dropped with the position.
  @Test func repositioningRestartsTheSearch() {
    var scanner = H264.AccessUnitScanner()
    scanner.cutsNALUnits = true
    scanner.inputAlignment = .nalUnits
    let before = MinimalStream.annexB([[UInt8]](repeating: [0x06, 0x05, 0x01, 0x55, 0x80], count: 20))
    same(scanner.next(in: before.span, isMarked: false, isDraining: false), .needsMoreData)
    scanner.resetPosition()
    let sps = MinimalStream.sps()
    let after = MinimalStream.annexB([
      sps, MinimalStream.pps(), MinimalStream.slice(isIDR: true), [UInt8](repeating: 0x0C, count: 200),
    ])
    same(scanner.next(in: after.span, isMarked: false, isDraining: false), .accessUnit(4 + sps.count))
  }
}
