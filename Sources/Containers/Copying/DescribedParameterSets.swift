// SPDX-License-Identifier: MPL-2.0
import AVFormat
package import H26x

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

  /// Whether the parameter sets of an access unit with length prefixes are among them.
  func contain(thoseOf accessUnit: [UInt8]) -> Bool {
    packaging.nalUnits(of: accessUnit.span).allSatisfy { range in
      guard !range.isEmpty, types.contains(type(accessUnit[range.lowerBound])) else { return true }
      return nalUnits.contains { accessUnit[range].elementsEqual($0) }
    }
  }
}

extension MediaOutput.VideoFormat {
  /// The format in an edited stream.
  ///
  /// - Parameters:
  ///   - configuration: the edited configuration record.
  ///   - affects: whether the edits can change a property.
  package func edited(
    configuration: [UInt8], by affects: (StreamProperty) -> Bool
  ) -> MediaOutput.VideoFormat {
    var format = self
    format.configuration = configuration
    format.edited = Set(SampleEntryExtras.repeatedProperties.filter(affects))
    format.describeEdits()
    return format
  }

  /// Takes the properties that edits change from the configuration record.
  mutating func describeEdits() {
    guard !edited.isEmpty, let description = FormatDescription(codec, configuration: configuration) else { return }
    if edited.contains(.size) { size = (description.cropRectangle.width, description.cropRectangle.height) }
    if edited.contains(.shape) {
      pixelAspect = description.pixelAspectRatio.flatMap {
        TimeBase(Int32(clamping: $0.numerator), Int32(clamping: $0.denominator))
      }
      hasEditedAspect = true
    }
    guard edited.contains(.colour) else { return }
    colour = StreamDescription.Colour(description)
  }

  /// Adds an access unit's parameter sets to a configuration record that has none, as in streams that carry them
  /// in-band. Many players need the format before they read samples.
  mutating func describe(by accessUnit: [UInt8]) {
    do throws(BitstreamError) {
      switch codec {
      case .h264:
        let record = try H264.DecoderConfigurationRecord(configuration.span)
        guard record.nalUnits.isEmpty else { return }
        let format = try Self.description(H264.self, accessUnit, record.nalLengthSize)
        configuration = try format.h264DecoderConfigurationRecord().bytes()
      case .h265:
        let record = try H265.DecoderConfigurationRecord(configuration.span)
        guard record.nalUnits.isEmpty else { return }
        let format = try Self.description(H265.self, accessUnit, record.nalLengthSize)
        configuration = try format.h265DecoderConfigurationRecord(isComplete: false).bytes()
      }
    } catch {
      // It stays as it is.
    }
  }

  /// The format by the parameter sets in an access unit.
  ///
  /// - Parameter size: of its length prefixes; `nil` for start codes.
  static func description<Codec: VideoCodecSyntax>(
    _ codec: Codec.Type, _ accessUnit: [UInt8], _ size: NALLengthSize?
  ) throws(BitstreamError) -> FormatDescription {
    var sets = Codec.ParameterSets()
    for range in NALPackaging(lengthSize: size).nalUnits(of: accessUnit.span) where !range.isEmpty {
      let type = Codec.NALUnitType(headerByte: accessUnit[range.lowerBound])
      guard Codec.typesInConfigurationRecord.contains(type.rawValue) else { continue }
      _ = try sets.insert(accessUnit.span.extracting(range))
    }
    return try Codec.formatDescription(sets, sequenceParameterSetID: nil, nalLengthSize: size)
  }
}
