// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Follows which pictures can be referred to, by reference picture sets (8.3.2), in decoding order.
  ///
  /// A plain value no larger than a decoded picture buffer. Lost pictures are those in a set that never came.
  public struct ReferencePictures: Sendable {
    /// A picture's POC and its references.
    public struct Use: Sendable, Hashable {
      /// Its picture order count.
      public let order: PictureOrderCount
      /// The pictures that it may refer to and that are there, by the numbers given to ``next(_:_:sps:number:)``.
      public let references: [UInt64]
      /// The POCs of those that it may refer to and that are missing; `Int32.min` if only low bits are known.
      public let missing: [Int32]
      /// Whether there is a picture with its POC already: it was sent twice.
      public let isRepeated: Bool
    }

    private struct Picture: Sendable {
      let order: Int32
      let number: UInt64
    }

    private var counter = PictureOrderCounter()
    private var pictures: [Picture] = []

    /// Creates it for the start of a bitstream.
    public init() {}

    /// The pictures that later ones may refer to, by their numbers.
    public var numbers: [UInt64] { pictures.map { $0.number } }

    /// An end of sequence or bitstream follows the last picture.
    public mutating func endSequence() { counter.endSequence() }

    /// Removes a picture that could not be decoded.
    public mutating func remove(_ number: UInt64) { pictures.removeAll { $0.number == number } }

    /// Takes the next picture in decoding order.
    ///
    /// Skipped (``PictureOrderCount/isSkipped``) and repeated pictures are not kept.
    ///
    /// - Parameters:
    ///   - slice: its first slice segment.
    ///   - syntax: that segment's reference picture sets.
    ///   - sps: its SPS.
    ///   - number: a number for the picture; nil if later ones will not be able to refer to it.
    public mutating func next(
      _ slice: SliceSegmentHeader, _ syntax: ReferenceSyntax, sps: borrowing SequenceParameterSet, number: UInt64?
    ) -> Use {
      let order = counter.next(slice, sps: sps)
      // An IRAP picture that begins a sequence empties the buffer, regardless of its sets.
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
      // If two have the same POC, the first is decoded.
      if isRepeated {
        return Use(order: order, references: references, missing: missing, isRepeated: true)
      }
      pictures = kept
      if let number { pictures.append(Picture(order: order.picture, number: number)) }
      return Use(order: order, references: references, missing: missing, isRepeated: false)
    }

    /// The POC of a long-term entry (7-52, 8-5); nil if only its low bits are sent.
    private static func order(of entry: ReferenceSyntax.LongTerm, from current: Int32, _ mask: Int32) -> Int32? {
      guard let cycles = entry.cyclesBefore else { return nil }
      let distance = Int32(truncatingIfNeeded: cycles) &* (mask &+ 1)
      return current &- distance &- (current & mask) &+ Int32(truncatingIfNeeded: entry.pictureOrderCountLSB)
    }
  }
}
