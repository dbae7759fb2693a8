// SPDX-License-Identifier: MPL-2.0

public import H26x

extension H265 {
  /// Reads the data of slice segments (7.3.8) to their last bit.
  ///
  /// Slices of a picture can be read in any order, and without those before; only dependent slice segments must follow
  /// the segment that they continue. Memory is allocated once for a width of pictures. Works with any bytes: damage ends
  /// the reading of a segment at its first impossible syntax element.
  public struct SliceReader {
    private var state = SliceState()
    /// Coding tree blocks of the current picture that have been read, a bit each in tile scan, for each colour plane.
    private var covered = CoveredBlocks()
    /// Whether a dependent slice segment can follow, and where.
    private var continuation: Int?
    private var hasPicture = false
    /// Blocks of damaged segments of the picture that other segments may cover.
    private var uncoveredCount = 0

    /// Creates a reader.
    public init() {}

    /// Forgets the blocks that have been read, in front of another picture. `read` calls it for segments that are the
    /// first of a picture; if that one is lost, call it.
    public mutating func beginPicture() {
      covered.removeAll()
      continuation = nil
      hasPicture = false
      uncoveredCount = 0
    }

    /// Reads a slice segment NAL unit of the base layer, and ignores its coding units.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header included.
    ///   - parameterSets: the parameter sets in force.
    /// - Returns: what the segment covers.
    /// - Throws: the first damage.
    @discardableResult
    public mutating func verify(
      _ nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets
    ) throws(SliceDamage) -> SliceExtent {
      var visitor = UnitIgnorer()
      return try read(nalUnit, parameterSets: parameterSets, visitor: &visitor)
    }

    /// Reads a slice segment NAL unit of the base layer.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header included.
    ///   - parameterSets: the parameter sets in force.
    ///   - visitor: receives the coding units, also those in front of damage.
    /// - Returns: what the segment covers.
    /// - Throws: the first damage.
    @discardableResult
    public mutating func read<V: CodingUnitVisitor>(
      _ nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets, visitor: inout V
    ) throws(SliceDamage) -> SliceExtent {
      let coded: CodedSliceHeader
      do throws(BitstreamError) {
        coded = try CodedSliceHeader(nalUnit: nalUnit, parameterSets: parameterSets)
      } catch {
        continuation = nil
        guard error.reason == .unsupported else { throw SliceDamage(error, clause: "7.3.6.1") }
        throw SliceDamage(.unsupported, error.element, clause: "7.3.6.1", block: nil, bitOffset: error.bitOffset)
      }
      if coded.header.isFirstInPicture, coded.header.colourPlaneID == 0 { beginPicture() }
      let next = continuation
      continuation = nil
      try begin(coded, parameterSets, continuation: next)
      if let sps = parameterSets.sequenceParameterSet(coded.header.sequenceParameterSetID) { visitor.beginSlice(sps) }
      let extent = try readSegment(nalUnit, coded, &visitor)
      continuation = extent.endBlock
      return extent
    }

    /// Takes the parameter sets and the header.
    private mutating func begin(
      _ coded: borrowing CodedSliceHeader, _ parameterSets: borrowing ParameterSets, continuation: Int?
    ) throws(SliceDamage) {
      let header = coded.header
      guard let pps = parameterSets.pictureParameterSet(header.pictureParameterSetID),
        let sps = parameterSets.sequenceParameterSet(header.sequenceParameterSetID),
        let settings = SliceSettings(sps, pps)
      else {
        throw SliceDamage(
          .header, "slice_pic_parameter_set_id", clause: "7.4.3.2.1", block: nil, bitOffset: coded.end.dataBitOffset)
      }
      if hasPicture, settings != state.settings {
        throw SliceDamage(
          .contradiction, "slice_pic_parameter_set_id", clause: "7.4.7.1", block: Int(header.segmentAddress),
          bitOffset: coded.end.dataBitOffset)
      }
      hasPicture = true
      state.begin(settings)
      let address = settings.tileScanAddress(ofRaster: Int(header.segmentAddress))
      guard let coding = coded.coding else {
        guard continuation == address else {
          throw SliceDamage(
            .contradiction, "slice_segment_address", clause: "7.4.7.1", block: Int(header.segmentAddress),
            bitOffset: coded.end.dataBitOffset)
        }
        return
      }
      state.begin(header, coding, start: address)
      covered.plane = Int(min(header.colourPlaneID, 2))
    }

    /// A damaged segment may have gone too far: the segments after it are not to blame. At most four times the picture's
    /// blocks, so that a thousand damaged segments do not cover them a thousand times.
    private mutating func uncover(_ blocks: Range<Int>) {
      let size = state.settings.widthInTreeBlocks &* state.settings.heightInTreeBlocks
      guard uncoveredCount < 4 &* size else { return }
      uncoveredCount &+= blocks.count
      covered.remove(blocks, of: state.settings)
    }

    /// `slice_segment_data()` (7.3.8.1).
    private mutating func readSegment<V: CodingUnitVisitor>(
      _ nalUnit: Span<UInt8>, _ coded: borrowing CodedSliceHeader, _ visitor: inout V
    ) throws(SliceDamage) -> SliceExtent {
      let start = state.settings.tileScanAddress(ofRaster: Int(coded.header.segmentAddress))
      var walk = TreeBlockWalk(state.settings, raster: Int(coded.header.segmentAddress))
      let dataEnd = RBSPEnd.index(in: nalUnit)
      var engine = ArithmeticDecoder(
        nalUnit, from: coded.end.dataByteOffset, to: nalUnit.count, bitOffset: coded.end.dataBitOffset)
      var substreams = try Substreams(coded.end, nalUnit)
      state.damage = nil
      var address = start
      var coveredEnd = start
      do throws(Stop) {
        state.beginSegment(walk, isDependent: coded.coding == nil)
        while true {
          state.enter(walk)
          guard covered.insert(address, of: state.settings) else {
            throw state.damaged(.codedTwice, "slice_segment_address", "7.4.7.1", at: engine)
          }
          coveredEnd = address &+ 1
          let firstBit = engine.bitOffset
          try state.readTreeUnit(&engine, &visitor)
          visitor.endTreeUnit(
            at: state.treeAddress, firstBit: firstBit, bitCount: engine.bitOffset &- firstBit)
          state.storeWavefront(walk)
          address &+= 1
          let isLast = engine.terminate()
          guard !isLast else { break }
          guard walk.advance(state.settings) else {
            throw state.damaged(.beyondPicture, "end_of_slice_segment_flag", "7.4.9.1", at: engine)
          }
          guard walk.beginsTile || (state.settings.usesWavefronts && walk.isFirstInTileRow) else { continue }
          state.enter(walk)
          guard engine.terminate() else {
            throw state.damaged(.illegalCode, "end_of_subset_one_bit", "7.4.9.1", at: engine)
          }
          guard engine.endsByteWithStopBit else {
            throw state.damaged(.badAlignment, "bit_equal_to_one", "7.3.2.10", at: engine)
          }
          let next = engine.nextByte
          guard try substreams.next(endsAt: next) else {
            throw state.damaged(.wrongEntryPoint, "entry_point_offset_minus1", "7.4.7.1", at: engine)
          }
          engine.restart(from: next, to: nalUnit.count, bitOffset: (engine.bitOffset &+ 7) & ~7)
          state.beginSubstream(walk)
        }
        guard !engine.isOverrun else {
          throw state.damaged(.truncated, "slice_segment_data", "7.3.8.1", at: engine)
        }
        guard engine.nextByte >= dataEnd else {
          throw state.damaged(.surplusData, "end_of_slice_segment_flag", "7.3.2.9", at: engine)
        }
        guard engine.nextByte == dataEnd else {
          throw state.damaged(.truncated, "slice_segment_data", "7.3.2.9", at: engine)
        }
        guard substreams.isComplete else {
          throw state.damaged(.wrongEntryPoint, "num_entry_point_offsets", "7.4.7.1", at: engine)
        }
      } catch {
        let damage =
          state.damage
          ?? SliceDamage(
            .unsupported, "slice_segment_data", clause: "7.3.8", block: state.treeAddress, bitOffset: engine.bitOffset)
        uncover(start..<coveredEnd)
        throw damage.within(byteCount: nalUnit.count)
      }
      state.endSegment()
      var notes: SliceExtent.Notes = []
      if !engine.endsByteWithStopBit { notes.insert(.markInLastByte) }
      if dataEnd < nalUnit.count { notes.insert(.zeroWords) }
      return SliceExtent(
        firstBlock: start, blockCount: address &- start, endBlock: address,
        dataBits: engine.bitOffset &- coded.end.dataBitOffset, binCount: engine.binCount, notes: notes)
    }
  }
}
