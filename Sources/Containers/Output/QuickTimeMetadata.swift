// SPDX-License-Identifier: MPL-2.0
import AVFormat
import StreamReport

/// The boxes within a `meta` box of QuickTime (QuickTime File Format, "Metadata Atom"): `hdlr`, `keys` and `ilst`, whose
/// items have the numbers of their keys as types.
struct QuickTimeMetadata {
  /// The boxes; empty for none.
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The boxes that are true of a copy too, without items that the muxer of the source wrote about itself.
  var kept: [UInt8] {
    let own = ownKeys
    guard !own.isEmpty else { return bytes }
    var (kept, boxes): ([UInt8], MP4.Boxes) = ([], MP4.Boxes(bytes.span, in: bytes.indices))
    while let box = boxes.nextIntact() {
      guard box.type == FourCharacterCode("ilst") else {
        kept += bytes[box.range]
        continue
      }
      var (content, items): ([UInt8], MP4.Boxes) = ([], MP4.Boxes(bytes.span, in: box.content))
      while let item = items.nextIntact() {
        if !own.contains(item.type.rawValue) { content += bytes[item.range] }
      }
      kept += MP4.VisualSampleDescription.WholeBox(type: box.type, content: content).bytes
    }
    return kept
  }

  /// The numbers of keys in ``MetadataDictionary/own``.
  private var ownKeys: Set<UInt32> {
    var boxes = MP4.Boxes(bytes.span, in: bytes.indices)
    guard let keys = boxes.firstIntact(FourCharacterCode("keys")) else { return [] }
    // Behind version, flags and count, each has its size, a namespace as type, and its name.
    let start = min(keys.content.lowerBound + 8, keys.content.upperBound)
    var (own, number): (Set<UInt32>, UInt32) = ([], 0)
    var entries = MP4.Boxes(bytes.span, in: start..<keys.content.upperBound)
    while let entry = entries.nextIntact() {
      number += 1
      if MetadataDictionary.own.contains(String(decoding: bytes[entry.content], as: UTF8.self)) { own.insert(number) }
    }
    return own
  }
}
