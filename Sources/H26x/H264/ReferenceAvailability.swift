// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Follows which reference pictures there are when decoding began at an intra picture that promises nothing: neither
  /// an IDR picture nor a recovery point. Later pictures may still refer to earlier ones.
  ///
  /// It is cautious: a picture whose reference lists (8.2.4) may reach beyond the start is taken for one whose do.
  package struct ReferenceAvailability: Sendable {
    private struct Reference: Sendable {
      var frameNumber: UInt32
      var order: Int32
      /// All its references were there.
      var isWhole: Bool
      var hasBothFields: Bool
    }

    /// Short-term reference frames since the start, the oldest first.
    private var references: [Reference] = []
    private var counter = PictureOrderCounter()

    /// Creates it for a stream that begins with the intra picture.
    package init() {}

    /// Takes the next picture in decoding order, the intra picture first.
    ///
    /// - Parameters:
    ///   - accessUnit: its bytes.
    ///   - packaging: how its NAL units are packaged.
    ///   - isSecondField: whether it is the second field of the picture before.
    ///   - parameterSets: the parameter sets so far.
    /// - Returns: whether all its references are there and whole.
    package mutating func next(
      _ accessUnit: Span<UInt8>, packaging: NALPackaging, isSecondField: Bool,
      parameterSets: borrowing ParameterSets
    ) -> Bool {
      var first: (slice: SliceHeader, marking: ReferenceSyntax.ReferenceMarking?)?
      var order: Int32 = 0
      var isWhole = true
      for range in packaging.nalUnits(of: accessUnit) {
        let nalUnit = accessUnit.extracting(range)
        guard nalUnit.count > 0 else { continue }
        switch NALUnitType(headerByte: nalUnit[0]) {
        case .slice, .slicePartitionA, .idrSlice: break
        default: continue
        }
        do throws(BitstreamError) {
          let (slice, syntax) = try SliceHeader.withReferences(nalUnit: nalUnit, parameterSets: parameterSets)
          guard slice.redundantPictureCount == 0,
            let sps = parameterSets.sequenceParameterSet(slice.sequenceParameterSetID)
          else { continue }
          if first == nil {
            first = (slice, syntax?.marking)
            order = counter.next(slice, sps: sps).picture
          }
          guard isWhole, !slice.sliceType.isIntra else { continue }
          isWhole = syntax.map { isThere(slice, $0, order: order, isSecondField: isSecondField, sps: sps) } ?? false
        } catch {
          isWhole = false
        }
      }
      guard let first, let sps = parameterSets.sequenceParameterSet(first.slice.sequenceParameterSetID) else {
        return false
      }
      if first.slice.isReference {
        mark(first.slice, first.marking, order: order, isWhole: isWhole, isSecondField: isSecondField, sps: sps)
      }
      return isWhole
    }

    // MARK: Reference lists

    private func isThere(
      _ slice: SliceHeader, _ syntax: ReferenceSyntax, order: Int32, isSecondField: Bool,
      sps: borrowing SequenceParameterSet
    ) -> Bool {
      // A buffer full of pictures since the start has no older ones.
      if references.count >= max(1, Int(sps.maximumReferenceFrames)), !references.contains(where: { !$0.isWhole }) {
        return true
      }
      guard isThere(syntax.modificationsList0, of: slice, sps: sps),
        isThere(syntax.modificationsList1, of: slice, sps: sps)
      else { return false }
      // Entries without a modification come from the front of the initial list.
      let needed0 = syntax.modificationsList0.count >= syntax.referenceCountList0 ? 0 : Int(syntax.referenceCountList0)
      guard slice.sliceType == .b else {
        return needed0 <= wholeCount(of: references.reversed(), slice, isSecondField: isSecondField)
      }
      let needed1 = syntax.modificationsList1.count >= syntax.referenceCountList1 ? 0 : Int(syntax.referenceCountList1)
      let past = references.filter { $0.order <= order }.sorted { $0.order > $1.order }
      let future = references.filter { $0.order > order }.sorted { $0.order < $1.order }
      // In list 0 older pictures may follow the past ones; list 1 continues with the past.
      return needed0 <= wholeCount(of: past, slice, isSecondField: isSecondField)
        && needed1 <= wholeCount(of: future + past, slice, isSecondField: isSecondField)
    }

    /// How many entries at the front of an initial list are whole: a field's lists hold fields.
    private func wholeCount(of references: [Reference], _ slice: SliceHeader, isSecondField: Bool) -> Int {
      var count = 0
      for reference in references {
        guard reference.isWhole else { break }
        count += slice.isField && reference.hasBothFields ? 2 : 1
      }
      return count
    }

    /// 8.2.4.3: whether every picture that the modifications put in front is there.
    private func isThere(
      _ modifications: [ReferenceSyntax.ListModification], of slice: SliceHeader, sps: borrowing SequenceParameterSet
    ) -> Bool {
      let shift: UInt32 = slice.isField ? 1 : 0
      let mask = (UInt32(1) << (UInt32(sps.log2MaximumFrameNumber & 31) + shift)) - 1
      var number = slice.isField ? 2 * slice.frameNumber + 1 : slice.frameNumber
      for modification in modifications {
        switch modification.operation {
        case 0: number = (number &- modification.value &- 1) & mask
        case 1: number = (number &+ modification.value &+ 1) & mask
        default: return false
        }
        guard references.contains(where: { $0.frameNumber == number >> shift && $0.isWhole }) else { return false }
      }
      return true
    }

    // MARK: Marking

    /// 8.2.5
    private mutating func mark(
      _ slice: SliceHeader, _ marking: ReferenceSyntax.ReferenceMarking?, order: Int32, isWhole: Bool,
      isSecondField: Bool, sps: borrowing SequenceParameterSet
    ) {
      var reference = Reference(
        frameNumber: slice.frameNumber, order: order, isWhole: isWhole, hasBothFields: !slice.isField)
      if case .adaptive(let operations) = marking {
        let mask = (UInt32(1) << UInt32(sps.log2MaximumFrameNumber & 31)) - 1
        for operation in operations {
          switch operation.code {
          case 1, 3:
            // A frame that loses one field no longer counts. Fields count by halves of frame_num (8.2.5.4.1).
            let distance = slice.isField ? operation.first / 2 + operation.first % 2 : operation.first &+ 1
            let number = (slice.frameNumber &- distance) & mask
            references.removeAll { $0.frameNumber == number }
          case 5:
            references = []
            reference.frameNumber = 0
          // A long-term reference comes last in the lists: it is left out.
          case 6: return
          default: break
          }
        }
      }
      if case .idr = marking { references = [] }
      if isSecondField, var last = references.last, last.frameNumber == slice.frameNumber {
        last.isWhole = last.isWhole && isWhole
        last.hasBothFields = true
        last.order = min(last.order, order)
        references[references.count - 1] = last
        return
      }
      references.append(reference)
      let limit = max(1, Int(sps.maximumReferenceFrames))
      if references.count > limit { references.removeFirst(references.count - limit) }
    }
  }
}
