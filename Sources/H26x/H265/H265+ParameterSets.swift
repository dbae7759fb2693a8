// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// The parameter sets received so far, by id: 16 VPS, 16 SPS, 64 PPS of the base layer, and those of other layers as
  /// they came.
  ///
  /// Bounded by these numbers and by ``maximumNALUnitLength``, for any stream. A PPS may come before its SPS. An
  /// unreadable VPS is stored anyway: nothing depends on it.
  public struct ParameterSets: ParameterSetStore {
    /// The longest parameter set that is stored, in bytes: the most that hvcC's 16-bit lengths can express.
    public static let maximumNALUnitLength = 0xFFFF

    /// Most sets of other layers than the base that are stored.
    public static let maximumLayerSets = 128

    private struct VideoSlot: Sendable {
      var bytes: [UInt8]
      /// Nil if it is unreadable.
      var set: VideoParameterSet?
    }

    private struct SequenceSlot: Sendable {
      var bytes: [UInt8]
      var set: SequenceParameterSet
    }

    private struct PictureSlot: Sendable {
      var bytes: [UInt8]
      var set: PictureParameterSet
    }

    private struct LayerSlot: Sendable {
      var bytes: [UInt8]
      var key: [UInt8]
    }

    private var videos = [VideoSlot?](repeating: nil, count: 16)
    private var sequences = [SequenceSlot?](repeating: nil, count: 16)
    private var pictures = [PictureSlot?](repeating: nil, count: 64)
    private var slices = [SliceParameters?](repeating: nil, count: 64)
    private var layers: [LayerSlot] = []

    /// Creates an empty store.
    public init() {}

    /// Takes a parameter set NAL unit of type 32, 33 or 34.
    ///
    /// Compares bytes before it reads anything. An unreadable set leaves the store as it was, but a VPS is stored as
    /// long as its id can be read.
    ///
    /// - Returns: the change.
    /// - Throws: any ``BitstreamError``; `.wrongNALUnitType` for other types, `.lengthOutOfBounds` for a set longer
    ///   than ``maximumNALUnitLength``, `.unsupported` for more sets of other layers than ``maximumLayerSets``.
    @discardableResult
    public mutating func insert(_ nalUnit: Span<UInt8>) throws(BitstreamError) -> ParameterSetChange {
      let header = try NALUnitHeader(nalUnit)
      guard header.type.isParameterSet else {
        throw BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 1)
      }
      guard nalUnit.count <= Self.maximumNALUnitLength else {
        throw BitstreamError(.lengthOutOfBounds, "parameter set", bitOffset: 0)
      }
      let id = try Self.id(of: nalUnit, header)
      guard header.layerID == 0 else { return try insert(nalUnit, header, layerSet: id) }
      switch header.type {
      case .videoParameterSet: return insert(vps: nalUnit, id)
      case .sequenceParameterSet: return try insert(sps: nalUnit, id)
      default: return try insert(pps: nalUnit, id)
      }
    }

    private mutating func insert(vps bytes: Span<UInt8>, _ id: Int) -> ParameterSetChange {
      if let old = videos[id], BulkBytes.areEqual(old.bytes, bytes) { return .unchanged }
      let change: ParameterSetChange = videos[id] == nil ? .added : .replaced
      var slot = VideoSlot(bytes: [UInt8](copying: bytes))
      do throws(BitstreamError) {
        slot.set = try VideoParameterSet(nalUnit: bytes)
      } catch {
        // Some cameras send such sets. It is passed through unchanged.
      }
      videos[id] = slot
      return change
    }

    private mutating func insert(sps bytes: Span<UInt8>, _ id: Int) throws(BitstreamError) -> ParameterSetChange {
      if let old = sequences[id], BulkBytes.areEqual(old.bytes, bytes) { return .unchanged }
      // A set that is readable in part is better than none, but does not replace a good one.
      let set = try sequences[id] == nil ? .usable(bytes) : SequenceParameterSet(nalUnit: bytes)
      let change: ParameterSetChange = sequences[id] == nil ? .added : .replaced
      sequences[id] = SequenceSlot(bytes: [UInt8](copying: bytes), set: set)
      for index in pictures.indices {
        guard let pps = pictures[index]?.set, Int(pps.sequenceParameterSetID.rawValue) == id else { continue }
        slices[index] = SliceParameters(pps, set)
      }
      return change
    }

    private mutating func insert(pps bytes: Span<UInt8>, _ id: Int) throws(BitstreamError) -> ParameterSetChange {
      if let old = pictures[id], BulkBytes.areEqual(old.bytes, bytes) { return .unchanged }
      let set = try PictureParameterSet(nalUnit: bytes)
      let change: ParameterSetChange = pictures[id] == nil ? .added : .replaced
      pictures[id] = PictureSlot(bytes: [UInt8](copying: bytes), set: set)
      slices[id] = sequences[Int(set.sequenceParameterSetID.rawValue)].map { SliceParameters(set, $0.set) }
      return change
    }

    private mutating func insert(
      _ bytes: Span<UInt8>, _ header: NALUnitHeader, layerSet id: Int
    ) throws(BitstreamError) -> ParameterSetChange {
      let slot = LayerSlot(
        bytes: [UInt8](copying: bytes), key: [header.type.rawValue, header.layerID, UInt8(truncatingIfNeeded: id)])
      guard let index = layers.firstIndex(where: { $0.key == slot.key }) else {
        guard layers.count < Self.maximumLayerSets else {
          throw BitstreamError(.unsupported, "nuh_layer_id", bitOffset: 7)
        }
        layers.append(slot)
        return .added
      }
      if layers[index].bytes == slot.bytes { return .unchanged }
      layers[index] = slot
      return .replaced
    }

    /// Forgets everything.
    public mutating func removeAll() { self = ParameterSets() }

    // MARK: Looking up

    /// The VPS with the id; nil if there is none that can be read.
    public func videoParameterSet(_ id: VideoParameterSetID) -> VideoParameterSet? {
      id.rawValue < 16 ? videos[Int(id.rawValue)]?.set : nil
    }

    /// The SPS with the id, nil if there is none.
    public func sequenceParameterSet(_ id: SequenceParameterSetID) -> SequenceParameterSet? {
      id.rawValue < 16 ? sequences[Int(id.rawValue)]?.set : nil
    }

    /// The PPS with the id, nil if there is none.
    public func pictureParameterSet(_ id: PictureParameterSetID) -> PictureParameterSet? {
      id.rawValue < 64 ? pictures[Int(id.rawValue)]?.set : nil
    }

    /// The tiles of a PPS, read in place; nil if there is no PPS or it has none.
    func tiles(ofPictureParameterSet id: PictureParameterSetID) -> PictureParameterSet.Tiles? {
      id.rawValue < 64 ? pictures[Int(id.rawValue)]?.set.tiles : nil
    }

    /// The parameters for reading the header of a slice with this PPS; nil if the PPS or its SPS is missing.
    @inline(__always)
    package func sliceParameters(_ id: PictureParameterSetID) -> SliceParameters? {
      id.rawValue < 64 ? slices[Int(id.rawValue)] : nil
    }

    /// Bytes in which any slice header with these PPSs ends, emulation prevention bytes and the NAL unit header
    /// included.
    package var longestSliceHeader: Int {
      // Reference picture sets, lists, weights and the extension are less than 3000 bytes; an entry point is at most 4,
      // of which emulation prevention makes 6.
      var entryPoints = 0
      for case let parameters? in slices where parameters.hasEntryPoints {
        entryPoints = max(entryPoints, Int(parameters.codingTreeBlockCount))
      }
      return 4096 + 6 * entryPoints
    }

    /// Whether an SPS or PPS with the same id was read before, with which slices can be read if this one is damaged.
    public func holdsSet(withIDOf nalUnit: Span<UInt8>) -> Bool {
      do throws(BitstreamError) {
        let header = try NALUnitHeader(nalUnit)
        let id = try Self.id(of: nalUnit, header)
        guard header.layerID == 0 else { return false }
        switch header.type {
        // Nothing depends on a VPS: a damaged one is passed through unchanged.
        case .videoParameterSet: return false
        case .sequenceParameterSet: return sequences[id] != nil
        case .pictureParameterSet: return pictures[id] != nil
        default: return false
        }
      } catch {
        return false
      }
    }

    /// The NAL units of all VPS, by id.
    public var videoParameterSetNALUnits: [[UInt8]] { videos.compactMap { $0?.bytes } }

    /// The NAL units of all SPS of the base layer, by id.
    public var sequenceParameterSetNALUnits: [[UInt8]] { sequences.compactMap { $0?.bytes } }

    /// The NAL units of all PPS of the base layer, by id.
    public var pictureParameterSetNALUnits: [[UInt8]] { pictures.compactMap { $0?.bytes } }

    /// The NAL units of all sets of other layers, in the order in which they came.
    public var layerSetNALUnits: [[UInt8]] { layers.map { $0.bytes } }

    /// Whether there is no SPS.
    public var isEmpty: Bool { sequences.allSatisfy { $0 == nil } }

    /// Whether there is a PPS with its SPS: slices can be read.
    public var canReadSlices: Bool { slices.contains { $0 != nil } }

    /// Whether there is a PPS of the base layer, with or without its SPS.
    public var hasPictureParameterSet: Bool { pictures.contains { $0 != nil } }

    /// All NAL units in sending order: VPS, SPS, PPS, and those of other layers.
    public var nalUnits: [[UInt8]] {
      videoParameterSetNALUnits + sequenceParameterSetNALUnits + pictureParameterSetNALUnits + layerSetNALUnits
    }

    /// The reason that a stored VPS cannot be read; nil if it can.
    public func defect(of nalUnit: Span<UInt8>) -> BitstreamError? {
      guard nalUnit.count > 0, NALUnitType(headerByte: nalUnit[0]) == .videoParameterSet else { return nil }
      do throws(BitstreamError) {
        _ = try VideoParameterSet(nalUnit: nalUnit)
        return nil
      } catch {
        return error
      }
    }

    /// The id of an SPS of the base layer; nil if it cannot be read.
    public static func sequenceParameterSetID(of nalUnit: Span<UInt8>) -> SequenceParameterSetID? {
      do throws(BitstreamError) {
        let header = try NALUnitHeader(nalUnit, of: .sequenceParameterSet)
        return header.layerID == 0 ? .init(UInt8(clamping: try id(of: nalUnit, header))) : nil
      } catch {
        return nil
      }
    }

    /// The id of a parameter set, which in an SPS is after its profile.
    static func id(of nalUnit: Span<UInt8>, _ header: NALUnitHeader) throws(BitstreamError) -> Int {
      var reader = BitReader(nalUnit, from: NALUnitHeader.byteCount)
      switch header.type {
      case .videoParameterSet: return Int(try reader.u(4, "vps_video_parameter_set_id"))
      case .pictureParameterSet: return Int(try reader.ue8(in: 0...63, "pps_pic_parameter_set_id"))
      default:
        _ = try reader.u(4, "sps_video_parameter_set_id")
        if header.layerID > 0 {
          // 7: profile and level come from a lower layer (F.7.4.3.2.1).
          let count = try reader.u(3, "sps_ext_or_max_sub_layers_minus1")
          if count < 7 {
            _ = try reader.flag("sps_temporal_id_nesting_flag")
            _ = try ProfileTierLevel(&reader, subLayerCount: Int(count) + 1)
          }
        } else {
          let count = try reader.subLayerCount("sps_max_sub_layers_minus1")
          _ = try reader.flag("sps_temporal_id_nesting_flag")
          _ = try ProfileTierLevel(&reader, subLayerCount: Int(count))
        }
        return Int(try reader.ue8(in: 0...15, "sps_seq_parameter_set_id"))
      }
    }
  }
}
