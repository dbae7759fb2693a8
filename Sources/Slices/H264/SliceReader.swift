// SPDX-License-Identifier: MPL-2.0

public import H26x

extension H264 {
  /// Reads slice data (7.3.4) to their last bit.
  ///
  /// Slices are read by themselves: no other slice, no other picture and no sample is needed. The reader knows which
  /// macroblocks of the current picture earlier slices covered; call ``beginPicture()`` in front of each picture.
  /// Memory is allocated once a picture size.
  public struct SliceReader {
    private var reader = SliceDataReader()
    /// What all slices of a picture have in common; nil in front of the first one.
    private var picture: PictureTraits?
    /// `redundant_pic_cnt` of the slices that are being read: each redundant picture covers all macroblocks again.
    private var redundantPictureCount: UInt8 = 0
    /// Macroblocks of redundant slices of the picture.
    private var redundantBlockCount = 0
    /// Macroblocks of damaged slices of the picture that other slices may cover.
    private var uncoveredCount = 0
    /// The slice groups of the picture.
    private var sliceGroups: PictureParameterSet.SliceGroups?
    /// Whether a PPS has the same ones, by its id: a map may be large, so it is compared once a PPS, not once a slice.
    private var haveSliceGroups: [UInt8: Bool] = [:]

    /// The most macroblocks of a picture that is read; level 6.2 has 139,264.
    public static let maximumMacroblocks = 1 << 20

    /// Creates a reader.
    public init() {}

    /// Whether ``codedBlocks`` is needed: finding out takes time.
    package var collectsBlocks: Bool {
      get { reader.collectsBlocks }
      set { reader.collectsBlocks = newValue }
    }

    /// The blocks that have coefficients in any macroblock of the slice that was read last, the damaged one included.
    package var codedBlocks: CodedBlocks { reader.codedBlocks }

    /// The blocks that have coefficients in the damaged macroblock of that slice. Empty without damage, and if the
    /// damage is in no macroblock.
    package var damagedBlocks: CodedBlocks { reader.damagedBlocks }

    /// Whether NAL units of a type have slice data that ``read(_:parameterSets:visitor:)`` reads: types 1, 2 and 5.
    public static func reads(_ type: NALUnitType) -> Bool {
      type == .slice || type == .idrSlice || type == .slicePartitionA
    }

    /// Forgets which macroblocks are covered. Call this in front of a frame or field.
    public mutating func beginPicture() {
      picture = nil
      redundantPictureCount = 0
      redundantBlockCount = 0
      uncoveredCount = 0
      if !haveSliceGroups.isEmpty { haveSliceGroups.removeAll(keepingCapacity: true) }
      reader.beginPicture()
    }

    /// Reads a slice to its end.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header included.
    ///   - parameterSets: looked up by `pic_parameter_set_id`.
    /// - Returns: the macroblocks that it covers.
    /// - Throws: the first damage.
    public mutating func verify(
      _ nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets
    ) throws(SliceDamage) -> SliceExtent {
      var visitor = NoVisitor()
      return try read(nalUnit, parameterSets: parameterSets, visitor: &visitor)
    }

    /// Reads a slice in data partitions (7.3.2.9) to its end.
    ///
    /// - Parameters:
    ///   - nalUnit: data partition A, the NAL unit, header included.
    ///   - partitionB: data partition B with the same `slice_id`; empty if it is missing.
    ///   - partitionC: data partition C with the same `slice_id`; empty if it is missing.
    ///   - parameterSets: looked up by `pic_parameter_set_id`.
    /// - Returns: the macroblocks that it covers.
    /// - Throws: the first damage.
    public mutating func verify(
      _ nalUnit: Span<UInt8>, partitionB: Span<UInt8>, partitionC: Span<UInt8>, parameterSets: borrowing ParameterSets
    ) throws(SliceDamage) -> SliceExtent {
      var visitor = NoVisitor()
      return try read(
        nalUnit, partitionB: partitionB, partitionC: partitionC, parameterSets: parameterSets, visitor: &visitor)
    }

    /// Reads a slice to its end, and shows each macroblock to a visitor.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header included, of type 1, 2 or 5.
    ///   - parameterSets: looked up by `pic_parameter_set_id`.
    ///   - visitor: receives the macroblocks in front of the first damage.
    /// - Returns: the macroblocks that it covers.
    /// - Throws: the first damage.
    public mutating func read<Visitor: MacroblockVisitor>(
      _ nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets, visitor: inout Visitor
    ) throws(SliceDamage) -> SliceExtent {
      let none = nalUnit.extracting(first: 0)
      return try read(
        nalUnit, partitionB: none, partitionC: none, parameterSets: parameterSets, visitor: &visitor)
    }

    /// Reads a slice in data partitions (7.3.2.9) to its end, and shows each macroblock to a visitor.
    ///
    /// - Parameters:
    ///   - nalUnit: data partition A, the NAL unit, header included.
    ///   - partitionB: data partition B with the same `slice_id`; empty if it is missing.
    ///   - partitionC: data partition C with the same `slice_id`; empty if it is missing.
    ///   - parameterSets: looked up by `pic_parameter_set_id`.
    ///   - visitor: receives the macroblocks in front of the first damage.
    /// - Returns: the macroblocks that it covers.
    /// - Throws: the first damage.
    public mutating func read<Visitor: MacroblockVisitor>(
      _ nalUnit: Span<UInt8>, partitionB: Span<UInt8>, partitionC: Span<UInt8>,
      parameterSets: borrowing ParameterSets, visitor: inout Visitor
    ) throws(SliceDamage) -> SliceExtent {
      reader.codedBlocks = CodedBlocks()
      reader.damagedBlocks = CodedBlocks()
      let header: WholeSliceHeader
      do throws(BitstreamError) {
        header = try WholeSliceHeader(
          nalUnit: nalUnit, parameterSets: parameterSets, trace: nil, keepsWeights: false)
      } catch {
        throw SliceDamage(error, clause: "7.3.3")
      }
      guard Self.reads(header.header.nalUnitType) else {
        throw SliceDamage(.unsupported, "nal_unit_type", clause: "7.4.1", block: nil, bitOffset: 3)
      }
      guard let pps = parameterSets.pictureParameterSet(header.header.pictureParameterSetID),
        let sps = parameterSets.sequenceParameterSet(header.header.sequenceParameterSetID)
      else {
        throw SliceDamage(
          .header, "pic_parameter_set_id", clause: "7.4.3", block: nil, bitOffset: header.dataBitOffset)
      }
      try prepare(header, pps, sps)
      visitor.beginSlice(sps)

      let first = reader.address
      do throws(SliceDamage) {
        let extent: SliceExtent
        if pps.usesCABAC {
          extent = try readArithmetic(nalUnit, header, visitor: &visitor)
        } else {
          let start = RawPlace(bitOffset: header.dataBitOffset, in: nalUnit)
          extent = try readVariableLength(
            nalUnit, start, partitionB, partitionC, header, parameterSets: parameterSets, visitor: &visitor)
        }
        if redundantPictureCount > 0 { redundantBlockCount += extent.blockCount }
        return extent
      } catch {
        // Addresses go up, so these are all macroblocks, and perhaps those of other slice groups.
        if redundantPictureCount > 0 { redundantBlockCount += max(0, reader.address - first) + 1 }
        uncover(from: first)
        throw error.within(byteCount: max(nalUnit.count, partitionB.count, partitionC.count))
      }
    }

    /// A damaged slice may have gone too far: the slices after it are not to blame. At most four times the picture's
    /// macroblocks, so that a thousand damaged slices do not cover them a thousand times.
    private mutating func uncover(from first: Int) {
      guard uncoveredCount < 4 * reader.traits.size else { return }
      uncoveredCount += reader.uncover(from: first)
    }

    // MARK: Entropy codings

    private mutating func readArithmetic<Visitor: MacroblockVisitor>(
      _ nalUnit: Span<UInt8>, _ header: borrowing WholeSliceHeader, visitor: inout Visitor
    ) throws(SliceDamage) -> SliceExtent {
      let first = reader.address
      guard header.endsWithOnes else {
        throw SliceDamage(
          .badAlignment, "cabac_alignment_one_bit", clause: "7.3.4", block: first, bitOffset: header.dataBitOffset)
      }
      let start = RawPlace(bitOffset: (header.dataBitOffset + 7) & ~7, in: nalUnit)
      var elements = ArithmeticElements(nalUnit, from: start, reader.traits, initIDC: header.cabacInitIDC)
      let count = try reader.readArithmetic(&elements, &visitor)
      let end = elements.bitOffset
      guard !elements.isOverrun else {
        throw SliceDamage(
          .truncated, "end_of_slice_flag", clause: "7.3.4", block: reader.address, bitOffset: end)
      }
      guard elements.isInLastByte else {
        throw SliceDamage(
          .surplusData, "end_of_slice_flag", clause: "7.3.2.8", block: reader.address, bitOffset: end)
      }
      var notes: SliceExtent.Notes = []
      if !elements.endsWithStopBit { notes.insert(.markInLastByte) }
      if RawPlace.lastSetByte(of: nalUnit, from: 0) + 1 < nalUnit.count { notes.insert(.zeroWords) }
      return SliceExtent(
        firstBlock: first, blockCount: count, endBlock: reader.address, dataBits: end - header.dataBitOffset,
        binCount: elements.binCount, notes: notes)
    }

    private mutating func readVariableLength<Visitor: MacroblockVisitor>(
      _ nalUnit: Span<UInt8>, _ start: RawPlace, _ partitionB: Span<UInt8>, _ partitionC: Span<UInt8>,
      _ header: borrowing WholeSliceHeader, parameterSets: borrowing ParameterSets, visitor: inout Visitor
    ) throws(SliceDamage) -> SliceExtent {
      let first = reader.address
      var notes: SliceExtent.Notes = []
      var code = CodeReader(nalUnit, from: start)
      let isPartitioned = header.header.nalUnitType == .slicePartitionA
      let sliceID = isPartitioned ? code.ue() : 0
      var elements = VariableLengthElements(code, reader.traits)
      if isPartitioned {
        guard sliceID >= 0, sliceID < reader.traits.size else {
          throw SliceDamage(
            .valueOutOfRange, "slice_id", clause: "7.4.2.9.1", block: nil, bitOffset: header.dataBitOffset)
        }
        let b = try partition(partitionB, sliceID, header, parameterSets)
        let c = try partition(partitionC, sliceID, header, parameterSets)
        elements.setPartitions(
          intra: b, hasIntra: partitionB.count > 0, inter: c, hasInter: partitionC.count > 0)
        if partitionB.count == 0 || partitionC.count == 0 { notes.insert(.missingPartitions) }
      }
      let count = try reader.readVariableLength(&elements, &visitor)
      let end = elements.bitOffset
      guard elements.code.isAtStopBit, elements.arePartitionsAtEnd else {
        throw SliceDamage(
          elements.isOverrun ? .truncated : .badAlignment, "rbsp_slice_trailing_bits", clause: "7.3.2.8",
          block: reader.address, bitOffset: elements.code.boundedBitOffset)
      }
      guard !reader.traits.isMbaff || reader.address & 1 == 0 else {
        throw SliceDamage(
          .truncated, "macroblock_layer", clause: "7.3.4", block: reader.address, bitOffset: end)
      }
      return SliceExtent(
        firstBlock: first, blockCount: count, endBlock: reader.address, dataBits: end - header.dataBitOffset,
        notes: notes)
    }

    /// Data partition B or C behind its header (7.3.2.9.2).
    @_lifetime(copy bytes)
    private func partition(
      _ bytes: Span<UInt8>, _ sliceID: Int, _ header: borrowing WholeSliceHeader,
      _ parameterSets: borrowing ParameterSets
    ) throws(SliceDamage) -> CodeReader {
      var code = CodeReader(bytes, from: RawPlace(bitOffset: 8, in: bytes))
      guard bytes.count > 0 else { return code }
      let pps = parameterSets.pictureParameterSet(header.header.pictureParameterSetID)
      let sps = parameterSets.sequenceParameterSet(header.header.sequenceParameterSetID)
      let id = code.ue()
      let plane = sps?.hasSeparateColourPlanes == true ? code.bits(2) : 0
      let redundant = pps?.isRedundantPictureCountPresent == true ? code.ue() : 0
      guard id == sliceID, plane == Int(header.header.colourPlaneID),
        redundant == Int(header.header.redundantPictureCount), !code.isOverrun
      else {
        throw SliceDamage(.contradiction, "slice_id", clause: "7.4.2.9.2", block: nil, bitOffset: 8)
      }
      return code
    }

    // MARK: The slice's picture

    /// What all slices of a picture have in common (7.4.3).
    private struct PictureTraits: Equatable {
      let width: Int
      let size: Int
      let chroma: ChromaFormat
      let isField: Bool
      let isMbaff: Bool
      let hasPlanes: Bool
      let changeCycle: UInt32
    }

    /// Whether a PPS has the slice groups of the picture.
    private mutating func hasSliceGroups(_ pps: borrowing PictureParameterSet) -> Bool {
      guard sliceGroups != nil else { return pps.sliceGroups == nil }
      if let known = haveSliceGroups[pps.id.rawValue] { return known }
      let isSame = pps.sliceGroups == sliceGroups
      haveSliceGroups[pps.id.rawValue] = isSame
      return isSame
    }

    private mutating func prepare(
      _ whole: borrowing WholeSliceHeader, _ pps: borrowing PictureParameterSet,
      _ sps: borrowing SequenceParameterSet
    ) throws(SliceDamage) {
      let header = whole.header
      let frameSize = sps.widthInMacroblocks * sps.heightInMacroblocks
      guard frameSize <= Self.maximumMacroblocks else {
        throw SliceDamage(
          .unsupported, "pic_height_in_map_units_minus1", clause: "A.3", block: nil, bitOffset: whole.dataBitOffset)
      }
      let isMbaff = sps.isMacroblockAdaptiveFrameField && !header.isField
      let size = header.isField ? frameSize / 2 : frameSize
      let picture = PictureTraits(
        width: sps.widthInMacroblocks, size: size, chroma: sps.chromaArrayType, isField: header.isField,
        isMbaff: isMbaff, hasPlanes: sps.hasSeparateColourPlanes, changeCycle: whole.sliceGroupChangeCycle)
      guard self.picture == nil || self.picture == picture && hasSliceGroups(pps) else {
        throw SliceDamage(
          .contradiction, "pic_parameter_set_id", clause: "7.4.1.2.4", block: nil, bitOffset: whole.dataBitOffset)
      }
      let qp = whole.quantizationParameter ?? 0
      let lumaQPOffset = 6 * (Int(sps.lumaBitDepth) - 8)
      guard qp >= -lumaQPOffset, qp <= 51 else {
        throw SliceDamage(
          .valueOutOfRange, "slice_qp_delta", clause: "7.4.3", block: nil, bitOffset: whole.dataBitOffset)
      }
      let first = Int(header.firstMacroblock) * (isMbaff ? 2 : 1)
      guard first < size else {
        throw SliceDamage(
          .valueOutOfRange, "first_mb_in_slice", clause: "7.4.3", block: first, bitOffset: whole.dataBitOffset)
      }
      guard header.colourPlaneID < 3 else {
        throw SliceDamage(
          .valueOutOfRange, "colour_plane_id", clause: "7.4.3", block: first, bitOffset: whole.dataBitOffset)
      }

      guard header.nalUnitType != .slicePartitionA || !pps.usesCABAC else {
        throw SliceDamage(
          .contradiction, "entropy_coding_mode_flag", clause: "A.2.3", block: first, bitOffset: whole.dataBitOffset)
      }
      if header.redundantPictureCount != redundantPictureCount {
        guard header.redundantPictureCount > redundantPictureCount else {
          throw SliceDamage(
            .contradiction, "redundant_pic_cnt", clause: "7.4.1.2.5", block: first, bitOffset: whole.dataBitOffset)
        }
        // As for damaged slices: a hundred redundant pictures do not add up.
        guard redundantBlockCount < 4 * size else {
          throw SliceDamage(
            .unsupported, "redundant_pic_cnt", clause: "7.4.3", block: first, bitOffset: whole.dataBitOffset)
        }
        redundantPictureCount = header.redundantPictureCount
        reader.beginPicture()
      }

      var traits = SliceTraits()
      traits.sliceType = header.sliceType
      traits.width = picture.width
      traits.size = size
      traits.isMbaff = isMbaff
      traits.isField = header.isField
      traits.chroma = picture.chroma
      traits.lumaBitDepth = Int(sps.lumaBitDepth)
      traits.chromaBitDepth = Int(sps.chromaBitDepth)
      traits.lumaQPOffset = lumaQPOffset
      traits.chromaQPOffset = 6 * (Int(sps.chromaBitDepth) - 8)
      traits.cbQPIndexOffset = Int(pps.chromaQPIndexOffset)
      traits.crQPIndexOffset = Int(pps.high?.secondChromaQPIndexOffset ?? pps.chromaQPIndexOffset)
      traits.qp = qp
      traits.allows8x8Transform = pps.high?.uses8x8Transform ?? false
      traits.infers8x8Direct = sps.usesDirect8x8Inference
      if let references = whole.references {
        traits.referenceCounts[0] = Int(references.referenceCountList0)
        traits.referenceCounts[1] = Int(references.referenceCountList1)
      }
      traits.ignoresInterCounts =
        header.nalUnitType == .slicePartitionA && pps.usesConstrainedIntraPrediction
      let depth = max(traits.lumaBitDepth, traits.chromaBitDepth)
      traits.largestCoefficient = 1 << (7 + depth)
      traits.longestLevelPrefix = sps.profile.hasHighSyntax ? 25 : 15

      let planes = sps.hasSeparateColourPlanes ? 3 : 1
      reader.prepare(macroblocks: planes * frameSize, isArithmetic: pps.usesCABAC)
      if self.picture == nil {
        self.picture = picture
        sliceGroups = pps.sliceGroups
        if let sliceGroups {
          reader.groups.update(sliceGroups, changeCycle: whole.sliceGroupChangeCycle, sps, isField: header.isField)
        } else {
          reader.groups.clear()
        }
      }
      reader.begin(traits, first: first, base: Int(header.colourPlaneID) * frameSize)
    }
  }
}

extension H264.SliceDataReader {
  /// Gets ready for a slice.
  mutating func begin(_ traits: H264.SliceTraits, first: Int, base: Int) {
    beginSlice()
    self.traits = traits
    self.base = base
    address = first
    qp = traits.qp
    isAfterQPChange = false
    isFieldPair = false
    skippedTop.isThere = false
    around.leftRows = H264.Surroundings.Rows.same
    around.leftFactor = 2
    around.aboveFactor = 2
    around.isLeftFieldOfFrame = false
    around.isAboveFieldOfFrame = false
    macroblock = H264.Macroblock()
  }
}
