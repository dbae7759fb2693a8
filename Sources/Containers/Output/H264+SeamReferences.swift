// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

extension H264 {
  static var continuation: (any SeamContinuing<H264>)? { SeamReferences() }

  /// The reference pictures behind a seam in front of a recovery point, up to the next IDR picture.
  ///
  /// Decoders have the encoded pictures of the seam and "non-existing" frames (8.2.5.2), not the pictures that the source
  /// has in front of the recovery point. Marking operations that name others are removed. All copied pictures stay
  /// references as long as in the source.
  struct SeamReferences: SeamContinuing {
    typealias Codec = H264
    typealias Marking = ReferenceSyntax.ReferenceMarking

    /// "Existing" frames are copied ones.
    private var buffer = H264DecodedPictureBuffer()
    /// `PrevRefFrameNum`.
    private var previousFrameNumber: UInt32 = 0

    mutating func next(
      _ accessUnit: MediaOutput.AccessUnit, _ packaging: NALPackaging, _ sets: ParameterSets
    ) throws(SeamObstacle) -> (bytes: [UInt8], removedCount: Int)? {
      let bytes = accessUnit.bytes.span
      let ranges = packaging.nalUnits(of: bytes)
      let first = ranges.first { H264.role(of: bytes.extracting($0)) == .slice }
      guard let first else { return nil }
      do throws(BitstreamError) {
        let (slice, syntax) = try SliceHeader.withReferences(nalUnit: bytes.extracting(first), parameterSets: sets)
        guard let sps = sets.sequenceParameterSet(slice.sequenceParameterSetID) else { return nil }
        let old = syntax?.marking
        let new = mark(
          slice, old, sps, isSecondField: accessUnit.role.isSecondField, isCopied: accessUnit.disposition != .encoded)
        // libavcodec has "non-existing" frames in the lists of B pictures, with order counts of its own.
        guard slice.sliceType != .b || !hasGap else { throw BitstreamError(.unsupported, "frame_num", bitOffset: 0) }
        guard new != old else { return nil }
        var edited: [UInt8] = []
        let rewriter = SliceRewriter(from: sets, to: sets)
        for range in ranges {
          let nalUnit = bytes.extracting(range)
          if H264.role(of: nalUnit) == .slice {
            let rewritten = try rewriter.rewritten(nalUnit) { $0.references.marking = new }
            try packaging.append(rewritten.span, to: &edited)
          } else {
            try packaging.append(nalUnit, to: &edited)
          }
        }
        return (edited, max(0, Self.count(old) - Self.count(new)))
      } catch {
        guard error.reason != .unsupported else { throw .recoveryPoint }
        // A damaged picture is copied as it is.
        return nil
      }
    }

    /// Whether a "non-existing" frame is behind a copied one: one for a leading picture that was encoded.
    private var hasGap: Bool {
      let references = buffer.frames.filter(\.isReference)
      return references.drop { !$0.exists }.contains { !$0.exists }
    }

    private static func count(_ marking: Marking?) -> Int {
      if case .adaptive(let operations) = marking { operations.count } else { 0 }
    }

    // MARK: Marking

    /// Marks a picture and those before it (8.2.5).
    ///
    /// - Returns: the marking of the picture without operations that name pictures which are not there.
    private mutating func mark(
      _ slice: SliceHeader, _ marking: Marking?, _ sps: SequenceParameterSet, isSecondField: Bool, isCopied: Bool
    ) -> Marking? {
      let distance = slice.frameNumber(after: previousFrameNumber, sps)
      if slice.isIDR {
        buffer.clear()
      } else if !isSecondField, distance > 1 {
        buffer.fillGap(before: slice, after: previousFrameNumber, sps, capacity: .max)
        previousFrameNumber = (slice.frameNumber &- 1) & sps.frameNumberMask
      }
      buffer.wrap(to: slice.frameNumber, maximum: sps.frameNumberMask + 1)
      guard slice.isReference else { return marking }
      var frame = H264DecodedPictureBuffer.Frame(
        frameNumber: slice.frameNumber, fields: slice.fields, top: 0, bottom: 0, exists: isCopied)
      frame.shortTerm = slice.fields
      let joins =
        isSecondField && buffer.frames.last.map { $0.isReference && $0.fields & frame.fields == 0 } ?? false
      let limit = max(1, Int(sps.maximumReferenceFrames))
      var new = marking
      switch marking {
      case .idr(_, let isLongTerm):
        if isLongTerm { (frame.shortTerm, frame.longTerm) = (0, slice.fields) }
      case .adaptive(let operations):
        new = perform(operations, slice, &frame, joins: joins, limit: limit)
      default:
        if !joins { buffer.slide(limit: limit) }
      }
      if marking?.hasOperation5 == true { frame.frameNumber = 0 }
      previousFrameNumber = frame.frameNumber
      buffer.store(frame, isSecondField: isSecondField)
      return new
    }

    private mutating func perform(
      _ operations: [Marking.Operation], _ slice: SliceHeader, _ frame: inout H264DecodedPictureBuffer.Frame,
      joins: Bool, limit: Int
    ) -> Marking {
      var kept: [Marking.Operation] = []
      for operation in operations where !makesOtherLongTerm(operation, slice) {
        if buffer.perform(operation, of: slice, &frame, joins: joins) { kept.append(operation) }
      }
      // Pictures that the source does not have may take the place of copied ones.
      var (added, slides): ([Marking.Operation], Bool) = ([], kept.isEmpty)
      while buffer.referenceCount + (joins ? 0 : 1) > limit, let other = oldest(where: { !$0.exists }) {
        if !added.isEmpty || other != oldest(where: { _ in true }) { slides = false }
        added += Self.operations(unmarking: buffer.frames[other], slice)
        buffer.unmarkShortTerm((other, H264DecodedPictureBuffer.Fields.both))
      }
      guard !added.isEmpty || kept.count < operations.count else { return .adaptive(operations) }
      return slides ? .slidingWindow : .adaptive(added + kept)
    }

    /// Whether an operation makes a picture long-term that is not copied (8.2.5.2).
    private func makesOtherLongTerm(_ operation: Marking.Operation, _ slice: SliceHeader) -> Bool {
      guard operation.code == 3 else { return false }
      let found = buffer.shortTerm(operation.pictureNumber(slice), current: slice.fields)
      return found.map { !buffer.frames[$0.index].exists } ?? false
    }

    /// The place of the short-term frame with the lowest `FrameNumWrap`.
    private func oldest(where isWanted: (H264DecodedPictureBuffer.Frame) -> Bool) -> Int? {
      buffer.frames.indices.filter { buffer.frames[$0].shortTerm != 0 && isWanted(buffer.frames[$0]) }
        .min { buffer.frames[$0].wrapped < buffer.frames[$1].wrapped }
    }

    /// Operations that unmark a frame, or both of its fields (8.2.4.1).
    private static func operations(
      unmarking frame: H264DecodedPictureBuffer.Frame, _ slice: SliceHeader
    ) -> [Marking.Operation] {
      let distance = UInt32(clamping: Int64(slice.frameNumber) - frame.wrapped)
      guard slice.isField else { return [.init(code: 1, first: max(1, distance) - 1)] }
      return [.init(code: 1, first: max(1, 2 * distance) - 1), .init(code: 1, first: 2 * distance)]
    }
  }
}
