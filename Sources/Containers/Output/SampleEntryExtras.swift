// SPDX-License-Identifier: MPL-2.0
import AVFormat
import H26x
import StreamReport

/// The parts of the video's sample entry in MP4 and MOV that libavformat does not write.
struct SampleEntryExtras {
  /// The entry's type, in place of the muxer's; `nil` to keep that.
  private(set) var coding: FourCharacterCode?
  /// Boxes that are added unless the muxer has written one of their type.
  private(set) var boxes: [MP4.VisualSampleDescription.WholeBox] = []
  /// Boxes of the source that an edit of the headers makes wrong. They are left out, and listed for the user, except
  /// for HDR10's, which ``CopyComparison`` lists.
  private(set) var edited: [String] = []

  private static func codes(_ names: [StaticString]) -> Set<FourCharacterCode> {
    Set(names.map { FourCharacterCode($0) })
  }

  /// Boxes for encryption, which this does not remove, for bit rates, which a cut changes, and for padding.
  private static let notCopied = codes(["sinf", "rinf", "btrt", "free", "skip", "wide"])
  /// Boxes that libavformat reads, so other containers may have them in a form of their own.
  private static let translated =
    codes(["colr", "pasp", "fiel", "mdcv", "clli", "st3d", "sv3d", "dvcC", "dvvC", "dvwC"])
    .union(FormatLibrary.keepsGeometry ? codes(["clap"]) : [])
  /// Boxes that libavformat rewrites.
  private static let rewritten = codes(["colr", "pasp", "fiel"])

  /// Boxes that repeat a property of the stream, apart from HDR10's.
  private static let repeated: [(property: StreamProperty, boxes: Set<FourCharacterCode>)] = [
    (.colour, codes(["colr"])), (.shape, codes(["pasp"])), (.size, codes(["clap"])),
    (.layers, codes(["lhvC", "vexu", "hfov", "mvcC", "mvcP", "svcC"])),
  ]
  /// Properties of the stream that containers repeat.
  static var repeatedProperties: [StreamProperty] {
    repeated.map(\.property) + HDR10Metadata.all.map { .sei($0.message) }
  }

  /// HDR10's metadata that is no longer true in the container's copy of it.
  private let changedMetadata: [HDR10Metadata]

  /// - Parameters:
  ///   - entry: the source's sample entry; `nil` if the source is neither MP4 nor MOV.
  ///   - video: the source's video, as libavformat describes it.
  ///   - properties: the properties that edits of the headers change.
  ///   - allowsInBandParameterSets: whether the copy's sample entry does.
  init(
    _ entry: MP4.VisualSampleDescription?, _ video: StreamDescription?, editing properties: Set<StreamProperty>,
    allowsInBandParameterSets: Bool
  ) {
    changedMetadata = HDR10Metadata.all.filter { properties.contains(.sei($0.message)) }
    let light = changedMetadata.map(\.box)
    for box in entry?.otherBoxes ?? [] where !Self.notCopied.contains(box.type) && !light.contains(box.type) {
      if !Self.repeated.contains(where: { $0.boxes.contains(box.type) && properties.contains($0.property) }) {
        boxes.append(box)
      } else if !Self.rewritten.contains(box.type) {
        edited.append(box.type.name)
      }
    }
    let configuration = video?.sideData.first { $0.kind == .dolbyVision }.flatMap { DolbyVision($0.bytes) }
    let hasOne = boxes.contains { DolbyVision.boxTypes.contains($0.type) }
    if let configuration, !hasOne { boxes.append(configuration.box) }
    let isDolbyVisionOnly = entry.map { DolbyVision.codings.contains($0.coding) } ?? configuration?.isIncompatible
    if isDolbyVisionOnly == true {
      coding = DolbyVision.coding(video?.codecName, allowsInBandParameterSets: allowsInBandParameterSets)
    }
  }

  /// The boxes that a sample entry lacks, given its other boxes.
  func missing(beside present: [MP4.VisualSampleDescription.WholeBox]) -> [UInt8] {
    let kinds = Set(present.map(Self.kind))
    return boxes.filter { !kinds.contains(Self.kind($0)) }.flatMap(\.bytes)
  }

  /// A kind of box that a sample entry has only once.
  private struct Kind: Hashable {
    let type: FourCharacterCode
    /// The type within the box.
    var subtype: [UInt8] = []
  }

  private static func kind(_ box: MP4.VisualSampleDescription.WholeBox) -> Kind {
    switch box.type {
    case FourCharacterCode("uuid"): Kind(type: box.type, subtype: Array(box.bytes.dropFirst(8).prefix(16)))
    case FourCharacterCode("colr"):
      // ICC profiles; else the numbers of the colour, which QuickTime has under another name.
      Kind(type: box.type, subtype: box.bytes.dropFirst(8).prefix(3).elementsEqual("ncl".utf8) ? [] : [1])
    // A profile decides which of its names the box has.
    case let type where DolbyVision.boxTypes.contains(type): Kind(type: FourCharacterCode("dvcC"))
    default: Kind(type: box.type)
    }
  }

  /// Side data that the muxer must not describe: an edit has made it wrong, or boxes that are copied have it.
  ///
  /// FFmpeg 7.1's muxer writes it in another form beside boxes that are copied, which no player expects, and even if an
  /// edit has made it wrong.
  ///
  /// - Parameter copiesBoxes: whether boxes are added to the copy.
  func staleSideData(copiesBoxes: Bool) -> Set<SideData.Kind> {
    let names = edited + (copiesBoxes ? boxes.map(\.type.name) : [])
    let isRepeated = names.contains { ["st3d", "sv3d", "vexu"].contains($0) }
    return Set(changedMetadata.map(\.sideData)).union(isRepeated ? [.stereo3D, .spherical] : [])
  }

  /// Types of boxes that have no counterpart outside of MP4 and MOV.
  var untranslated: [String] {
    boxes.map(\.type).reduce(into: []) { names, type in
      if !Self.translated.contains(type), !names.contains(type.name) { names.append(type.name) }
    }
  }
}

/// The configuration of Dolby Vision (ETSI TS 103 572; Dolby Vision Streams within the ISO base media file format, 3).
private struct DolbyVision {
  static let boxTypes: Set = [FourCharacterCode("dvcC"), FourCharacterCode("dvvC"), FourCharacterCode("dvwC")]
  /// Sample entries whose pictures are not to be shown without Dolby Vision.
  static let codings: Set = [
    FourCharacterCode("dvh1"), FourCharacterCode("dvhe"), FourCharacterCode("dva1"), FourCharacterCode("dvav"),
  ]

  /// The sample entry for pictures that must not be shown without Dolby Vision; `nil` if there is none.
  static func coding(_ codec: String?, allowsInBandParameterSets: Bool) -> FourCharacterCode? {
    switch (codec, allowsInBandParameterSets) {
    case ("hevc", false): FourCharacterCode("dvh1")
    case ("hevc", true): FourCharacterCode("dvhe")
    case ("h264", false): FourCharacterCode("dva1")
    case ("h264", true): FourCharacterCode("dvav")
    default: nil
    }
  }

  /// dv_version_major, dv_version_minor, dv_profile, dv_level, rpu_present_flag, el_present_flag, bl_present_flag and
  /// dv_bl_signal_compatibility_id.
  private let fields: [UInt8]

  /// - Parameter record: libavutil's `AVDOVIDecoderConfigurationRecord`, a byte a field.
  init?(_ record: [UInt8]) {
    guard record.count >= 8 else { return nil }
    fields = Array(record.prefix(8))
  }

  /// The base layer is of no use without Dolby Vision: profile 5.
  var isIncompatible: Bool { fields[2] == 5 }

  var box: MP4.VisualSampleDescription.WholeBox {
    let (profile, level) = (UInt16(fields[2] & 0x7F), UInt16(fields[3] & 0x3F))
    let flags = UInt16(fields[4] & 1) << 2 | UInt16(fields[5] & 1) << 1 | UInt16(fields[6] & 1)
    let numbers = profile << 9 | level << 3 | flags
    let type: StaticString = profile > 10 ? "dvwC" : profile > 7 ? "dvvC" : "dvcC"
    let content =
      [fields[0], fields[1], UInt8(numbers >> 8), UInt8(numbers & 0xFF), fields[7] << 4]
      + [UInt8](repeating: 0, count: 19)
    return .init(
      type: FourCharacterCode(type), bytes: [0, 0, 0, UInt8(content.count + 8)] + Array("\(type)".utf8) + content)
  }
}

/// HDR10's metadata in SEI messages, which containers repeat.
struct HDR10Metadata {
  /// The SEI message that has it.
  let message: SEIPayloadType
  /// The box of a sample entry that has it.
  let box: FourCharacterCode
  /// libavformat's side data for it.
  let sideData: SideData.Kind

  static let all = [
    Self(message: .masteringDisplayColourVolume, box: FourCharacterCode("mdcv"), sideData: .masteringDisplay),
    Self(message: .contentLightLevel, box: FourCharacterCode("clli"), sideData: .contentLight),
  ]
}
