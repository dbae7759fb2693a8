// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct H265ScannerTests {
  private struct Unit: Equatable {
    var size: Int
    var contents: AccessUnitContents
    var count: Int
  }

  /// The access units when the data grows by `step` bytes at a time.
  private func scan(_ stream: [UInt8], growing step: Int, _ scanner: inout H265.Scanner) -> [Unit] {
    var units: [Unit] = []
    var (begin, end) = (0, min(step, stream.count))
    while begin < stream.count {
      let finding = scanner.next(
        in: stream.span.extracting(begin..<end), isMarked: false, isDraining: end == stream.count)
      if case .needsMoreData = finding {
        guard end < stream.count else { break }
        end = min(end + step, stream.count)
        continue
      }
      let unit = scanner.takeAccessUnit()
      if case .accessUnit(let size) = finding {
        units.append(Unit(size: size, contents: unit.contents, count: unit.nalUnitCount))
      }
      begin += finding.size
      end = max(end, min(begin + 1, stream.count))
    }
    return units
  }

  private func stream(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }

  private let headers = [H265Samples.vps, H265Samples.plainSPS().nalUnit(), H265Samples.pps]

  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.rows(codec: "hevc", container: "annexb"))
  func cutsVectorsTheSameInPieces(_ row: Vectors.Row) throws {
    let stream = try Vectors.bytes(row.file)
    var scanner = H265.Scanner()
    let whole = scan(stream, growing: stream.count, &scanner)
    #expect(whole.count == row.accessUnits)
    guard stream.count < 30_000 else { return }
    var other = H265.Scanner()
    #expect(scan(stream, growing: 61, &other) == whole)
  }

  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.rows(codec: "hevc", container: "annexb"))
  func inspectsWhatTheScannerCuts(_ row: Vectors.Row) throws {
    let stream = try Vectors.bytes(row.file)
    var scanner = H265.Scanner()
    var inspector = H265.Inspector(nalLengthSize: nil)
    var begin = 0
    for unit in scan(stream, growing: stream.count, &scanner) {
      let bytes = stream.span.extracting(begin..<begin + unit.size)
      let info = inspector.inspect(bytes, packaging: .annexB, depth: .referenceMarking)
      #expect(info.error == nil && info.hasPicture)
      #expect(info.sliceType?.isRandomAccessPoint == unit.contents.contains(.randomAccess))
      #expect(info.isIntra == unit.contents.isIntra)
      begin += unit.size
    }
    if row.accessUnits > 0 { #expect(inspector.format?.codec == .h265) }
  }

  @Test func listsContentsOfAccessUnits() {
    var scanner = H265.Scanner()
    let units = scan(
      stream(
        [H265Samples.nalUnit(35)] + headers + [
          H265Samples.nalUnit(39), H265Samples.slice(.idrWithRADL), H265Samples.nalUnit(40),
          H265Samples.slice(.trailingN, count: 1), H265Samples.nalUnit(36), H265Samples.slice(.cra, count: 9),
          H265Samples.slice(.raslN, count: 8),
        ]), growing: 7, &scanner)
    #expect(units.map(\.count) == [7, 2, 1, 1])
    #expect(
      units[0].contents.isSuperset(of: [.delimiter, .parameterSets, .sei, .idr, .randomAccess, .reference, .iSlice]))
    #expect(units[1].contents.contains(.endOfSequence) && !units[1].contents.contains(.reference))
    #expect(units[2].contents.contains(.randomAccess) && !units[2].contents.contains(.idr))
    #expect(units[3].contents.contains(.skippedLeading))
    #expect(scanner.nalUnitCounts[21] == 1 && scanner.nalUnitCounts[32] == 1)
  }

  /// NAL unit types of RTP end an access unit and are dropped; Dolby Vision's are kept.
  @Test func dropsRTPTypesAndKeepsUnspecifiedOnes() {
    var scanner = H265.Scanner()
    let units = scan(
      stream(
        headers + [
          H265Samples.slice(.idrWithRADL), H265Samples.nalUnit(62), H265Samples.nalUnit(49), H265Samples.nalUnit(48),
          H265Samples.slice(.trailingR, count: 1),
        ]), growing: 1000, &scanner)
    #expect(units.map(\.count) == [5, 3])
    #expect(scanner.errors.nalUnits == 2)
    var foreign: [UInt8] = []
    for case .foreignType(let type) in scanner.takeNotices() { foreign.append(type.rawValue) }
    #expect(foreign == [49])
    #expect(scanner.nalUnitCounts[62] == 1)
  }

  /// An unreadable VPS is one notice and stays in its access unit.
  @Test func keepsAnUnreadableVPSWithOneNotice() {
    var scanner = H265.Scanner()
    let broken = Array(H265Samples.vps[..<8])
    let group = [broken] + headers.dropFirst() + [H265Samples.slice(.idrWithRADL)]
    let units = scan(stream(group + group), growing: 1000, &scanner)
    #expect(units.map(\.count) == [4, 4])
    #expect(units.allSatisfy { $0.size == stream(group).count })
    #expect(scanner.errors.parameterSets == 1 && scanner.errors.slices == 0)
    var received = 0
    for case .unreadableParameterSet(.videoParameterSet, _, _) in scanner.takeNotices() { received += 1 }
    #expect(received == 1)
    #expect(scanner.parameterSets.nalUnits.first == broken)
  }

  /// An SPS of another layer with the id of the base layer's is not taken for it.
  @Test func ignoresParameterSetsOfOtherLayers() {
    var scanner = H265.Scanner()
    let layered: [UInt8] = [0x42, 0x09, 0x0F, 0xC0, 0x80]
    let group =
      headers + [
        layered, H265Samples.slice(.idrWithRADL), layered, H265Samples.slice(.trailingR, layerID: 1),
      ]
    let units = scan(stream(group + group), growing: 1000, &scanner)
    #expect(units.map(\.count) == [7, 7])
    #expect(scanner.lastSequenceParameterSetID == 0 && scanner.errors == ScannerErrors())
  }

  /// Each field is a picture, because the two fields of a frame need not follow each other.
  @Test func eachFieldIsAPicture() throws {
    var sps = H265Samples.plainSPS()
    var vui = H265.VUIParameters()
    vui.isFieldSequence = true
    sps.vui = vui
    let sets = try H265Samples.store(sps)
    var reader = H265.PictureReader()
    let pictures = try [
      (H265.NALUnitType.idrWithRADL, UInt32(0)), (.trailingR, 1), (.trailingR, 4), (.trailingR, 5), (.trailingN, 2),
      (.trailingN, 3), (.cra, 255), (.trailingR, 0),
    ].map { type, count in
      let slice = try H265.SliceSegmentHeader(bytes: H265Samples.slice(type, count: count), sets)
      return reader.picture(slice, sps)
    }
    #expect(pictures.allSatisfy { !$0.isField && !$0.isSecondField } && sps.picturesPerFrame == 2)
    #expect(pictures.map(\.order) == [0, 1, 4, 5, 2, 3, -1, 0])
    reader.endSequence()
    let slice = try H265.SliceSegmentHeader(bytes: H265Samples.slice(.cra, count: 100), sets)
    let restart = reader.picture(slice, sps)
    #expect(restart.resetsPOC && restart.order == 100)
  }
}
