// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

@testable import H26x

/// A stream whose pictures have HDR10+ and RPUs with their numbers in the order of presentation.
struct NumberedStream: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let codec: FormatDescription.Codec
  /// The stream without metadata.
  private let source: @Sendable () throws -> Data
  /// The suffixes of the containers that it goes through.
  let containers: [String]

  private init(_ name: String, _ containers: [String], codec: FormatDescription.Codec? = nil) {
    self.init(name, codec ?? (name.hasSuffix("h265") ? .h265 : .h264), containers) {
      try Data(contentsOf: Program.media.appending(path: name))
    }
  }

  private init(
    _ name: String, _ codec: FormatDescription.Codec, _ containers: [String],
    _ source: @escaping @Sendable () throws -> Data
  ) { (testDescription, self.codec, self.containers, self.source) = (name, codec, containers, source) }

  static let clip = NumberedStream("clip.h265", ["mp4", "mkv", "ts"])

  /// B-pyramids, open GOPs, fields of both codecs, and several sequences.
  static let all = [
    clip, NumberedStream("clip.h264", ["mov", "mkv", "ts"]), NumberedStream("open-gop.h265", ["mp4"]),
    NumberedStream("open-gop.h264", ["mkv"]), NumberedStream("interlaced.h265", ["mp4"]),
    NumberedStream("interlaced.h264", ["ts"]),
    NumberedStream("fields", .h264, ["mp4"]) { FieldStream.make(frames: 16) },
    NumberedStream("sequences", .h265, ["mp4"]) {
      let stream = try Data(contentsOf: Program.media.appending(path: "open-gop.h265"))
      return stream + [0, 0, 0, 1] + [H265.NALUnitType.endOfSequence.rawValue << 1, 1] + stream
    },
  ]

  var suffix: String { codec == .h264 ? "h264" : "h265" }

  /// Writes `plain` and `made`, and returns how many pictures they have.
  func write(in folder: Folder) async throws -> Int {
    let plain = try source()
    try folder.write("plain.\(suffix)", plain)
    let ranks = try await Self.ranks("plain.\(suffix)", folder)
    try folder.write("made.\(suffix)", Data(try numbered([UInt8](plain), ranks)))
    return ranks.count
  }

  /// The numbers in the order of presentation, by the picture order counts that `inspect` lists.
  private static func ranks(_ name: String, _ folder: Folder) async throws -> [Int] {
    let list = try await Program.run(["inspect", "--json", name], in: folder.url)
    try #require(list.status == 0, "\(list.said)")
    let places = try list.text.split(separator: "\n").compactMap { line -> (sequence: Int, order: Int)? in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      guard object?["kind"] as? String == "accessUnit", let sequence = object?["sequence"] as? Int,
        let order = object?["poc"] as? Int
      else { return nil }
      return (sequence, order)
    }
    var ranks = [Int](repeating: 0, count: places.count)
    for (rank, number) in places.indices.sorted(by: { places[$0] < places[$1] }).enumerated() { ranks[number] = rank }
    return ranks
  }

  /// Adds the NAL units of each picture.
  private func numbered(_ bytes: [UInt8], _ ranks: [Int]) throws -> [UInt8] {
    var (stream, number, hasSlice) = ([UInt8](), -1, false)
    func append(_ nalUnit: [UInt8]) { stream += [0, 0, 0, 1] + nalUnit }
    func endPicture() throws {
      if hasSlice { append(try rpu(ranks[number])) }
      hasSlice = false
    }
    for range in NALPackaging.annexB.nalUnits(of: bytes.span) {
      let (isSlice, beginsPicture, isSuffix) = kind(Array(bytes[range]))
      if !isSlice && !isSuffix || beginsPicture { try endPicture() }
      if beginsPicture {
        number += 1
        try #require(ranks.indices.contains(number))
        append(try hdr10Plus(ranks[number]))
      }
      hasSlice = hasSlice || isSlice
      append(Array(bytes[range]))
    }
    try endPicture()
    return stream
  }

  private func kind(_ nalUnit: [UInt8]) -> (isSlice: Bool, beginsPicture: Bool, isSuffix: Bool) {
    switch codec {
    case .h264:
      let isSlice = [1, 5].contains(nalUnit[0] & 31)
      return (isSlice, isSlice && nalUnit[1] & 0x80 != 0, false)
    case .h265:
      let type = H265.NALUnitType(headerByte: nalUnit[0])
      return (type.isSlice, type.isSlice && nalUnit[2] & 0x80 != 0, type == .suffixSEI)
    }
  }

  // MARK: Messages

  /// `average_maxrgb` of a picture.
  static func average(_ rank: Int) -> Int { 1000 + rank }

  func hdr10Plus(_ rank: Int) throws -> [UInt8] {
    let message = try Self.metadata(rank).userData()
    return codec == .h265
      ? AddedMetadata.sei(message) : seiNALUnit([(type: .userDataRegistered, payload: message.payload)])
  }

  static func metadata(_ rank: Int) -> HDR10PlusMetadata {
    var window = HDR10PlusMetadata.Window()
    window.maximumComponents = [1, 2, 3]
    window.averageMaximum = UInt32(average(rank))
    window.distribution = [.init(percentage: 1, luminance: 7), .init(percentage: 99, luminance: 100_000)]
    window.toneMapping = .init(kneePointX: 100, kneePointY: 200, anchors: [300, 600])
    return HDR10PlusMetadata(windows: [window], targetedMaximumLuminance: 400)
  }

  /// An RPU with a number behind its structures.
  func rpu(_ rank: Int) throws -> [UInt8] {
    let plain = try AddedMetadata.rpu(profile: 8)
    // Without zero bytes, so that all RPUs have one size.
    let content = plain.dropFirst(2).dropLast(5) + [0x55, UInt8(rank >> 7) | 0x80, UInt8(rank & 127) | 0x80]
    let sum = CRC32.mpeg2(content.dropFirst())
    var writer = BitWriter()
    writer.append(codec == .h264 ? [0x7C] : [0x7C, 0x01])
    writer.append(content + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) } + [0x80])
    try #require(DolbyVision.RPU(nalUnit: writer.bytes.span, codec: codec).hasValidCRC)
    return writer.bytes
  }

  /// The RPUs of all pictures as dovi_tool writes them.
  func rpuFile(count: Int) throws -> Data {
    var file = Data()
    for rank in 0..<count { file += [0, 0, 0, 1] + (try rpu(rank)).dropFirst(codec == .h264 ? 1 : 2) }
    return file
  }

  /// The NAL units of a byte stream.
  static func nalUnits(_ stream: Data?) -> [[UInt8]] {
    let bytes = [UInt8](stream ?? Data())
    return NALPackaging.annexB.nalUnits(of: bytes.span).map { Array(bytes[$0]) }
  }
}
