// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Follows which pictures are there to be referred to, as reference picture sets tell (8.3.2), in decoding order.
  ///
  /// A plain value that holds no more than a decoded picture buffer does. What a set names and nobody has sent is how
  /// lost pictures are noticed.
  public struct ReferencePictures: Sendable {
    /// A picture's place in order, and what it refers to.
    public struct Use: Sendable, Hashable {
      /// Where it stands in output order.
      public let order: PictureOrderCount
      /// The pictures that it may refer to and that are there, by the numbers that they were given.
      public let references: [UInt64]
      /// The picture order counts of those that it may refer to and that are not there; `Int32.min` where only the low
      /// bits of one are known.
      public let missing: [Int32]
      /// Whether a picture with its picture order count is there already: it was sent twice.
      public let isRepeated: Bool
    }

    private struct Picture: Sendable {
      let order: Int32
      let number: UInt64
    }

    private var counter = PictureOrderCounter()
    private var pictures: [Picture] = []

    /// As it is at the start of a bitstream.
    public init() {}

    /// The pictures that later ones may refer to, by their numbers.
    public var numbers: [UInt64] { pictures.map { $0.number } }

    /// Takes note of an end of sequence or bitstream behind the picture before.
    public mutating func endSequence() { counter.endSequence() }

    /// A picture that was taken is not there after all: it did not decode.
    public mutating func remove(_ number: UInt64) { pictures.removeAll { $0.number == number } }

    /// Takes the next picture in decoding order.
    ///
    /// A skipped picture (``PictureOrderCount/isSkipped``) and one that is repeated are not kept.
    ///
    /// - Parameters:
    ///   - slice: its first slice segment.
    ///   - syntax: what that segment says of references.
    ///   - sps: the SPS it uses.
    ///   - number: what the picture is to be called; nil where it will not be there for others.
    public mutating func next(
      _ slice: SliceSegmentHeader, _ syntax: ReferenceSyntax, sps: borrowing SequenceParameterSet, number: UInt64?
    ) -> Use {
      let order = counter.next(slice, sps: sps)
      // An IRAP picture that begins a sequence empties the buffer, whatever its sets name.
      if order.resetsPOC { pictures.removeAll(keepingCapacity: true) }
      guard !order.isSkipped else {
        return Use(order: order, references: [], missing: [], isRepeated: false)
      }
      let isRepeated = pictures.contains { $0.order == order.picture }
      var references: [UInt64] = []
      var kept: [Picture] = []
      var missing: [Int32] = []
      func take(isUsed: Bool, _ picture: Picture?, _ wanted: Int32) {
        if let picture { kept.append(picture) }
        guard isUsed else { return }
        if let picture { references.append(picture.number) } else { missing.append(wanted) }
      }
      if !order.resetsPOC {
        for entry in syntax.shortTerm.before + syntax.shortTerm.after {
          let wanted = order.picture &+ entry.delta
          take(isUsed: entry.isUsed, pictures.first { $0.order == wanted }, wanted)
        }
        let mask = (Int32(1) << Int32(min(sps.log2MaximumPictureOrderCount, 16))) - 1
        for entry in syntax.longTerm {
          let wanted = Self.order(of: entry, from: order.picture, mask)
          let lsb = Int32(truncatingIfNeeded: entry.pictureOrderCountLSB)
          let picture = pictures.first { picture in
            wanted.map { $0 == picture.order } ?? (picture.order & mask == lsb)
          }
          take(isUsed: entry.isUsed, picture, wanted ?? Int32.min)
        }
      }
      // The first of two with the same count is the one that decodes.
      if isRepeated {
        return Use(order: order, references: references, missing: missing, isRepeated: true)
      }
      pictures = kept
      if let number { pictures.append(Picture(order: order.picture, number: number)) }
      return Use(order: order, references: references, missing: missing, isRepeated: false)
    }

    /// The picture order count of a long-term entry (7-52, 8-5); nil where only its low bits are sent.
    private static func order(of entry: ReferenceSyntax.LongTerm, from current: Int32, _ mask: Int32) -> Int32? {
      guard let cycles = entry.cyclesBefore else { return nil }
      let distance = Int32(truncatingIfNeeded: cycles) &* (mask &+ 1)
      return current &- distance &- (current & mask) &+ Int32(truncatingIfNeeded: entry.pictureOrderCountLSB)
    }
  }
}
