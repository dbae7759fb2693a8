// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

/// What the items of a report show of a stream as a whole.
struct StreamSurvey {
  private var codec = FormatDescription.Codec.h264
  private var parameterSets: [[UInt8]] = []
  private var fields = 0
  private(set) var display = DisplayMetadata()
  private(set) var found = PictureCount()
  /// Access units with a picture.
  private(set) var accessUnits = 0
  /// The offset in bytes behind the last access unit that was read.
  private(set) var end: UInt64 = 0
  /// Layers above the base layer of H.265.
  private(set) var layers: Set<UInt8> = []

  mutating func add(_ item: ReportItem) {
    switch item {
    case .stream(let stream): codec = stream.codec
    case .parameterSet(let set): if found.pictures < 2 { parameterSets.append(set.nalUnit.bytes) }
    case .accessUnit(let accessUnit):
      end = accessUnit.offset + accessUnit.size
      layers.formUnion(accessUnit.layers)
      guard accessUnit.letter != nil else { return }
      accessUnits += 1
      if accessUnit.isField { fields += 1 }
      found.add(accessUnit)
      for nalUnit in accessUnit.nalUnits where !nalUnit.messages.isEmpty {
        display.read(nalUnit.bytes.span, headerLength: codec.syntax.nalUnitHeaderLength)
      }
    default: break
    }
  }

  /// By the first parameter sets; `nil` where they cannot be read.
  var format: FormatDescription? {
    do throws(BitstreamError) {
      return try codec == .h264
        ? FormatDescription(h264ParameterSets: parameterSets) : FormatDescription(h265ParameterSets: parameterSets)
    } catch { return nil }
  }

  /// The caps field interlace-mode; `nil` for progressive pictures.
  var interlaceMode: String? {
    guard let format else { return nil }
    if format.isFieldSequence || accessUnits > 0 && fields == accessUnits { return "interleaved" }
    return fields > 0 || codec == .h264 && format.isInterlacedAllowed ? "mixed" : nil
  }
}
