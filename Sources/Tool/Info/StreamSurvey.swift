// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x
import StreamReport

/// A summary of a whole stream, from the items of a report.
struct StreamSurvey {
  private var codec = FormatDescription.Codec.h264
  /// Parameter sets that come before the first picture or with it.
  private var parameterSets: [[UInt8]] = []
  /// The picture parameter set that the first picture refers to.
  private var pictureParameterSet: PictureParameterSetID?
  private var fields = 0
  private(set) var display = DisplayMetadata()
  private(set) var found = MediaInfo.Counts()
  /// Access units with a picture.
  private(set) var accessUnits = 0
  /// The offset in bytes behind the last access unit that was read.
  private(set) var end: UInt64 = 0
  /// Layers above the base layer of H.265.
  private(set) var layers: Set<UInt8> = []

  mutating func add(_ item: ReportItem) {
    switch item {
    case .stream(let stream): codec = stream.codec
    case .parameterSet(let set): if accessUnits == 0 { parameterSets.append(set.nalUnit.bytes) }
    case .accessUnit(let accessUnit):
      end = accessUnit.offset + accessUnit.size
      layers.formUnion(accessUnit.layers)
      guard accessUnit.letter != nil else { return }
      if accessUnits == 0 {
        pictureParameterSet =
          accessUnit.nalUnits.lazy.filter { $0.layerID ?? 0 == 0 }.compactMap(\.slice).first?
          .pictureParameterSetID
      }
      accessUnits += 1
      if accessUnit.isField { fields += 1 }
      found.add(accessUnit)
      for nalUnit in accessUnit.nalUnits where !nalUnit.messages.isEmpty {
        display.read(nalUnit.bytes.span, headerLength: codec.syntax.nalUnitHeaderLength)
      }
    default: break
    }
  }

  /// The format by the parameter sets of the first picture; `nil` if they cannot be read.
  var format: FormatDescription? {
    do throws(BitstreamError) {
      switch codec {
      case .h264:
        let sets = stored(H264.ParameterSets())
        let id = pictureParameterSet.flatMap { sets.pictureParameterSet($0)?.sequenceParameterSetID }
        return try FormatDescription(sets, sequenceParameterSetID: id)
      case .h265:
        let sets = stored(H265.ParameterSets())
        let id = pictureParameterSet.flatMap { sets.pictureParameterSet($0)?.sequenceParameterSetID }
        return try FormatDescription(sets, sequenceParameterSetID: id)
      }
    } catch { return nil }
  }

  private func stored<Sets: ParameterSetStore>(_ empty: Sets) -> Sets {
    var sets = empty
    // Twice, because a PPS may precede its SPS.
    for nalUnit in parameterSets + parameterSets { _ = try? sets.insert(nalUnit.span) }
    return sets
  }

  /// The caps field interlace-mode; `nil` for progressive pictures.
  var interlaceMode: String? {
    guard let format else { return nil }
    if format.isFieldSequence || accessUnits > 0 && fields == accessUnits { return "interleaved" }
    return fields > 0 || codec == .h264 && format.isInterlacedAllowed ? "mixed" : nil
  }
}
