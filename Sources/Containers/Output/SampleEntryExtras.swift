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
  /// Types of boxes that the stream has as messages.
  private let sentTypes: Set<FourCharacterCode>

  private static func codes(_ names: [StaticString]) -> Set<FourCharacterCode> {
    Set(names.map { FourCharacterCode($0) })
  }

  /// Boxes for encryption, which this does not remove, for bit rates, which a cut changes, and for padding.
  private static let notCopied = codes(["sinf", "rinf", "btrt", "free", "skip", "wide"])
  /// Boxes that libavformat reads, so other containers may have them in a form of their own.
  private static let translated =
    codes(["colr", "pasp", "fiel", "mdcv", "clli", "st3d", "sv3d"]).union(DolbyVisionEntry.boxTypes)
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
    repeated.map(\.property) + HDR10Metadata.all.map { .sei($0.message) } + [.metadata(.dolbyVision)]
  }

  /// HDR10's metadata that is no longer true in the container's copy of it.
  private let changedMetadata: [HDR10Metadata]
  /// Whether the source's configuration of Dolby Vision is no longer true.
  private let hasOtherDolbyVision: Bool

  /// - Parameters:
  ///   - source: the source's container.
  ///   - sent: the configuration of Dolby Vision by the stream, if the source has none or an edit changes it.
  ///   - ambientViewing: the content of `amve` by the stream.
  ///   - video: the copy's video.
  init(
    _ source: OtherStreams?, sent: DolbyVision.Configuration?, ambientViewing: [UInt8]?,
    _ video: MediaOutput.VideoFormat?
  ) {
    self.init(
      source?.sampleEntry?.coding, source?.boxes ?? [], stated: source?.dolbyVision, sent: sent,
      ambientViewing: ambientViewing, codec: video?.codec, editing: video?.edited ?? [],
      allowsInBandParameterSets: video?.allowsInBandParameterSets ?? false)
  }

  /// - Parameters:
  ///   - type: the type of the source's sample entry; `nil` if the source is neither MP4 nor MOV.
  ///   - sourceBoxes: its boxes.
  ///   - stated: the configuration of Dolby Vision by the source's container.
  ///   - sent: the configuration of Dolby Vision by the stream, if the source has none or an edit changes it.
  ///   - ambientViewing: the content of `amve` by the stream.
  ///   - properties: the properties that edits of the headers change.
  ///   - allowsInBandParameterSets: whether the copy's sample entry does.
  init(
    _ type: FourCharacterCode?, _ sourceBoxes: [MP4.VisualSampleDescription.WholeBox],
    stated: DolbyVision.Configuration?, sent: DolbyVision.Configuration?, ambientViewing: [UInt8]?,
    codec: FormatDescription.Codec?, editing properties: Set<StreamProperty>, allowsInBandParameterSets: Bool
  ) {
    changedMetadata = HDR10Metadata.all.filter { properties.contains(.sei($0.message)) }
    hasOtherDolbyVision = properties.contains(.metadata(.dolbyVision))
    let (type, stated) = hasOtherDolbyVision ? (nil, nil) : (type, stated)
    var outdated = Set(changedMetadata.map(\.box))
    if hasOtherDolbyVision { outdated.formUnion(DolbyVisionEntry.boxes(outdatedBy: sent)) }
    for box in sourceBoxes where !Self.notCopied.contains(box.type) && !outdated.contains(box.type) {
      if !Self.repeated.contains(where: { $0.boxes.contains(box.type) && properties.contains($0.property) }) {
        boxes.append(box)
      } else if !Self.rewritten.contains(box.type) {
        edited.append(box.type.name)
      }
    }
    let ambientBox = ambientViewing.map {
      MP4.VisualSampleDescription.WholeBox(type: FourCharacterCode("amve"), content: $0)
    }
    sentTypes = Set([ambientBox?.type].compactMap(\.self))
    if let ambientBox, !boxes.contains(where: { $0.type == ambientBox.type }) { boxes.append(ambientBox) }
    let hasOne = boxes.contains { DolbyVisionEntry.boxTypes.contains($0.type) }
    if let configuration = stated ?? sent, !hasOne { boxes.append(DolbyVisionEntry.box(configuration)) }
    let isDolbyVisionOnly =
      stated == nil && !hasOne && sent?.isIncompatible == true
      || type.map { DolbyVisionEntry.codings.contains($0) } ?? (stated?.isIncompatible == true)
    if isDolbyVisionOnly {
      coding = DolbyVisionEntry.coding(codec, allowsInBandParameterSets: allowsInBandParameterSets)
    }
  }

  /// Whether the sample entry gets a configuration of Dolby Vision.
  var hasDolbyVision: Bool { boxes.contains { DolbyVisionEntry.boxTypes.contains($0.type) } }

  /// The boxes that a sample entry lacks, given its other boxes.
  func missing(beside present: [MP4.VisualSampleDescription.WholeBox]) -> [UInt8] {
    let kinds = Set(present.map(Self.kind))
    return boxes.filter { !kinds.contains(Self.kind($0)) }.flatMap(\.bytes)
  }

  /// The source's box, which replaces the muxer's; `nil` to keep the muxer's box. libavformat writes zeros for the
  /// reserved bits of a Dolby Vision record.
  func replacement(of type: FourCharacterCode) -> [UInt8]? {
    guard DolbyVisionEntry.boxTypes.contains(type) else { return nil }
    return boxes.first { DolbyVisionEntry.boxTypes.contains($0.type) }?.bytes
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
    case let type where DolbyVisionEntry.boxTypes.contains(type): Kind(type: FourCharacterCode("dvcC"))
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
      .union(hasOtherDolbyVision ? [.dolbyVision] : [])
  }

  /// Types of boxes that have no counterpart outside of MP4 and MOV.
  var untranslated: [String] {
    boxes.map(\.type).reduce(into: []) { names, type in
      if !Self.translated.contains(type), !sentTypes.contains(type), !names.contains(type.name) {
        names.append(type.name)
      }
    }
  }
}

/// The sample entries and boxes of Dolby Vision (Dolby Vision Streams within the ISO Base Media File Format, 3).
private enum DolbyVisionEntry {
  static let boxTypes: Set = [FourCharacterCode("dvcC"), FourCharacterCode("dvvC"), FourCharacterCode("dvwC")]
  /// Configuration records of the enhancement layer.
  private static let layerBoxTypes: Set = [FourCharacterCode("hvcE"), FourCharacterCode("avcE")]

  /// The boxes that are not true beside a configuration; `nil` for none.
  static func boxes(outdatedBy configuration: DolbyVision.Configuration?) -> Set<FourCharacterCode> {
    configuration?.hasEnhancementLayer == true ? boxTypes : boxTypes.union(layerBoxTypes)
  }

  /// Sample entries whose pictures are not to be shown without Dolby Vision.
  static let codings: Set = [
    FourCharacterCode("dvh1"), FourCharacterCode("dvhe"), FourCharacterCode("dva1"), FourCharacterCode("dvav"),
  ]

  /// The sample entry for pictures that must not be shown without Dolby Vision; `nil` if there is none.
  static func coding(_ codec: FormatDescription.Codec?, allowsInBandParameterSets: Bool) -> FourCharacterCode? {
    switch (codec, allowsInBandParameterSets) {
    case (.h265, false): FourCharacterCode("dvh1")
    case (.h265, true): FourCharacterCode("dvhe")
    case (.h264, false): FourCharacterCode("dva1")
    case (.h264, true): FourCharacterCode("dvav")
    case (nil, _): nil
    }
  }

  static func box(_ configuration: DolbyVision.Configuration) -> MP4.VisualSampleDescription.WholeBox {
    .init(type: FourCharacterCode(configuration.boxType), content: configuration.bytes)
  }
}

/// HDR10's metadata and the ambient viewing environment in SEI messages, which containers repeat.
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
    Self(message: .ambientViewingEnvironment, box: FourCharacterCode("amve"), sideData: .ambientViewing),
  ]
}

extension RemovableMetadata {
  /// libavformat's side data for it.
  var sideData: [SideData.Kind] {
    switch self {
    case .captions, .hdr10Plus: []
    case .dolbyVision: [.dolbyVision]
    case .hdr10: [.masteringDisplay, .contentLight]
    }
  }
}
