// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x
import StreamReport

/// Reads a part of each picture in decoding order, and takes these parts in the order of presentation.
protocol PresentedPart: Sendable {
  /// The part of a picture.
  associatedtype Part: Sendable
  /// Takes the NAL units of a configuration record.
  mutating func insert<Codec: StreamEditing>(_ nalUnits: [[UInt8]], _ codec: Codec.Type)
  /// Reads the next access unit in decoding order.
  ///
  /// - Parameter previous: the part of the access unit before; `nil` for the first one. Something in front of the first
  ///   slice may belong to it.
  mutating func read<Codec: StreamEditing>(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, _ place: AccessUnitPlace, after previous: inout Part?,
    _ codec: Codec.Type
  ) throws(Failure) -> Part
  /// Takes the next picture in the order of presentation.
  mutating func take(_ part: Part, of picture: PresentedPicture) throws(Failure)
  /// Takes the part of an access unit without a picture, which belongs to no other.
  mutating func takeStray(_ part: Part, of accessUnit: AccessUnitPlace) throws(Failure)
  /// All pictures were taken.
  mutating func finish() throws(Failure)
}

extension PresentedPart {
  mutating func insert<Codec: StreamEditing>(_: [[UInt8]], _: Codec.Type) {}
  mutating func finish() {}
}

/// A picture in the order of presentation.
struct PresentedPicture: Sendable {
  /// Its number in the order of presentation, from 0, and whether it is a field.
  let picture: PresentationRanks.Picture
  /// The place of its access unit.
  let place: AccessUnitPlace
}

/// Puts parts of pictures into the order of presentation. It holds those of the last pictures only.
struct PresentationListing<Target: PresentedPart>: AccessUnitListing {
  private(set) var target: Target
  private var reader = CodecReader()
  private var queue = PresentationQueue<Held>()
  private var fields = PresentedFieldPairing()
  /// The last access unit, to whose part the next one may add.
  private var last: Held?
  /// Pictures so far.
  private(set) var count = 0

  private struct Held: Sendable {
    /// `nil` without a picture.
    var picture: PresentationPlace?
    var codec: FormatDescription.Codec
    var place: AccessUnitPlace
    var part: Target.Part
  }

  init(_ target: Target) { self.target = target }

  mutating func add<Codec: StreamEditing>(_ nalUnits: [[UInt8]], _ codec: Codec.Type) {
    reader.insert(nalUnits, codec)
    target.insert(nalUnits, codec)
  }

  mutating func add<Codec: StreamEditing>(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, _ place: AccessUnitPlace, _ codec: Codec.Type
  ) throws(Failure) {
    let picture = reader.read(accessUnit, packaging, codec)
    var previous = last?.part
    let part = try target.read(accessUnit, packaging, place, after: &previous, codec)
    if let previous { last?.part = previous }
    try passLast()
    last = Held(picture: picture, codec: Codec.codec, place: place, part: part)
  }

  private mutating func passLast() throws(Failure) {
    guard let held = last else { return }
    last = nil
    guard let picture = held.picture else { return try target.takeStray(held.part, of: held.place) }
    if let first = queue.add(held, sequence: picture.sequence, order: picture.order) { try pass(first) }
  }

  private mutating func pass(_ held: Held) throws(Failure) {
    let picture = PresentationRanks.Picture(
      rank: count, isField: held.picture?.isField == true, isSecondField: isSecondField(held))
    count += 1
    try target.take(held.part, of: PresentedPicture(picture: picture, place: held.place))
  }

  private mutating func isSecondField(_ held: Held) -> Bool {
    guard let picture = held.picture, picture.isField else {
      fields.takeFrame()
      return false
    }
    return switch held.codec {
    case .h264: picture.isSecondField
    case .h265: fields.isSecond(picture.field)
    }
  }

  mutating func finish() throws(Failure) {
    try passLast()
    for held in queue.finish() { try pass(held) }
    try target.finish()
  }
}

/// A reader of either codec.
private struct CodecReader: Sendable {
  private var h264 = PresentationReader<H264>()
  private var h265 = PresentationReader<H265>()

  mutating func insert<Codec: StreamEditing>(_ nalUnits: [[UInt8]], _: Codec.Type) {
    switch Codec.codec {
    case .h264: h264.insert(nalUnits)
    case .h265: h265.insert(nalUnits)
    }
  }

  mutating func read<Codec: StreamEditing>(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, _: Codec.Type
  ) -> PresentationPlace? {
    switch Codec.codec {
    case .h264: h264.read(accessUnit, packaging)
    case .h265: h265.read(accessUnit, packaging)
    }
  }
}

extension InputFile {
  /// Reads a part of each picture of the whole file.
  ///
  /// - Throws: a `Failure` without a picture.
  func reading<Part: PresentedPart>(_ part: Part) async throws(Failure) -> Part {
    var edit = VideoEdit([], source: name)
    edit.listing = PresentationListing(part)
    edit = try await trying(edit)
    try Interruption.check()
    guard let listing = edit.listing as? PresentationListing<Part>, listing.count > 0 else { throw Failure(noVideo) }
    return listing.target
  }
}
