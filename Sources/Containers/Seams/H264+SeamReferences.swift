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
    /// More frames than a legal stream refers to.
    private static let capacity = 32
    /// `PrevRefFrameNum`.
    private var previousFrameNumber: UInt32 = 0

    /// The numbers of the recovery point that became an IDR picture; `nil` if pictures keep their numbers.
    private var origin: Origin?
    /// Whether no picture is behind the recovery point yet.
    private var isAtStart = true
    /// The SPS does not allow the gap behind the recovery point.
    private var lacksGaps = false
    /// Whether a picture could not be read, so that the references behind it are not known.
    private var isDamaged = false

    private struct Origin {
      let frameNumber: UInt32
      let order: UInt32
    }

    /// A change of the slice headers of a picture.
    private struct Change {
      let marking: Marking?
      let origin: Origin?
      let sps: SequenceParameterSet
      /// `nil` if the picture does not become an IDR picture.
      var idrPictureID: UInt16?
      /// Of that picture.
      var isBottomField = false

      func apply(to values: inout SliceHeaderValues) throws(BitstreamError) {
        values.references.marking = marking
        if let origin {
          values.frameNumber = (values.frameNumber &- origin.frameNumber) & sps.frameNumberMask
          if case .leastSignificantBits(let count, let deltaBottom) = values.pictureOrder,
            case .leastSignificantBits(let log2Maximum) = sps.pictureOrderCountType
          {
            let mask = UInt32(1) << UInt32(log2Maximum & 31) - 1
            values.pictureOrder = .leastSignificantBits((count &- origin.order) & mask, deltaBottom: deltaBottom)
          }
        }
        guard let idrPictureID else { return }
        // A sample may have both fields. The second one of an IDR picture is none (3.30).
        guard values.isBottomField == isBottomField else {
          throw BitstreamError(.unsupported, "bottom_field_flag", bitOffset: 0)
        }
        values.makeIDR(id: idrPictureID)
      }
    }

    mutating func next(
      _ accessUnit: MediaOutput.AccessUnit, _ packaging: NALPackaging, _ sets: ParameterSets
    ) throws(SeamObstacle) -> (bytes: [UInt8], removedCount: Int)? {
      do throws(BitstreamError) {
        guard let first = try Self.first(accessUnit.bytes, packaging, sets) else { return nil }
        let (old, origin) = (first.marking, origin)
        let new = isDamaged ? old : try follow(first, accessUnit)
        if first.marking?.hasOperation5 == true { self.origin = nil }
        guard new != old || origin != nil else { return nil }
        let change = Change(marking: new, origin: origin, sps: first.sps)
        let edited = try Self.rewritten(accessUnit.bytes, packaging, sets, change)
        return (edited, max(0, Self.count(old) - Self.count(new)))
      } catch {
        // Decoders cannot read a damaged picture either, so it is copied as it is.
        guard error.reason != .unsupported else { throw lacksGaps ? .frameNumberGaps : .recoveryPoint }
        isDamaged = true
        return nil
      }
    }

    mutating func begin(
      _ accessUnit: MediaOutput.AccessUnit, _ packaging: NALPackaging, _ sets: ParameterSets, number: Int
    ) -> [UInt8]? {
      do throws(BitstreamError) {
        guard let first = try Self.first(accessUnit.bytes, packaging, sets), first.isPlain else { return nil }
        let (slice, marking, sps) = (first.slice, first.marking, first.sps)
        previousFrameNumber = slice.frameNumber
        _ = mark(slice, .slidingWindow, sps, isSecondField: false, isCopied: true)
        let earlier = Int64(slice.pictureOrderCountLSB) + min(0, Int64(slice.deltaPictureOrderCountBottom))
        let origin = Origin(frameNumber: slice.frameNumber, order: UInt32(truncatingIfNeeded: earlier))
        self.origin = origin
        // Encoded IDR pictures have higher ids.
        let id = UInt16.max - 3 - UInt16(truncatingIfNeeded: number % 2)
        // The rewriter refuses slices that are not intra.
        return try Self.rewritten(
          accessUnit.bytes, packaging, sets,
          Change(
            marking: marking, origin: origin, sps: sps, idrPictureID: id, isBottomField: slice.isBottomField))
      } catch { return nil }
    }

    /// The first slice of a picture.
    struct First {
      let slice: SliceHeader
      let marking: Marking?
      let sps: SequenceParameterSet

      /// Whether it can be the slice of an IDR picture, which is a short-term reference.
      fileprivate var isPlain: Bool {
        if case .cycle = sps.pictureOrderCountType { return false }
        guard slice.isReference, case .adaptive(let operations) = marking else { return slice.isReference }
        return !operations.contains { $0.code > 3 }
      }
    }

    /// The first slice of an access unit.
    static func first(
      _ bytes: [UInt8], _ packaging: NALPackaging, _ sets: ParameterSets
    ) throws(BitstreamError) -> First? {
      for range in packaging.nalUnits(of: bytes.span) {
        let nalUnit = bytes.span.extracting(range)
        guard H264.role(of: nalUnit) == .slice else { continue }
        let (slice, syntax) = try SliceHeader.withReferences(nalUnit: nalUnit, parameterSets: sets)
        guard let sps = sets.sequenceParameterSet(slice.sequenceParameterSetID) else { return nil }
        return First(slice: slice, marking: syntax?.marking, sps: sps)
      }
      return nil
    }

    /// An access unit with other slice headers.
    private static func rewritten(
      _ bytes: [UInt8], _ packaging: NALPackaging, _ sets: ParameterSets, _ change: Change
    ) throws(BitstreamError) -> [UInt8] {
      let rewriter = SliceRewriter(from: sets, to: sets)
      var edited: [UInt8] = []
      for range in packaging.nalUnits(of: bytes.span) {
        let nalUnit = bytes.span.extracting(range)
        guard H264.role(of: nalUnit) != .slice else {
          do throws(BitstreamError) {
            let slice = try rewriter.rewritten(nalUnit) { values throws(BitstreamError) in
              try change.apply(to: &values)
            }
            try packaging.append(slice.span, to: &edited)
          } catch {
            guard change.idrPictureID == nil, error.reason != .unsupported else { throw error }
            try packaging.append(nalUnit, to: &edited)
          }
          continue
        }
        // Those of views and auxiliary pictures have the numbers, too.
        let type = nalUnit.isEmpty ? .unspecified : NALUnitType(headerByte: nalUnit[0])
        guard change.origin == nil || type != .auxiliarySlice && !type.hasHeaderExtension else {
          throw BitstreamError(.unsupported, "nal_unit_type", bitOffset: 0)
        }
        try packaging.append(nalUnit, to: &edited)
      }
      return edited
    }

    /// Follows a picture.
    ///
    /// - Returns: its marking.
    private mutating func follow(
      _ first: First, _ accessUnit: MediaOutput.AccessUnit
    ) throws(BitstreamError) -> Marking? {
      let (slice, isSecondField) = (first.slice, accessUnit.role.isSecondField)
      if isAtStart, !isSecondField, !slice.isIDR, accessUnit.disposition != .encoded {
        isAtStart = false
        // Leading pictures are missing.
        let isGap = slice.frameNumber(after: previousFrameNumber, first.sps) > 1
        lacksGaps = isGap && !first.sps.allowsFrameNumberGaps
        guard !lacksGaps else { throw BitstreamError(.unsupported, "frame_num", bitOffset: 0) }
      }
      let new = mark(
        slice, first.marking, first.sps, isSecondField: isSecondField, isCopied: accessUnit.disposition != .encoded)
      // libavcodec has "non-existing" frames in the lists of B pictures, with order counts of its own.
      guard slice.sliceType != .b || !hasGap else { throw BitstreamError(.unsupported, "frame_num", bitOffset: 0) }
      return new
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
        buffer.fillGap(before: slice, after: previousFrameNumber, sps, capacity: Self.capacity)
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
        let added = isSecondField ? [] : unmarkStale(slice, sps)
        new = perform(operations, adding: added, slice, &frame, joins: joins, limit: limit)
      default:
        let added = isSecondField ? [] : unmarkStale(slice, sps)
        if !added.isEmpty {
          new = perform([], adding: added, slice, &frame, joins: joins, limit: limit)
        } else if !joins {
          buffer.slide(limit: limit)
        }
      }
      if marking?.hasOperation5 == true { frame.frameNumber = 0 }
      previousFrameNumber = frame.frameNumber
      buffer.storeReference(frame, isSecondField: isSecondField, capacity: Self.capacity)
      return new
    }

    /// Unmarks frames that the source does not have, before their numbers come again.
    ///
    /// - Returns: the operations.
    private mutating func unmarkStale(_ slice: SliceHeader, _ sps: SequenceParameterSet) -> [Marking.Operation] {
      let oldest = Int64(slice.frameNumber) - Int64(sps.frameNumberMask) * 3 / 4
      var operations: [Marking.Operation] = []
      for place in buffer.frames.indices {
        let frame = buffer.frames[place]
        guard !frame.exists, frame.shortTerm != 0, frame.wrapped <= oldest else { continue }
        operations += Self.operations(unmarking: frame, slice)
        buffer.unmarkShortTerm((place, H264DecodedPictureBuffer.Fields.both))
      }
      return operations
    }

    /// - Parameter stale: operations that were performed, and are added.
    private mutating func perform(
      _ operations: [Marking.Operation], adding stale: [Marking.Operation], _ slice: SliceHeader,
      _ frame: inout H264DecodedPictureBuffer.Frame, joins: Bool, limit: Int
    ) -> Marking {
      var kept: [Marking.Operation] = []
      for operation in operations where !makesOtherLongTerm(operation, slice) {
        if buffer.perform(operation, of: slice, &frame, joins: joins) { kept.append(operation) }
      }
      // Pictures that the source does not have may take the place of copied ones.
      var (added, slides) = (stale, kept.isEmpty && stale.isEmpty)
      while buffer.referenceCount + (joins ? 0 : 1) > limit, let other = oldest(where: { !$0.exists }) {
        if !added.isEmpty || other != oldest(where: { _ in true }) { slides = false }
        added += Self.operations(unmarking: buffer.frames[other], slice)
        buffer.unmarkShortTerm((other, H264DecodedPictureBuffer.Fields.both))
      }
      if !joins { buffer.slide(limit: limit) }
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
