// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x

/// The order in which the pictures of a stream are shown. Both fields of a frame are pictures, unless they are in one
/// access unit.
struct PresentationRanks: Sendable {
  /// A picture in the order.
  struct Picture: Sendable, Hashable {
    /// Its number in the order of presentation, from 0.
    let rank: Int
    /// Whether it is a field, or the access unit has two.
    let isField: Bool
    /// Whether it is the second field of a frame: in decoding order for H.264, in this order for H.265.
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

  /// Adds the next picture in the order of presentation.
  mutating func add(_ picture: PresentedPicture) throws(Failure) {
    // Two bits of a rank have the properties.
    guard count < 1 << 29 else { throw Failure("more pictures than \(1 << 29)") }
    let (number, picture) = (picture.place.number, picture.picture)
    reserve(number)
    pictures[number] = UInt32(count) << 2 | (picture.isField ? 1 : 0) | (picture.isSecondField ? 2 : 0)
    count += 1
  }

  /// Makes room for an access unit, which has no picture so far.
  mutating func reserve(_ accessUnit: Int) {
    while pictures.count <= accessUnit { pictures.append(Self.none) }
  }
}

/// Ranks the pictures of a stream.
struct PresentationRanking: PresentedPart {
  private(set) var ranks = PresentationRanks()

  func read<Codec: StreamEditing>(
    _: Span<UInt8>, _: NALPackaging, _: AccessUnitPlace, after _: inout Void?, _: Codec.Type
  ) {}

  mutating func take(_: Void, of picture: PresentedPicture) throws(Failure) { try ranks.add(picture) }

  mutating func takeStray(_: Void, of accessUnit: AccessUnitPlace) { ranks.reserve(accessUnit.number) }
}

extension InputFile {
  /// Reads a whole file for the order in which its pictures are shown.
  ///
  /// - Throws: a `Failure` for a pipe, which cannot be read twice, and without a picture.
  func presentationRanks() async throws(Failure) -> PresentationRanks {
    try await surveyed(by: PresentationRanking()).ranks
  }

  /// Reads a whole file before it is edited.
  ///
  /// - Throws: a `Failure` for a pipe, which cannot be read twice, and without a picture.
  func surveyed<Part: PresentedPart>(by part: Part) async throws(Failure) -> Part {
    guard size != nil else {
      throw Failure(
        "\(name): inserting reads the input twice, which a pipe does not allow; save it to a file first")
    }
    return try await reading(part)
  }
}
