// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x
import StreamReport

/// The order in which the pictures of a stream are shown. Both fields of a frame are pictures, unless they are in one
/// access unit.
struct PresentationRanks: Sendable {
  /// A picture in the order.
  struct Picture: Sendable, Hashable {
    /// Its number in the order of presentation, from 0.
    let rank: Int
    /// Whether it is a field, or the access unit has two.
    let isField: Bool
    /// Whether it is the second field of the frame that the access unit before began.
    let isSecondField: Bool
  }

  /// By access unit: rank, and a bit for each property.
  private var pictures: [UInt32] = []
  /// How many there are.
  private(set) var count = 0
  private static var none: UInt32 { .max }

  /// Access units, with pictures and without.
  var accessUnitCount: Int { pictures.count }

  /// The picture of an access unit, by its number in decoding order; `nil` without one.
  subscript(accessUnit: Int) -> Picture? {
    guard pictures.indices.contains(accessUnit), pictures[accessUnit] != Self.none else { return nil }
    let picture = pictures[accessUnit]
    return Picture(rank: Int(picture >> 2), isField: picture & 1 != 0, isSecondField: picture & 2 != 0)
  }

  /// The numbers of the access units in the order of presentation.
  var accessUnits: [Int] {
    var accessUnits = [Int](repeating: 0, count: count)
    for number in pictures.indices { if let picture = self[number] { accessUnits[picture.rank] = number } }
    return accessUnits
  }

  /// The order of frames: that of pictures without second fields.
  var ofFrames: PresentationRanks {
    // By rank: whether it is a second field, then how many of these are in front of it.
    var before = [UInt32](repeating: 0, count: count)
    for number in pictures.indices { if let picture = self[number], picture.isSecondField { before[picture.rank] = 1 } }
    var sum: UInt32 = 0
    for rank in before.indices { (before[rank], sum) = (sum, sum + before[rank]) }
    var frames = self
    for number in pictures.indices {
      guard let picture = self[number] else { continue }
      frames.pictures[number] = picture.isSecondField ? Self.none : pictures[number] - before[picture.rank] << 2
    }
    frames.count -= Int(sum)
    return frames
  }

  fileprivate mutating func add(_ place: PresentationPlace?) {
    pictures.append(place.map { ($0.isField ? 1 : 0) | ($0.isSecondField ? 2 : 0) } ?? Self.none)
  }

  /// Gives the next rank to an access unit.
  fileprivate mutating func rank(_ accessUnit: Int) {
    guard pictures.indices.contains(accessUnit) else { return }
    pictures[accessUnit] |= UInt32(truncatingIfNeeded: count) << 2
    count += 1
  }
}

/// Ranks the pictures of a stream.
struct PresentationRanking: AccessUnitListing, PictureRanking {
  private(set) var ranks = PresentationRanks()
  private var reader = CodecReader()
  private var queue = PresentationQueue<Int>()

  mutating func add<Codec: StreamEditing>(_ nalUnits: [[UInt8]], _ codec: Codec.Type) { reader.insert(nalUnits, codec) }

  mutating func add<Codec: StreamEditing>(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, _ place: AccessUnitPlace, _ codec: Codec.Type
  ) throws(Failure) {
    let picture = reader.read(accessUnit, packaging, codec)
    ranks.add(picture)
    guard let picture else { return }
    if let first = queue.add(place.number, sequence: picture.sequence, order: picture.order) { ranks.rank(first) }
    // Two bits of a rank have the properties.
    guard ranks.count < 1 << 29 else { throw Failure("more pictures than \(1 << 29)") }
  }

  mutating func finish() { for accessUnit in queue.finish() { ranks.rank(accessUnit) } }
}

/// A reader of either codec.
struct CodecReader: Sendable {
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
  /// Reads a whole file for the order in which its pictures are shown.
  ///
  /// - Throws: a `Failure` for a pipe, which cannot be read twice.
  func presentationRanks() async throws(Failure) -> PresentationRanks {
    try await surveyed(by: PresentationRanking()).ranks
  }

  /// Reads a whole file before it is edited.
  ///
  /// - Throws: a `Failure` for a pipe, which cannot be read twice, and without a picture.
  func surveyed<Listing: AccessUnitListing & PictureRanking>(by listing: Listing) async throws(Failure) -> Listing {
    guard size != nil else {
      throw Failure(
        "\(name): inserting reads the input twice, which a pipe does not allow; save it to a file first")
    }
    var edit = VideoEdit([], source: name)
    edit.listing = listing
    edit = try await trying(edit)
    try Interruption.check()
    guard let listing = edit.listing as? Listing, listing.ranks.count > 0 else { throw Failure(noVideo) }
    return listing
  }
}

/// Something that knows the order in which pictures are shown.
protocol PictureRanking {
  var ranks: PresentationRanks { get }
}
