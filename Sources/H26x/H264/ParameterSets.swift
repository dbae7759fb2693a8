// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// The parameter sets received so far, by id: 32 SPS, 32 subset SPS, 32 SPS extensions, 256 PPS.
  ///
  /// It is bounded by those numbers and by ``maximumNALUnitLength``, whatever the stream does. A PPS may come before
  /// its SPS; it is read when both are there.
  public struct ParameterSets: ParameterSetStore {
    /// What an insertion did.
    public typealias Change = ParameterSetChange

    /// The longest parameter set that is taken, in bytes: what avcC's 16-bit lengths can say.
    public static let maximumNALUnitLength = 0xFFFF

    private struct SequenceSlot: Sendable {
      var bytes: [UInt8]
      var set: SequenceParameterSet
    }

    private struct PictureSlot: Sendable {
      var bytes: [UInt8]
      var set: PictureParameterSet
    }

    private var sequences = [SequenceSlot?](repeating: nil, count: 32)
    private var subsets = [SubsetSequenceParameterSet?](repeating: nil, count: 32)
    private var subsetBytes = [[UInt8]](repeating: [], count: 32)
    private var extensions = [[UInt8]](repeating: [], count: 32)
    private var pictures = [PictureSlot?](repeating: nil, count: 256)
    private var slices = [SliceParameters?](repeating: nil, count: 256)

    /// Creates an empty store.
    public init() {}

    /// Takes a parameter set NAL unit of type 7, 8, 13 or 15.
    ///
    /// Equal bytes are found by comparison before anything is read. A set that cannot be read leaves the store as
    /// it was.
    ///
    /// - Returns: what changed.
    /// - Throws: any ``BitstreamError``; `.wrongNALUnitType` for other types, `.lengthOutOfBounds` for a set longer
    ///   than ``maximumNALUnitLength``.
    @discardableResult
    public mutating func insert(_ nalUnit: Span<UInt8>) throws(BitstreamError) -> Change {
      let header = try NALUnitHeader(nalUnit)
      guard nalUnit.count <= Self.maximumNALUnitLength else {
        throw BitstreamError(.lengthOutOfBounds, "parameter set", bitOffset: 0)
      }
      switch header.type {
      case .sequenceParameterSet: return try insert(spsNALUnit: nalUnit)
      case .pictureParameterSet: return try insert(ppsNALUnit: nalUnit)
      case .subsetSequenceParameterSet: return try insert(subsetNALUnit: nalUnit)
      case .sequenceParameterSetExtension: return try insert(extensionNALUnit: nalUnit)
      default: throw BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 3)
      }
    }

    /// Takes a sequence parameter set; see ``insert(_:)``.
    @discardableResult
    public mutating func insert(spsNALUnit bytes: Span<UInt8>) throws(BitstreamError) -> Change {
      let id = try Self.sequenceID(bytes)
      if let old = sequences[id], BulkBytes.areEqual(old.bytes, bytes) { return .unchanged }
      guard bytes.count <= Self.maximumNALUnitLength else {
        throw BitstreamError(.lengthOutOfBounds, "parameter set", bitOffset: 0)
      }
      let set = try SequenceParameterSet(nalUnit: bytes)
      let change: Change = sequences[id] == nil ? .added : .replaced
      sequences[id] = SequenceSlot(bytes: [UInt8](copying: bytes), set: set)
      updatePictures(of: id)
      return change
    }

    /// Takes a picture parameter set; see ``insert(_:)``.
    @discardableResult
    public mutating func insert(ppsNALUnit bytes: Span<UInt8>) throws(BitstreamError) -> Change {
      var reader = BitReader(bytes, from: 1)
      let id = Int(try reader.ue8(in: 0...255, "pic_parameter_set_id"))
      if let old = pictures[id], BulkBytes.areEqual(old.bytes, bytes) { return .unchanged }
      guard bytes.count <= Self.maximumNALUnitLength else {
        throw BitstreamError(.lengthOutOfBounds, "parameter set", bitOffset: 0)
      }
      let sequence = Int(try reader.ue8(in: 0...31, "seq_parameter_set_id"))
      let (set, isCertain) = try read(ppsNALUnit: bytes, chromaFormat: sequences[sequence]?.set.chromaFormat)
      let change: Change = pictures[id] == nil ? .added : .replaced
      pictures[id] = PictureSlot(bytes: [UInt8](copying: bytes), set: set)
      slices[id] = isCertain ? sequences[sequence].map { SliceParameters(set, $0.set) } : nil
      return change
    }

    /// Reads a PPS for the chroma format of its SPS. When that fails, or the SPS is yet to come, either number of
    /// scaling lists will do: the set is kept, and read again when an SPS comes.
    private func read(
      ppsNALUnit bytes: Span<UInt8>, chromaFormat: ChromaFormat?
    ) throws(BitstreamError) -> (set: PictureParameterSet, isCertain: Bool) {
      do throws(BitstreamError) {
        return (try PictureParameterSet(nalUnit: bytes, chromaFormat: chromaFormat ?? .yuv420), chromaFormat != nil)
      } catch {
        let other: ChromaFormat = chromaFormat == .yuv444 ? .yuv420 : .yuv444
        return (try PictureParameterSet(nalUnit: bytes, chromaFormat: other), false)
      }
    }

    private mutating func insert(subsetNALUnit bytes: Span<UInt8>) throws(BitstreamError) -> Change {
      let id = try Self.sequenceID(bytes)
      if BulkBytes.areEqual(subsetBytes[id], bytes) { return .unchanged }
      let set = try SubsetSequenceParameterSet(nalUnit: bytes)
      let change: Change = subsets[id] == nil ? .added : .replaced
      subsets[id] = set
      subsetBytes[id] = [UInt8](copying: bytes)
      return change
    }

    private mutating func insert(extensionNALUnit bytes: Span<UInt8>) throws(BitstreamError) -> Change {
      let id = Int(try SequenceParameterSetExtension(nalUnit: bytes).id)
      if BulkBytes.areEqual(extensions[id], bytes) { return .unchanged }
      let change: Change = extensions[id].isEmpty ? .added : .replaced
      extensions[id] = [UInt8](copying: bytes)
      return change
    }

    /// Forgets everything.
    public mutating func removeAll() { self = ParameterSets() }

    // MARK: Looking up

    /// The SPS with the id, nil if there is none.
    public func sequenceParameterSet(_ id: UInt8) -> SequenceParameterSet? {
      id < 32 ? sequences[Int(id)]?.set : nil
    }

    /// The subset SPS with the id, nil if there is none.
    public func subsetSequenceParameterSet(_ id: UInt8) -> SubsetSequenceParameterSet? {
      id < 32 ? subsets[Int(id)] : nil
    }

    /// The PPS with the id, nil if there is none.
    public func pictureParameterSet(_ id: UInt8) -> PictureParameterSet? { pictures[Int(id)]?.set }

    /// How to read the header of a slice that names this PPS; nil when it or its SPS is not there.
    ///
    /// - Parameters:
    ///   - id: `pic_parameter_set_id`.
    ///   - forSubset: for NAL unit types 20 and 21, whose PPS names a subset SPS. They fall back to the SPS.
    @inline(__always)
    public func sliceParameters(_ id: UInt8, forSubset: Bool = false) -> SliceParameters? {
      forSubset ? subsetSliceParameters(id) : slices[Int(id)]
    }

    private func subsetSliceParameters(_ id: UInt8) -> SliceParameters? {
      guard let pps = pictures[Int(id)]?.set, let sps = subsets[Int(pps.sequenceParameterSetID)] else {
        return slices[Int(id)]
      }
      return SliceParameters(pps, sps.base)
    }

    /// Whether an SPS or PPS with the id of this one was read before: what slices can be read with, should this one
    /// turn out to be damaged behind its id.
    public func holdsNamesake(of nalUnit: Span<UInt8>) -> Bool {
      do throws(BitstreamError) {
        switch try NALUnitHeader(nalUnit).type {
        case .sequenceParameterSet: return sequences[try Self.sequenceID(nalUnit)] != nil
        case .pictureParameterSet:
          var reader = BitReader(nalUnit, from: 1)
          return pictures[Int(try reader.ue8(in: 0...255, "pic_parameter_set_id"))] != nil
        default: return false
        }
      } catch {
        return false
      }
    }

    /// The NAL units of all SPS, by id.
    public var sequenceParameterSetNALUnits: [[UInt8]] { sequences.compactMap { $0?.bytes } }

    /// The NAL units of all subset SPS, by id.
    public var subsetSequenceParameterSetNALUnits: [[UInt8]] { subsetBytes.filter { !$0.isEmpty } }

    /// The NAL units of all SPS extensions, by id.
    public var extensionNALUnits: [[UInt8]] { extensions.filter { !$0.isEmpty } }

    /// The NAL units of all PPS, by id.
    public var pictureParameterSetNALUnits: [[UInt8]] { pictures.compactMap { $0?.bytes } }

    /// All NAL units in the order in which a stream is to send them: SPS, SPS extensions, subset SPS, PPS.
    public var nalUnits: [[UInt8]] {
      sequenceParameterSetNALUnits + extensionNALUnits + subsetSequenceParameterSetNALUnits
        + pictureParameterSetNALUnits
    }

    /// Whether there is no SPS.
    public var isEmpty: Bool { sequences.allSatisfy { $0 == nil } }

    /// Whether there is a PPS, whether or not its SPS is there.
    public var hasPictureParameterSet: Bool { pictures.contains { $0 != nil } }

    /// Whether a PPS is there whose SPS is there as well: slices can be read.
    public var canReadSlices: Bool { slices.contains { $0 != nil } }

    private mutating func updatePictures(of sequence: Int) {
      guard let sps = sequences[sequence]?.set else { return }
      for id in pictures.indices {
        guard let slot = pictures[id], Int(slot.set.sequenceParameterSetID) == sequence else { continue }
        // The number of scaling lists hangs on the chroma format: read the set again for the one that holds now.
        do throws(BitstreamError) {
          let set = try PictureParameterSet(nalUnit: slot.bytes.span, chromaFormat: sps.chromaFormat)
          pictures[id]?.set = set
          slices[id] = SliceParameters(set, sps)
        } catch {
          slices[id] = nil
        }
      }
    }

    /// The id of an SPS NAL unit; nil when it cannot be read that far.
    public static func sequenceParameterSetID(of nalUnit: Span<UInt8>) -> UInt8? {
      do throws(BitstreamError) {
        return UInt8(clamping: try sequenceID(nalUnit))
      } catch {
        return nil
      }
    }

    private static func sequenceID(_ bytes: Span<UInt8>) throws(BitstreamError) -> Int {
      var reader = BitReader(bytes, from: 1)
      _ = try reader.u(24, "profile_idc")
      return Int(try reader.ue8(in: 0...31, "seq_parameter_set_id"))
    }
  }
}

extension [UInt8] {
  /// Copies a span into an array.
  init(copying bytes: Span<UInt8>) {
    self.init(capacity: bytes.count) { output in
      for index in bytes.indices { output.append(bytes[index]) }
    }
  }
}
