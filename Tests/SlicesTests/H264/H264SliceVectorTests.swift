// SPDX-License-Identifier: MPL-2.0

import Foundation
import H26x
import Slices
import TestSupport
import Testing

/// The slices of a byte stream with the parameter sets in front of each, in pictures.
struct SlicesOfStream {
  struct Slice {
    let nalUnit: [UInt8]
    let sets: H264.ParameterSets
    let header: H264.SliceHeader
    /// Whether it begins a picture (7.4.1.2.4).
    let isFirst: Bool
  }

  private(set) var slices: [Slice] = []

  init(_ nalUnits: [[UInt8]]) {
    var sets = H264.ParameterSets()
    var last: H264.SliceHeader?
    for nalUnit in nalUnits {
      guard let header = try? H264.NALUnitHeader(nalUnit.span) else { continue }
      if header.type.isParameterSet { _ = try? sets.insert(nalUnit.span) }
      guard H264.SliceReader.reads(header.type),
        let slice = try? H264.SliceHeader(nalUnit: nalUnit.span, parameterSets: sets)
      else { continue }
      slices.append(
        Slice(nalUnit: nalUnit, sets: sets, header: slice, isFirst: last.map { slice.beginsPicture(after: $0) } ?? true)
      )
      last = slice
    }
  }
}

extension H264.SliceHeader {
  fileprivate func beginsPicture(after last: H264.SliceHeader) -> Bool {
    frameNumber != last.frameNumber || pictureParameterSetID != last.pictureParameterSetID || isField != last.isField
      || isBottomField != last.isBottomField || isReference != last.isReference || isIDR != last.isIDR
      || idrPictureID != last.idrPictureID || pictureOrderCountLSB != last.pictureOrderCountLSB
      || deltaPictureOrderCountBottom != last.deltaPictureOrderCountBottom
      || deltaPictureOrderCount0 != last.deltaPictureOrderCount0
      || deltaPictureOrderCount1 != last.deltaPictureOrderCount1
  }
}

/// Types and QPs as libavcodec prints them.
private struct PrintingVisitor: H264.MacroblockVisitor {
  static var wantsValues: Bool { true }
  static var wantsBits: Bool { false }
  var cells: [Int: String] = [:]
  let width: Int
  /// 0 in frames, 1 in top fields, 2 in bottom fields.
  let field: Int
  let qpOffset: Int

  mutating func visit(_ macroblock: borrowing H264.Macroblock) {
    let row = field == 0 ? macroblock.row : 2 * macroblock.row + field - 1
    let qp = macroblock.kind == .pcm ? 0 : Int(macroblock.lumaQP) + qpOffset
    let type =
      switch macroblock.kind {
      case .intra4x4, .intra8x8, .switchingIntra: "i"
      case .intra16x16: "I"
      case .pcm: "P"
      case .predictedSkip: "S"
      case .directSkip: "d"
      case .direct: "D"
      case .inter16x16: "X "
      case .inter16x8: "X-"
      case .inter8x16: "X|"
      case .inter8x8: "X+"
      }
    cells[row * width + macroblock.column] = "\(qp)\(type)"
  }
}

@Suite(.enabled(if: Vectors.isAvailable)) struct H264SliceVectorTests {
  /// Vectors with damage or without parameter sets.
  private static let damaged: Set = [
    "h264/membrane_input-10-no-pps-sps.h264", "h264/sps_subsetsps_bothVUI.264",
  ]

  @Test(arguments: Vectors.byteStreams(codec: "h264").filter { !damaged.contains($0) })
  func endsWhereItMust(_ file: String) throws {
    let stream = SlicesOfStream(try Vectors.nalUnits(file))
    #expect(!stream.slices.isEmpty)
    var reader = H264.SliceReader()
    var end: (block: Int, size: Int, isInOrder: Bool)?
    for (number, slice) in stream.slices.enumerated() {
      if slice.isFirst {
        if let end, end.isInOrder { #expect(end.block == end.size, "The picture before slice \(number) is not full") }
        reader.beginPicture()
        let sps = try #require(slice.sets.sequenceParameterSet(slice.header.sequenceParameterSetID))
        let pps = try #require(slice.sets.pictureParameterSet(slice.header.pictureParameterSetID))
        let size = sps.widthInMacroblocks * sps.heightInMacroblocks / (slice.header.isField ? 2 : 1)
        end = (0, size, pps.sliceGroups == nil)
      }
      do throws(SliceDamage) {
        let extent = try reader.verify(slice.nalUnit.span, parameterSets: slice.sets)
        if let last = end, last.isInOrder { #expect(extent.firstBlock == last.block, "Slice \(number)") }
        end?.block = extent.endBlock
      } catch {
        Issue.record("Slice \(number): \(error)")
      }
    }
  }

  /// FFmpeg, which prints types and QPs; nil if it is not installed.
  private static let ffmpeg: URL? = ["/usr/bin/ffmpeg", "/usr/local/bin/ffmpeg"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }.map { URL(fileURLWithPath: $0) }

  /// CAVLC and CABAC, frames, fields and MBAFF, PCM, monochrome, 4:2:2 and 4:4:4, ten bits.
  @Test(
    .enabled(if: ffmpeg != nil),
    arguments: TestScope.rows(
      [
        "FRExt1_Panasonic.avc", "HCAFR3_HHI.264", "HCAMFF1_HHI.264", "FRExt4_Panasonic.avc", "FREXT01_JVC_D.264",
        "HPCVMOLQ_BRCM_B.264", "freh11.264", "freh6.264", "BASQP1_Sony_C.jsv",
        "goh264_high10_deblock444_cavlc_idrp.h264",
        "goh264_high10_weighted422_cabac_b.h264", "ydt_demo_10_frames_TransformBypassModeFlag.h264",
        "ydt_demo_10_frames_cavlc_and_interlace.h264", "PPH10I3_Panasonic_A.264",
      ], usually: 6)) func typesAndQPsAreThoseOfFFmpeg(_ name: String) throws
  {
    let file = "h264/\(name)"
    var pictures: [(cells: [Int: String], field: Int)] = []
    var reader = H264.SliceReader()
    for slice in SlicesOfStream(try Vectors.nalUnits(file)).slices {
      let field = slice.header.isField ? (slice.header.isBottomField ? 2 : 1) : 0
      if slice.isFirst {
        reader.beginPicture()
        // The second field joins the first one.
        if let last = pictures.last, last.field + field == 3 {
          pictures[pictures.count - 1].field = 4
        } else {
          pictures.append(([:], field))
        }
      }
      let sps = try #require(slice.sets.sequenceParameterSet(slice.header.sequenceParameterSetID))
      var visitor = PrintingVisitor(
        width: sps.widthInMacroblocks, field: field, qpOffset: 6 * (Int(sps.lumaBitDepth) - 8))
      _ = try reader.read(slice.nalUnit.span, parameterSets: slice.sets, visitor: &visitor)
      pictures[pictures.count - 1].cells.merge(visitor.cells) { first, _ in first }
    }
    let ours = pictures.map { picture in
      picture.cells.keys.sorted().map { picture.cells[$0, default: ""] }.joined(separator: " ")
    }
    // In output order there.
    #expect(ours.sorted() == (try Self.printed(file)).sorted())
  }

  /// The tables of all pictures that FFmpeg prints.
  private static func printed(_ file: String) throws -> [String] {
    let process = Process()
    let program: URL = try #require(ffmpeg)
    process.executableURL = program
    let path = try #require(Vectors.path(file))
    // Its statistics of progress would come in the middle of lines.
    process.arguments = [
      "-hide_banner", "-nostats", "-threads", "1", "-debug", "qp+mb_type", "-flags", "+output_corrupt", "-i", path,
      "-f", "null",
      "-",
    ]
    let output = Pipe()
    process.standardError = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    // Pictures are printed while the file is opened, too, by another decoder. The last one counts.
    var pictures: [Substring: [[String]]] = [:]
    var last: Substring = ""
    for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
      guard line.hasPrefix("[h264 @ "), let end = line.firstIndex(of: "]") else { continue }
      let decoder = line[..<end]
      let text = line[end...].dropFirst(2)
      if text.hasPrefix("New frame") {
        pictures[decoder, default: []].append([])
        last = decoder
      } else if let count = pictures[decoder]?.count, let cells = Self.cells(text) {
        pictures[decoder]?[count - 1] += cells
      }
    }
    return pictures[last, default: []].map { $0.joined(separator: " ") }
  }

  /// The cells of a row: five characters for each macroblock, two of them its QP.
  private static func cells(_ text: Substring) -> [String]? {
    let characters = Array(text.utf8)
    guard characters.count >= 5, characters.count % 5 == 0 else { return nil }
    var cells: [String] = []
    for start in stride(from: 0, to: characters.count, by: 5) {
      let qp = String(decoding: characters[start..<(start + 2)], as: UTF8.self).drop { $0 == " " }
      guard let number = Int(qp) else { return nil }
      let (type, shape) = (
        Character(UnicodeScalar(characters[start + 2])), Character(UnicodeScalar(characters[start + 3]))
      )
      switch type {
      case "P", "A", "i", "I", "d", "D", "S": cells.append("\(number)\(type)")
      case "<", ">", "X": cells.append("\(number)X\(shape)")
      default: return nil
      }
    }
    return cells
  }
}
