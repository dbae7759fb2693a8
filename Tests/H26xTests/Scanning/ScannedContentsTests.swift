// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

/// What the scanner reports of each access unit and NAL unit, in both packagings.
@Suite struct ScannedContentsTests {
  private typealias Contents = AccessUnitContents

  private func stream(_ nalUnits: [[UInt8]], _ packaging: NALPackaging) -> [UInt8] {
    packaging == .annexB ? MinimalStream.annexB(nalUnits) : MinimalStream.prefixed(nalUnits)
  }

  private func scanner(_ packaging: NALPackaging, cutsNALUnits: Bool = false) -> H264.AccessUnitScanner {
    var scanner = H264.AccessUnitScanner()
    scanner.packaging = packaging
    scanner.inputAlignment = .accessUnit
    scanner.cutsNALUnits = cutsNALUnits
    return scanner
  }

  private static let packagings: [NALPackaging] = [.annexB, .lengthPrefixed(.four)]

  private let sets = [MinimalStream.sps(), MinimalStream.pps()]
  private let idr = MinimalStream.slice(isIDR: true)
  private let next = MinimalStream.slice(isIDR: false)

  /// Each NAL unit alone: only the first one begins the access unit, and what came before is not forgotten.
  @Test(arguments: packagings) func describesEachNALUnit(_ packaging: NALPackaging) throws {
    var scanner = scanner(packaging, cutsNALUnits: true)
    let sei = seiNALUnit([(.userDataUnregistered, [UInt8](repeating: 7, count: 16))])
    var found: [Contents] = []
    var sums: [Contents] = []
    for unit in [sets + [idr], [sei, next], [[0x09, 0xF0], next]] {
      #expect(scanner.isBetweenAccessUnits)
      var rest = stream(unit, packaging)
      while !rest.isEmpty {
        guard case .accessUnit(let size) = scanner.next(in: rest.span, isMarked: true, isDraining: false) else {
          Issue.record("nothing was found")
          return
        }
        let nalUnit = scanner.takeAccessUnit()
        #expect(nalUnit.nalUnitCount == 1 && nalUnit.end == size)
        found.append(nalUnit.contents)
        sums.append(scanner.accessUnitContents.subtracting([.accessUnitStart, .accessUnitEnd]))
        rest.removeFirst(size)
        #expect(scanner.isBetweenAccessUnits == rest.isEmpty)
      }
    }
    let idrSlice: Contents = [.slice, .iSlice, .reference, .idr, .randomAccess, .pictureStart]
    let slice: Contents = [.slice, .iSlice, .reference, .pictureStart]
    #expect(
      found == [
        [.sequenceParameterSet, .accessUnitStart], .pictureParameterSet, idrSlice.union(.accessUnitEnd),
        [.sei, .accessUnitStart], slice.union(.accessUnitEnd), [.delimiter, .accessUnitStart],
        slice.union(.accessUnitEnd),
      ])
    #expect(
      sums == [
        .sequenceParameterSet, [.sequenceParameterSet, .pictureParameterSet],
        idrSlice.union([.sequenceParameterSet, .pictureParameterSet]), .sei, slice.union(.sei), .delimiter,
        slice.union(.delimiter),
      ])
  }

  /// Both packagings give the same for whole access units.
  @Test(arguments: packagings) func describesWholeAccessUnits(_ packaging: NALPackaging) throws {
    var scanner = scanner(packaging)
    scanner.listsNALUnits = true
    let sei = seiNALUnit([(.recoveryPoint, [0xC4])])
    let prefixLength = 4
    for (index, unit) in [[sei] + sets + [sei, idr], [next], [idr, [0x0A], [0x0B]]].enumerated() {
      let bytes = stream(unit, packaging)
      #expect(scanner.next(in: bytes.span, isMarked: true, isDraining: false) == .accessUnit(bytes.count))
      let found = scanner.takeAccessUnit()
      #expect(found.nalUnitCount == unit.count && found.pictureCount == 1 && found.end == bytes.count)
      #expect(found.slice?.isIDR == (index != 1) && found.slice?.firstMacroblock == 0)
      #expect(found.nalUnits.map(\.range.count) == unit.map(\.count))
      #expect(found.nalUnits.allSatisfy { $0.range.lowerBound - $0.start == prefixLength })
      #expect(found.contents.isSuperset(of: [.slice, .pictureStart, .accessUnitStart, .accessUnitEnd]))
      #expect(found.contents.contains(.endOfSequence) == (index == 2))
      #expect(found.seiOffset == (index == 0 ? 0 : nil) && found.seiNALUnits.count == (index == 0 ? 2 : 0))
      let idrOffset = bytes.count - idr.count - prefixLength
      #expect(
        found.randomAccessOffset == [idrOffset, nil, 0][index] && found.parameterSetOffset == [0, nil, 0][index])
      #expect(!found.holdsStartCodes && found.dropped.isEmpty)
    }
    #expect(scanner.errors == ScannerErrors() && scanner.hasSeenRecoveryPoint)
  }

  /// A seek in the middle of a packet: what comes next is an access unit of its own.
  @Test(arguments: packagings) func aSeekWithinAnAccessUnitBeginsANewOne(_ packaging: NALPackaging) {
    for cutsNALUnits in [false, true] {
      var scanner = scanner(packaging, cutsNALUnits: cutsNALUnits)
      let unit = stream(sets + [idr], packaging)
      #expect(scanner.next(in: unit.span, isMarked: true, isDraining: false).size > 0)
      scanner.resetPosition()
      #expect(scanner.isBetweenAccessUnits && scanner.accessUnitContents.isEmpty)
      #expect(scanner.takeAccessUnit().nalUnitCount == 0)
      #expect(scanner.next(in: unit.span, isMarked: true, isDraining: false).size > 0)
      let found = scanner.takeAccessUnit()
      #expect(found.contents.isSuperset(of: [.accessUnitStart, .sequenceParameterSet]))
      #expect(found.nalUnitCount == (cutsNALUnits ? 1 : 3))
    }
  }

  /// A seek after a packet with a bad length: the next packet is whole.
  @Test func aPacketAfterASeekIsNotBroken() {
    var scanner = scanner(.lengthPrefixed(.four))
    let unit = stream(sets + [idr], .lengthPrefixed(.four))
    let broken = unit + [0, 1, 0, 0, 9]
    #expect(scanner.next(in: broken.span, isMarked: true, isDraining: false) == .accessUnit(unit.count))
    scanner.resetPosition()
    #expect(scanner.next(in: unit.span, isMarked: true, isDraining: false) == .accessUnit(unit.count))
    // A first length that is bad leaves nothing that can be used.
    let nothing: [UInt8] = [0, 1, 0, 0, 9]
    #expect(scanner.next(in: nothing.span, isMarked: true, isDraining: false) == .unusable(5))
    #expect(scanner.errors.lengths == 2)
  }

  /// Start codes inside a packet are reported once, and of each access unit.
  @Test func reportsStartCodesInPacketsOnce() {
    var scanner = scanner(.lengthPrefixed(.four))
    let both = stream(sets + [idr + [0, 0, 1] + next], .lengthPrefixed(.four))
    let plain = stream([next], .lengthPrefixed(.four))
    var found: [Bool] = []
    for unit in [plain, both, plain, both] {
      _ = scanner.next(in: unit.span, isMarked: true, isDraining: false)
      found.append(scanner.takeAccessUnit().holdsStartCodes)
    }
    #expect(found == [false, true, false, true])
    var received = 0
    for case .startCodes in scanner.takeNotices() { received += 1 }
    #expect(received == 1)
  }

  /// An unreadable slice begins a picture where none has begun.
  @Test(arguments: packagings) func anUnreadableSliceBeginsAPicture(_ packaging: NALPackaging) throws {
    var scanner = scanner(packaging, cutsNALUnits: true)
    for set in sets { scanner.store(set.span) }
    let unreadable = MinimalStream.slice(isIDR: true, pps: 9)
    var rest = stream([unreadable, unreadable], packaging)
    for isFirst in [true, false] {
      let size = scanner.next(in: rest.span, isMarked: true, isDraining: false).size
      let contents = scanner.takeAccessUnit().contents
      let isMarked = contents.contains(.pictureStart)
      #expect(contents.contains(.unreadableSlice) && contents.contains(.idr))
      #expect(isMarked == isFirst || packaging == .annexB)
      rest.removeFirst(size)
    }
    #expect(scanner.errors.slices == 2)
  }

  /// A start code of four bytes belongs to the NAL unit behind it, also where the data ended before it.
  @Test(arguments: [[0, 0, 1], [0, 0, 0, 1]] as [[UInt8]]) func longStartCodesBelongToTheNextNALUnit(
    _ startCode: [UInt8]
  ) {
    var scanner = H264.AccessUnitScanner()
    scanner.inputAlignment = .nalUnits
    scanner.listsNALUnits = true
    var bytes: [UInt8] = []
    for nalUnit in sets + [idr] {
      bytes += startCode + nalUnit
      #expect(scanner.next(in: bytes.span, isMarked: false, isDraining: false) == .needsMoreData)
    }
    let size = bytes.count
    bytes += startCode + next
    #expect(scanner.next(in: bytes.span, isMarked: false, isDraining: false) == .accessUnit(size))
    let found = scanner.takeAccessUnit()
    #expect(found.end == size && found.nalUnits.allSatisfy { $0.range.lowerBound - $0.start == startCode.count })
    let rest = Array(bytes[size...])
    #expect(scanner.next(in: rest.span, isMarked: true, isDraining: false) == .accessUnit(rest.count))
    #expect(scanner.takeAccessUnit().nalUnits.map(\.start) == [0])
  }

  /// A stream that begins with any start code, byte by byte, and with what is no NAL unit.
  @Test(arguments: [[], [0], [0, 0], [7], [7, 0]] as [[UInt8]]) func findsTheFirstStartCode(_ garbage: [UInt8]) {
    let bytes = garbage + [0, 0, 1] + sets[0] + [0, 0, 1] + sets[1] + [0, 0, 1] + idr
    var scanner = H264.AccessUnitScanner()
    var (begin, found) = (0, [Int]())
    for end in 1...bytes.count {
      while begin < end {
        let finding = scanner.next(
          in: bytes.span.extracting(begin..<end), isMarked: false, isDraining: end == bytes.count)
        guard finding.size > 0 else { break }
        if case .accessUnit(let size) = finding { found.append(size) }
        begin += finding.size
      }
    }
    #expect(begin == bytes.count && found.count == 1)
    #expect(scanner.takeAccessUnit().nalUnitCount == 3 && scanner.errors == ScannerErrors())
  }

  /// A prefix NAL unit goes with its slice, and with no later access unit.
  @Test func sendsAPrefixOnce() {
    let prefix: [UInt8] = [0x6E, 0xC0, 0x80, 0x07, 0x80]
    let units = [sets + [idr], [prefix, next], [[0x09, 0xF0], next], [[0x09, 0xF0], next]]
    let bytes = MinimalStream.annexB(units.flatMap { $0 })
    var scanner = H264.AccessUnitScanner()
    scanner.listsNALUnits = true
    var (begin, counts) = (0, [Int]())
    while begin < bytes.count {
      let finding = scanner.next(in: bytes.span.extracting(begin...), isMarked: false, isDraining: true)
      guard finding.size > 0 else { break }
      counts.append(scanner.takeAccessUnit().nalUnits.count)
      begin += finding.size
    }
    #expect(counts == [3, 2, 2, 2])
  }

  /// A seek while parameter sets are looked for: the search begins anew too.
  @Test func aSeekRestartsTheSearchForParameterSets() {
    var scanner = H264.AccessUnitScanner()
    let long = MinimalStream.annexB([idr + [UInt8](repeating: 0x55, count: 200)])
    #expect(scanner.next(in: long.span, isMarked: false, isDraining: false) == .needsMoreData)
    scanner.resetPosition()
    let group = [idr] + sets + [next]
    let bytes = MinimalStream.annexB(group) + [0, 0, 0, 1]
    let finding = scanner.next(in: bytes.span, isMarked: false, isDraining: false)
    #expect(finding == .accessUnit(4 + idr.count))
    #expect(scanner.takeAccessUnit().slice?.isIDR == true)
    var late = 0
    for case .lateParameterSets in scanner.takeNotices() { late += 1 }
    #expect(late == 1)
  }

  /// Slices before an unreadable PPS are kept, when they may be; without any PPS they are not.
  @Test(arguments: [false, true]) func keepsSlicesBeforeAnUnreadablePPS(_ spares: Bool) {
    let sps = MinimalStream.sps()
    for (set, isKept) in [([0x68, 0x00, 0x01], spares), ([0x67, 66], false)] as [([UInt8], Bool)] {
      var scanner = scanner(.lengthPrefixed(.four))
      scanner.sparesUnreadablePictureParameterSets = spares
      scanner.store(sps.span)
      #expect(!scanner.store(set.span) && scanner.errors.parameterSets == 1)
      let unit = MinimalStream.prefixed([idr])
      let finding = scanner.next(in: unit.span, isMarked: true, isDraining: false)
      #expect(finding == (isKept ? .accessUnit(unit.count) : .unusable(unit.count)))
      #expect(scanner.errors.missingParameterSets == (isKept ? 0 : 1))
      // Forgotten with the parameter sets.
      scanner.removeParameterSets()
      #expect(scanner.lastSequenceParameterSetID == nil && !scanner.hasParameterSets)
      scanner.store(sps.span)
      #expect(scanner.next(in: unit.span, isMarked: true, isDraining: false) == .unusable(unit.count))
    }
  }
}
