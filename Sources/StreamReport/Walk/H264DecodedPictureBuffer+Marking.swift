// SPDX-License-Identifier: MPL-2.0
package import H26x

extension H264DecodedPictureBuffer {
  /// Stores "non-existing" frames for the missing ones in front of a picture (8.2.5.2): only the last
  /// `max_num_ref_frames`, which replace the others.
  ///
  /// - Parameters:
  ///   - slice: of the picture.
  ///   - previous: `PrevRefFrameNum`.
  ///   - capacity: the most frames of the buffer.
  package mutating func fillGap(
    before slice: H264.SliceHeader, after previous: UInt32, _ sps: H264.SequenceParameterSet, capacity: Int
  ) {
    let distance = slice.frameNumber(after: previous, sps)
    guard distance > 1 else { return }
    let mask = sps.frameNumberMask
    let filled = min(distance - 1, UInt32(max(1, sps.maximumReferenceFrames)))
    for step in (1...filled).reversed() {
      let number = (slice.frameNumber &- step) & mask
      wrap(to: number, maximum: mask + 1)
      slide(limit: Int(sps.maximumReferenceFrames))
      var frame = Frame(frameNumber: number, fields: Fields.both, top: 0, bottom: 0, exists: false)
      frame.shortTerm = Fields.both
      _ = store(frame, isSecondField: false, capacity: capacity)
    }
  }

  /// Performs a memory management control operation (8.2.5.4).
  ///
  /// - Parameters:
  ///   - slice: of the picture that has it.
  ///   - frame: the picture.
  ///   - joins: whether it is the second field of a reference.
  /// - Returns: whether the picture that the operation names is there.
  package mutating func perform(
    _ operation: H264.ReferenceSyntax.ReferenceMarking.Operation, of slice: H264.SliceHeader, _ frame: inout Frame,
    joins: Bool
  ) -> Bool {
    let current = slice.fields
    switch operation.code {
    case 1:
      guard let found = shortTerm(operation.pictureNumber(slice), current: current) else { return false }
      unmarkShortTerm(found)
    case 2:
      guard let found = longTerm(Int64(operation.first), current: current) else { return false }
      unmarkLongTerm(found)
    case 3:
      guard let found = shortTerm(operation.pictureNumber(slice), current: current) else { return false }
      makeLongTerm(found, as: operation.second)
    case 4: limitLongTerm(to: operation.first)
    case 5: unmarkAll()
    case 6:
      (frame.shortTerm, frame.longTerm, frame.longTermIndex) = (0, current, operation.first)
      freeLongTerm(operation.first, exceptLast: joins)
    default: break
    }
    return true
  }

  /// Stores a picture that need not be output.
  ///
  /// - Parameter capacity: the most frames of the buffer.
  package mutating func storeReference(_ frame: Frame, isSecondField: Bool, capacity: Int) {
    _ = store(frame, isSecondField: isSecondField, capacity: capacity)
  }
}

extension H264.ReferenceSyntax.ReferenceMarking.Operation {
  /// The picture number that operations 1 and 3 name (8-39), against `CurrPicNum`.
  package func pictureNumber(_ slice: H264.SliceHeader) -> Int64 {
    (slice.isField ? 2 * Int64(slice.frameNumber) + 1 : Int64(slice.frameNumber)) - Int64(first) - 1
  }
}

extension H264.SliceHeader {
  /// The fields of the picture, as a bit set of `H264DecodedPictureBuffer.Fields`.
  package var fields: UInt8 {
    typealias Fields = H264DecodedPictureBuffer.Fields
    return !isField ? Fields.both : isBottomField ? Fields.bottom : Fields.top
  }

  /// How far `frame_num` is from that of a picture before, modulo its range (7.4.3).
  package func frameNumber(after previous: UInt32, _ sps: borrowing H264.SequenceParameterSet) -> UInt32 {
    (frameNumber &- previous) & sps.frameNumberMask
  }
}

extension H264.SequenceParameterSet {
  /// `MaxFrameNum` less 1.
  package var frameNumberMask: UInt32 { (UInt32(1) << UInt32(log2MaximumFrameNumber & 31)) - 1 }
}
