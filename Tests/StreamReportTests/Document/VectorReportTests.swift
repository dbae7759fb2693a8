// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import StreamReport
import Testing

/// The conformance vectors; none where they are missing.
let vectors = media.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  .appending(path: "shared/vectors")

@Suite("Reports on vectors") struct VectorReportTests {
  /// Vectors with errors, and which: cut streams, and a NAL unit of no bytes.
  static let unsound: [String: [Rule]] = [
    "membrane_input-10-no-pps-sps.h264": [.missingParameterSet],
    "membrane_input-30-240p-vp-sps-pps.h264": [.unreadableParameterSet],
    "membrane_input-idr-sps-pps-non-idr.h264": [.missingParameterSet],
    "membrane_input-10-no-vps-sps-pps.h265": [.missingParameterSet],
    "androidx_sample_with_invalid_nalu.mp4": [.containerSample],
    "gst_h265-dsc-signed.h265": [.unknownLevel],
    // Columns of 128 samples in the Main profile.
    "g2b_tiles.h265": [.profileTool],
  ]

  /// Vectors with damaged slices: one is cut, and one comes from a fuzzer.
  static let damaged: Set = ["androidx_sample_with_invalid_nalu.mp4", "g2b_fuzz_bit_depth_change.h265"]

  /// Vectors with slices that break a limit, and which.
  static let beyondLimits: [String: Set<Rule>] = [
    // Up to 4564 bits a macroblock of 4:2:0, and 2726 and 2230 of 4:0:0, which allow 3200 and 2176.
    "HPCAQ2LQ_BRCM_B.264": [.blockBits],
    "HPCAMOLQ_BRCM_B.264": [.blockBits],
    "HPCVMOLQ_BRCM_B.264": [.blockBits],
    // 16,871 bins in 1,120 bytes, which allow 13,482.
    "cros_64x64-I-P-B-P-high.h264": [.binCount],
  ]

  static let files: [URL] = ["h264", "h265"].flatMap { folder in
    ((try? FileManager.default.contentsOfDirectory(
      at: vectors.appending(path: folder), includingPropertiesForKeys: nil)) ?? [])
      .filter { !["ts", "flv", "mkv"].contains($0.pathExtension) }.sorted { $0.path < $1.path }
  }

  @Test("Vectors have only known errors", arguments: files)
  func vectorsHaveOnlyKnownErrors(_ file: URL) throws {
    var reporter = try StreamReporter(BytesSource(file: file))
    var errors: Set<Rule> = []
    var lines = JSONLines()
    var count: UInt64 = 0
    while let item = reporter.next() {
      lines.append(item)
      switch item {
      case .finding(let finding): if finding.rule.severity == .error { errors.insert(finding.rule) }
      case .accessUnit: count += 1
      case .summary(let summary): #expect(summary.accessUnits == count)
      default: break
      }
    }
    #expect(errors == Set(Self.unsound[file.lastPathComponent] ?? []))
    #expect(count > 0)
    // Every line is an object of JSON.
    for line in lines.bytes.split(separator: 0x0A) {
      #expect(try JSONSerialization.jsonObject(with: Data(line)) is [String: Any])
    }
  }
}

extension VectorReportTests {
  @Test("Only damaged vectors have a finding in slice data", arguments: files)
  func onlyDamagedVectorsHaveAFindingInSliceData(_ file: URL) throws {
    var options = ReportOptions()
    options.readsSliceData = true
    var reporter = try StreamReporter(BytesSource(file: file), options: options)
    var findings: [Finding] = []
    var totals: SliceDataTotals?
    while let item = reporter.next() {
      switch item {
      case .finding(let finding): if finding.slicePlace != nil { findings.append(finding) }
      case .summary(let summary): totals = summary.sliceData
      default: break
      }
    }
    let limits: Set<Rule> = [.vectorDifference, .bipredictionSize, .blockBits, .binCount]
    let beyond = Set(findings.map(\.rule)).intersection(limits)
    #expect(beyond == Self.beyondLimits[file.lastPathComponent] ?? [], "\(findings)")
    findings.removeAll { limits.contains($0.rule) }
    #expect(findings.isEmpty != Self.damaged.contains(file.lastPathComponent), "\(findings)")
    let read = try #require(totals)
    #expect(read.slices + read.damaged + read.skipped > 0 && read.unsupported == 0)
  }
}

@Suite("The report's document") struct DocumentTests {
  @Test("The pictures of an MP4 with B-frames are listed with times, types and order")
  func listsPicturesOfAnMP4WithBFrames() throws {
    let items = try report(BytesSource(file: media.appending(path: "clip.mp4")).bytes)
    guard case .stream(let stream) = try #require(items.first) else {
      Issue.record("no stream in front")
      return
    }
    #expect(stream.codec == .h264 && stream.container == .mp4 && stream.lengthSize == 4)
    let units = items.compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
    #expect(units.count == 62)
    #expect(units[0].keyframe == .idr && units[0].letter == 0x49)
    // POCs and presentation times have the same order within each sequence.
    for (left, right) in zip(units, units.dropFirst()) where left.sequence == right.sequence {
      let (order, other) = (try #require(left.pictureOrderCount), try #require(right.pictureOrderCount))
      #expect((order < other) == (try #require(left.sample).pts < (try #require(right.sample)).pts))
    }
    #expect(units.contains { $0.letter == 0x42 && !$0.references.isEmpty })
  }

  @Test("Fields have name, value and place")
  func fieldsHaveNameValueAndPlace() throws {
    var options = ReportOptions()
    options.includesFields = true
    let items = try report(TestStream().bytes, options)
    var lines = JSONLines()
    for item in items { lines.append(item) }
    let text = String(decoding: lines.bytes, as: UTF8.self)
    #expect(text.contains(#"["profile_idc",77,8,8]"#))
    #expect(text.contains(#"["slice_type",2,"#))
    #expect(text.contains(#"["nal_unit_type",5,3,5]"#))
  }

  @Test("The document does not depend on the size of the pieces that are read")
  func documentDoesNotDependOnPieces() throws {
    /// Returns a few bytes at a time, as a pipe may.
    struct Dribble: ByteSource {
      let bytes: [UInt8]
      let step: Int
      var size: UInt64 { .max }
      mutating func read(at offset: UInt64, count: Int) -> [UInt8] {
        // The codec is detected from the first bytes as a whole.
        let most = offset == 0 ? 400 : step
        let start = min(Int(clamping: offset), bytes.count)
        return [UInt8](bytes[start..<min(bytes.count, start + min(count, most))])
      }
    }
    let bytes = TestStream().adding(.init(frameNumber: 1, order: 2, payload: 5000), .init(frameNumber: 2, order: 4))
      .bytes
    func lines(_ source: some ByteSource) throws -> [UInt8] {
      var reporter = try StreamReporter(source)
      var lines = JSONLines()
      while let item = reporter.next() { lines.append(item) }
      return Array(lines.bytes.drop { $0 != 0x0A })
    }
    let whole = try lines(BytesSource(bytes))
    for step in [1, 2, 3, 7, 64, 4096] { #expect(try lines(Dribble(bytes: bytes, step: step)) == whole) }
  }

  @Test("A file that is neither a byte stream nor MP4 is refused")
  func refusesUnknownFiles() {
    #expect(throws: ReportFailure.self) { try report([]) }
    #expect(throws: ReportFailure.self) { try report(Array("hello, world".utf8)) }
    #expect(throws: ReportFailure.self) { try report([0, 0, 0, 24, 0x66, 0x74, 0x79, 0x70, 0, 0]) }
  }

  @Test(
    "Another container is not taken for a raw stream",
    arguments: ["clip.ts", "clip-h265.ts", "clip.mkv", "clip.flv"])
  func doesNotTakeOtherContainersForRawStreams(_ name: String) throws {
    let source = try BytesSource(file: media.appending(path: name))
    #expect(throws: ReportFailure.self) { _ = try StreamReporter(source) }
  }
}
