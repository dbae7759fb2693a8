// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// The parameter sets received so far, by id: 32 SPS, 32 subset SPS, 32 SPS extensions, 256 PPS.
  ///
  /// Bounded by these numbers and by ``maximumNALUnitLength``, for any stream. A PPS may come before its SPS. When an
  /// SPS changes, its PPSs are not read again.
  public struct ParameterSets: ParameterSetStore {
    /// The result of an insertion.
    public typealias Change = ParameterSetChange

    /// The longest parameter set that is stored, in bytes: the most that avcC's 16-bit lengths can express.
    public static let maximumNALUnitLength = 0xFFFF

    private var sequences = ParameterSetTable<ParameterSetKind.Sequence, SequenceParameterSet>(capacity: 32)
    private var subsets = ParameterSetTable<ParameterSetKind.Sequence, SubsetSequenceParameterSet>(capacity: 32)
    private var extensions = ParameterSetTable<ParameterSetKind.Sequence, SequenceParameterSetExtension>(capacity: 32)
    private var pictures = ParameterSetTable<ParameterSetKind.Picture, ReadPictureParameterSet>(capacity: 256)
    private var slices = [SliceParameters?](repeating: nil, count: 256)
    private var readableCount = 0

    /// Creates an empty store.
    public init() {}

    /// Takes a parameter set NAL unit of type 7, 8, 13 or 15.
    ///
    /// Compares bytes before it reads anything. An unreadable set leaves the store as it was.
    ///
    /// - Returns: the change.
    /// - Throws: any ``BitstreamError``; `.wrongNALUnitType` for other types, `.lengthOutOfBounds` for a set longer
    ///   than ``maximumNALUnitLength``.
    @discardableResult
    public mutating func insert(_ nalUnit: Span<UInt8>) throws(BitstreamError) -> Change {
      let header = try NALUnitHeader(nalUnit)
      try ParameterSetTable<ParameterSetKind.Sequence, SequenceParameterSet>.checkLength(nalUnit)
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
      if sequences.holds(bytes, as: id) { return .unchanged }
      try ParameterSetTable<ParameterSetKind.Sequence, SequenceParameterSet>.checkLength(bytes)
      // A damaged copy does not take the place of a good one.
      let set = try sequences[id] == nil ? .usable(bytes) : SequenceParameterSet(nalUnit: bytes)
      let change = sequences.insert(set, bytes, as: id)
      for picture in (UInt8.min...UInt8.max).lazy.map(PictureParameterSetID.init(rawValue:))
      where pictures[picture]?.any.sequenceParameterSetID == id {
        updateSlices(of: picture)
      }
      return change
    }

    /// Takes a picture parameter set; see ``insert(_:)``.
    @discardableResult
    public mutating func insert(ppsNALUnit bytes: Span<UInt8>) throws(BitstreamError) -> Change {
      let id = try Self.pictureID(bytes)
      if pictures.holds(bytes, as: id) { return .unchanged }
      try ParameterSetTable<ParameterSetKind.Sequence, SequenceParameterSet>.checkLength(bytes)
      let change = pictures.insert(try ReadPictureParameterSet(bytes), bytes, as: id)
      updateSlices(of: id)
      return change
    }

    private mutating func insert(subsetNALUnit bytes: Span<UInt8>) throws(BitstreamError) -> Change {
      let id = try Self.sequenceID(bytes)
      if subsets.holds(bytes, as: id) { return .unchanged }
      return subsets.insert(try SubsetSequenceParameterSet(nalUnit: bytes), bytes, as: id)
    }

    private mutating func insert(extensionNALUnit bytes: Span<UInt8>) throws(BitstreamError) -> Change {
      let set = try SequenceParameterSetExtension(nalUnit: bytes)
      if extensions.holds(bytes, as: set.id) { return .unchanged }
      return extensions.insert(set, bytes, as: set.id)
    }

    private mutating func updateSlices(of picture: PictureParameterSetID) {
      var parameters: SliceParameters?
      if let read = pictures[picture], let sps = sequences[read.any.sequenceParameterSetID],
        let pps = read.set(for: sps.chromaFormat)
      {
        parameters = SliceParameters(pps, sps)
      }
      let index = Int(picture.rawValue)
      readableCount += (parameters == nil ? 0 : 1) - (slices[index] == nil ? 0 : 1)
      slices[index] = parameters
    }

    /// Forgets everything.
    public mutating func removeAll() { self = ParameterSets() }

    // MARK: Looking up

    /// The SPS with the id, nil if there is none.
    public func sequenceParameterSet(_ id: SequenceParameterSetID) -> SequenceParameterSet? { sequences[id] }

    /// The subset SPS with the id, nil if there is none.
    public func subsetSequenceParameterSet(_ id: SequenceParameterSetID) -> SubsetSequenceParameterSet? { subsets[id] }

    /// The PPS with the id, read according to its SPS; nil if there is none.
    public func pictureParameterSet(_ id: PictureParameterSetID) -> PictureParameterSet? {
      guard let read = pictures[id] else { return nil }
      return slices[Int(id.rawValue)].flatMap { read.set(for: $0.chromaFormat) } ?? read.any
    }

    /// The parameters for reading the header of a slice with this PPS; nil if the PPS or its SPS is missing.
    ///
    /// - Parameters:
    ///   - id: `pic_parameter_set_id`.
    ///   - forSubset: for NAL unit types 20 and 21, whose PPS refers to a subset SPS, or to the SPS if there is none.
    @inline(__always)
    package func sliceParameters(_ id: PictureParameterSetID, forSubset: Bool = false) -> SliceParameters? {
      forSubset ? subsetSliceParameters(id) : slices[Int(id.rawValue)]
    }

    private func subsetSliceParameters(_ id: PictureParameterSetID) -> SliceParameters? {
      guard let pps = pictures[id]?.any, let sps = subsets[pps.sequenceParameterSetID] else {
        return slices[Int(id.rawValue)]
      }
      return SliceParameters(pps, sps.base)
    }

    /// Bytes in which any slice header ends, emulation prevention bytes and the NAL unit header included.
    package var longestSliceHeader: Int {
      // Two lists of 33 modifications, 64 weights and 66 marking operations are less than 3000 bytes.
      4096
    }

    /// Whether an SPS or PPS with the same id was read before, with which slices can be read if this one is damaged.
    public func holdsSet(withIDOf nalUnit: Span<UInt8>) -> Bool {
      do throws(BitstreamError) {
        switch try NALUnitHeader(nalUnit).type {
        case .sequenceParameterSet: return sequences[try Self.sequenceID(nalUnit)] != nil
        case .pictureParameterSet: return pictures[try Self.pictureID(nalUnit)] != nil
        default: return false
        }
      } catch {
        return false
      }
    }

    /// The NAL units of all SPS, by id.
    public var sequenceParameterSetNALUnits: [[UInt8]] { sequences.nalUnits }

    /// The NAL units of all subset SPS, by id.
    public var subsetSequenceParameterSetNALUnits: [[UInt8]] { subsets.nalUnits }

    /// The NAL units of all SPS extensions, by id.
    public var extensionNALUnits: [[UInt8]] { extensions.nalUnits }

    /// The NAL units of all PPS, by id.
    public var pictureParameterSetNALUnits: [[UInt8]] { pictures.nalUnits }

    /// All NAL units in sending order: SPS, SPS extensions, subset SPS, PPS.
    public var nalUnits: [[UInt8]] { sequences.nalUnits + extensions.nalUnits + subsets.nalUnits + pictures.nalUnits }

    /// Whether there is no SPS.
    public var isEmpty: Bool { sequences.isEmpty }

    /// Whether there is a PPS, with or without its SPS.
    public var hasPictureParameterSet: Bool { !pictures.isEmpty }

    /// Whether there is a PPS with its SPS: slices can be read.
    public var canReadSlices: Bool { readableCount > 0 }

    /// The id of an SPS NAL unit; nil if it cannot be read.
    public static func sequenceParameterSetID(of nalUnit: Span<UInt8>) -> SequenceParameterSetID? {
      do throws(BitstreamError) {
        return try sequenceID(nalUnit)
      } catch {
        return nil
      }
    }

    private static func sequenceID(_ bytes: Span<UInt8>) throws(BitstreamError) -> SequenceParameterSetID {
      var reader = BitReader(bytes, from: 1)
      _ = try reader.u(24, "profile_idc")
      return .init(try reader.ue8(in: 0...31, "seq_parameter_set_id"))
    }

    private static func pictureID(_ bytes: Span<UInt8>) throws(BitstreamError) -> PictureParameterSetID {
      var reader = BitReader(bytes, from: 1)
      return .init(try reader.ue8(in: 0...255, "pic_parameter_set_id"))
    }
  }
}

/// A PPS as read for 4:4:4 and for other chroma formats, which decides how many scaling lists it has (7.3.2.2). Its SPS
/// may come later, and change.
private struct ReadPictureParameterSet: Sendable {
  /// One of the readings. The elements that slices need are the same in both.
  let any: H264.PictureParameterSet
  /// Whether `any` is the reading for other formats than 4:4:4; else it is unreadable for these.
  private let isForOthers: Bool
  /// The reading for 4:4:4 if that differs from `any`; empty when it is unreadable for 4:4:4.
  private let yuv444: [H264.PictureParameterSet]?

  /// - Throws: the error when both readings fail.
  init(_ bytes: Span<UInt8>) throws(BitstreamError) {
    do throws(BitstreamError) {
      any = try H264.PictureParameterSet(nalUnit: bytes, chromaFormat: .yuv420)
    } catch {
      any = try H264.PictureParameterSet(nalUnit: bytes, chromaFormat: .yuv444)
      isForOthers = false
      yuv444 = nil
      return
    }
    isForOthers = true
    guard let high = any.high, high.uses8x8Transform, high.scalingLists != nil else {
      yuv444 = nil
      return
    }
    do throws(BitstreamError) {
      yuv444 = [try H264.PictureParameterSet(nalUnit: bytes, chromaFormat: .yuv444)]
    } catch {
      yuv444 = []
    }
  }

  func set(for chromaFormat: ChromaFormat) -> H264.PictureParameterSet? {
    guard chromaFormat == .yuv444 else { return isForOthers ? any : nil }
    guard let yuv444 else { return any }
    return yuv444.first
  }
}
