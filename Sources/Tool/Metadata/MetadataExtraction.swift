// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x

/// Reads captions, HDR10+ and Dolby Vision of each picture.
struct MetadataExtraction: PresentedPart {
  /// `nil` if they are not extracted.
  var captions: CaptionCollection?
  /// `nil` if it is not extracted.
  var hdr10Plus: HDR10PlusExtraction?
  /// `nil` if it is not extracted.
  var dolbyVision: DolbyVisionExtraction?
  /// The name of the file, for messages.
  let source: String
  private var codec = FormatDescription.Codec.h265

  init(source: String) { self.source = source }

  private var kinds: [RemovableMetadata] {
    (captions == nil ? [] : [.captions]) + (hdr10Plus == nil ? [] : [.hdr10Plus])
      + (dolbyVision == nil ? [] : [.dolbyVision])
  }

  mutating func insert<Codec: StreamEditing>(_ nalUnits: [[UInt8]], _ codec: Codec.Type) {
    captions?.insert(nalUnits, codec)
  }

  mutating func read<Codec: StreamEditing>(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, _ place: AccessUnitPlace,
    after previous: inout [FoundMetadata]?, _: Codec.Type
  ) -> [FoundMetadata] {
    codec = Codec.codec
    captions?.read(accessUnit, packaging, Codec.self)
    var found = Codec.metadata(kinds, in: accessUnit, packaging)
    // Behind an end of sequence, an RPU comes in front of the next picture's slices, but belongs to the picture before.
    if var last = previous, !last.contains(where: { $0.kind == .dolbyVision }),
      let index = found.firstIndex(where: { $0.kind == .dolbyVision && $0.isInFront })
    {
      last.append(found.remove(at: index))
      previous = last
    }
    return found
  }

  mutating func take(_ found: [FoundMetadata], of picture: PresentedPicture) throws(Failure) {
    try captions?.take(found.filter { $0.kind == .captions }, of: picture)
    try hdr10Plus?.take(found.filter { $0.kind == .hdr10Plus }, of: picture, source)
    try dolbyVision?.take(found.filter { $0.kind == .dolbyVision }, of: picture, codec, source)
  }

  mutating func takeStray(_ found: [FoundMetadata], of accessUnit: AccessUnitPlace) {
    captions?.strayCount += found.count { $0.kind == .captions }
  }

  mutating func finish() throws(Failure) {
    try hdr10Plus?.finish(source)
    try dolbyVision?.finish(source)
  }
}

/// Which messages are written for pictures that have none.
struct MessageGaps: Sendable {
  /// Pictures that have the message of the picture before, or of the first one that has any.
  private(set) var repeated = 0
  /// Messages so far, with repeated ones.
  private(set) var count = 0
  /// Pictures in front of the first message.
  private var leading = 0
  /// Whether second fields have messages; `nil` before the first second field.
  private var haveSecondFields: Bool?

  /// Takes a picture.
  ///
  /// - Parameter hasMessage: whether it has a message of its own.
  /// - Returns: how many times the last message is written, which is the picture's own if it has one.
  mutating func take(_ picture: PresentedPicture, hasMessage: Bool) -> Int {
    if picture.picture.isSecondField {
      let haveSecondFields = haveSecondFields ?? hasMessage
      self.haveSecondFields = haveSecondFields
      // A frame has one message then.
      if !haveSecondFields { return 0 }
    }
    guard hasMessage else {
      repeated += 1
      guard count > 0 else {
        leading += 1
        return 0
      }
      count += 1
      return 1
    }
    defer { leading = 0 }
    count += leading + 1
    return leading + 1
  }

  /// For the user; `nil` if all pictures have a message.
  var remark: String? {
    repeated == 0
      ? nil : "\(Text.count(repeated, "picture")) without one \(repeated == 1 ? "repeats" : "repeat") another's"
  }
}

extension PresentedPicture {
  /// A fault in its metadata.
  ///
  /// - Parameter remedy: the consequence of --force.
  func failure(
    _ source: String, _ metadata: FoundMetadata, _ found: String, expected: String, remedy: String
  ) -> Failure {
    Failure(
      "\(source): picture \(picture.rank) (access unit \(place.number), NAL unit at "
        + "\(place.offset + UInt64(metadata.offset))): \(metadata.kind.name): \(found); expected \(expected); "
        + "--force \(remedy)")
  }
}
