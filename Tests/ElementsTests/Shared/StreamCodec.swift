// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

/// A codec as a parameter of tests that hold for both, with synthetic pictures.
enum StreamCodec: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case h264, h265

  var testDescription: String { rawValue }

  /// The prefix of the names of its elements.
  var element: String { "swift\(rawValue)" }
  var mediaType: String { "video/x-\(rawValue)" }
  /// The stream format with parameter sets in the caps, and the one with in-band parameter sets.
  var outOfBand: String { self == .h264 ? "avc" : "hvc1" }
  var inBand: String { self == .h264 ? "avc3" : "hev1" }

  /// The codec's form of a gst-launch-1.0 line that is written for H.264.
  func chain(_ text: String) -> String {
    guard self == .h265 else { return text }
    return text.replacing("h264", with: "h265").replacing("avc3", with: inBand).replacing("=avc", with: "=\(outOfBand)")
  }

  /// Access units of a byte stream.
  func accessUnits(in bytes: [UInt8]) -> [[UInt8]] {
    self == .h264 ? Clip.accessUnits(in: bytes, of: H264.self) : Clip.accessUnits(in: bytes, of: H265.self)
  }

  /// The position of each access unit in presentation order, by POC.
  func presentationOrder(_ units: [[UInt8]]) -> [Int] {
    guard self == .h265 else { return Clip.presentationOrder(units) }
    var sets = H265.ParameterSets()
    var counter = H265.PictureOrderCounter()
    var epoch = 0
    var keys: [(epoch: Int, count: Int32, index: Int)] = []
    for (index, unit) in units.enumerated() {
      for nalUnit in Clip.nalUnits(unit) {
        _ = try? sets.insert(nalUnit.span)
        guard H265.NALUnitType(headerByte: nalUnit[0]).isVCL,
          let slice = try? H265.SliceSegmentHeader(nalUnit: nalUnit.span, parameterSets: sets),
          let sps = sets.sequenceParameterSet(slice.sequenceParameterSetID)
        else { continue }
        let count = counter.next(slice, sps: sps)
        if count.resetsPOC { epoch += 1 }
        keys.append((epoch, count.picture, index))
        break
      }
    }
    var positions = Array(units.indices)
    for (position, key) in keys.sorted(by: { ($0.epoch, $0.count) < ($1.epoch, $1.count) }).enumerated() {
      positions[key.index] = position
    }
    return positions
  }

  /// A byte stream whose SPSs have no VUI, and with that no frame rate.
  func withoutVUI(_ bytes: [UInt8]) -> [UInt8] {
    Clip.nalUnits(bytes).flatMap { [0, 0, 0, 1] + (parameterSetWithoutVUI($0) ?? $0) }
  }

  /// An SPS without its VUI; nil for another NAL unit.
  private func parameterSetWithoutVUI(_ nalUnit: [UInt8]) -> [UInt8]? {
    switch self {
    case .h264:
      guard nalUnit[0] & 31 == 7, var sps = try? H264.SequenceParameterSet(nalUnit: nalUnit.span) else { return nil }
      sps.vui = nil
      return sps.nalUnit()
    case .h265:
      guard nalUnit[0] >> 1 == 33, var sps = try? H265.SequenceParameterSet(nalUnit: nalUnit.span) else { return nil }
      sps.vui = nil
      return sps.nalUnit()
    }
  }

  /// Whether a NAL unit is a parameter set.
  func isParameterSet(_ nalUnit: [UInt8]) -> Bool {
    switch self {
    case .h264: H264.NALUnitType(headerByte: nalUnit[0]).isParameterSet
    case .h265: H265.NALUnitType(headerByte: nalUnit[0]).isParameterSet
    }
  }

  /// Whether a NAL unit is a slice.
  func isSlice(_ nalUnit: [UInt8]) -> Bool {
    switch self {
    case .h264: H264.NALUnitType(headerByte: nalUnit[0]).isVCL
    case .h265: H265.NALUnitType(headerByte: nalUnit[0]).isVCL
    }
  }

  /// Parameter sets of small pictures, 25 a second.
  func parameterSets(reorder: UInt32) -> [[UInt8]] {
    switch self {
    case .h264: [ParseStream.spsToOrder(reorder: reorder), ParseStream.ppsToOrder()]
    case .h265:
      [
        H265Stream.vps,
        H265Stream.sps { $0.buffering = [.init(maximumDecodedPictures: 5, maximumReorderPictures: UInt8(reorder))] },
        H265Stream.pps(),
      ]
    }
  }

  /// An SEI NAL unit with a recovery point that is reached with the picture so many reference pictures later.
  func recoveryPoint(after distance: Int) -> [UInt8] {
    var writer = BitWriter(addsEmulationPrevention: false)
    switch self {
    case .h264: writer.ue(UInt32(distance))
    case .h265: writer.se(Int32(distance))
    }
    writer.flag(true)
    writer.flag(false)
    if self == .h264 { writer.u(2, 0) }
    writer.trailingBits()
    return (self == .h264 ? [6] : [78, 1]) + [6, UInt8(writer.bytes.count)] + writer.bytes + [0x80]
  }

  enum Kind { case idr, p, b }

  /// A picture of one slice.
  ///
  /// - Parameters:
  ///   - number: the number of reference pictures of the group before it.
  ///   - order: its position in the group in presentation order.
  ///   - group: the number of the group, by which consecutive IDR pictures differ.
  func picture(_ kind: Kind, number: UInt32, order: UInt32, group: UInt32 = 0, size: Int) -> [UInt8] {
    switch self {
    case .h264:
      let type: UInt32 = kind == .idr ? 2 : kind == .p ? 0 : 1
      return ParseStream.slice(
        type, number: number, order: 2 * order, idr: kind == .idr, reference: kind == .b ? 0 : 1, idrID: group & 1,
        size: size)
    case .h265:
      let type = kind == .idr ? H265.NALUnitType.idrWithoutLeading : kind == .p ? .trailingR : .trailingN
      return H265Stream.slice(type, count: order, size: size)
    }
  }
}
