// SPDX-License-Identifier: MPL-2.0
import H26x

/// The parameter sets in the description of a video track. Samples may have no others, unless its sample entry allows
/// them in-band (ISO/IEC 14496-15, 5.4.2.1 and 8.4.1.1).
struct DescribedParameterSets {
  private let packaging: NALPackaging
  private let types: NALUnitTypeSet
  private let type: (UInt8) -> UInt8
  private let nalUnits: [[UInt8]]

  /// - Returns: `nil` for a configuration record that cannot be read.
  init?(_ format: MediaOutput.VideoFormat) {
    switch format.codec {
    case .h264: self.init(format.configuration, of: H264.self)
    case .h265: self.init(format.configuration, of: H265.self)
    }
  }

  private init?<Codec: VideoCodecSyntax>(_ configuration: [UInt8], of codec: Codec.Type) {
    do throws(BitstreamError) {
      let record = try Codec.ConfigurationRecord(configuration.span)
      (packaging, nalUnits) = (.lengthPrefixed(record.nalLengthSize), record.nalUnits)
    } catch { return nil }
    types = Codec.typesInConfigurationRecord
    type = { Codec.NALUnitType(headerByte: $0).rawValue }
  }

  /// Whether those of an access unit with length prefixes are among them.
  func contain(thoseOf accessUnit: [UInt8]) -> Bool {
    packaging.nalUnits(of: accessUnit.span).allSatisfy { range in
      guard !range.isEmpty, types.contains(type(accessUnit[range.lowerBound])) else { return true }
      return nalUnits.contains { accessUnit[range].elementsEqual($0) }
    }
  }
}
