// SPDX-License-Identifier: MPL-2.0
import AVFormat
import GStreamer
package import H26x

/// How to display the video, by the stream itself.
extension MediaOutput.VideoFormat {
  /// Takes colour, HDR10's metadata, the ambient viewing environment and the configuration of Dolby Vision from the
  /// configuration record and from an access unit.
  ///
  /// - Parameter hasStartCodes: whether the access unit has start codes, not length prefixes.
  mutating func describeDisplay(by accessUnit: [UInt8], hasStartCodes: Bool) {
    switch codec {
    case .h264: describeDisplay(by: accessUnit, hasStartCodes, H264.self)
    case .h265: describeDisplay(by: accessUnit, hasStartCodes, H265.self)
    }
  }

  private mutating func describeDisplay<Codec: VideoCodecSyntax>(
    by accessUnit: [UInt8], _ hasStartCodes: Bool, _ codec: Codec.Type
  ) {
    var format = FormatDescription(self.codec, configuration: configuration)
    if format == nil, hasStartCodes {
      do throws(BitstreamError) { format = try Self.description(codec, accessUnit, nil) } catch {
        // It is not described.
      }
    }
    if let colour = format.map(StreamDescription.Colour.init), !colour.isUnspecified { sentColour = colour }
    var (metadata, dolbyVision) = (DisplayMetadata(), DolbyVisionContent())
    var packaging = NALPackaging.annexB
    do throws(BitstreamError) {
      let record = try Codec.ConfigurationRecord(configuration.span)
      for nalUnit in record.nalUnits { read(nalUnit.span, &metadata, codec) }
      if !hasStartCodes { packaging = .lengthPrefixed(record.nalLengthSize) }
    } catch { guard hasStartCodes else { return } }
    for range in packaging.nalUnits(of: accessUnit.span) {
      let nalUnit = accessUnit.span.extracting(range)
      read(nalUnit, &metadata, codec)
      dolbyVision.read(nalUnit, codec)
    }
    sentMetadata = [metadata.masteringDisplay.flatMap(SideData.init), metadata.contentLight.map(SideData.init)]
      .compactMap(\.self)
    let rate = frameDuration.flatMap { Ratio(UInt32(clamping: $0.denominator), UInt32(clamping: $0.numerator)) }
    // Films have 24 pictures a second.
    let requested: DolbyVisionProfile? = if case .inserted(let profile) = self.dolbyVision { profile } else { nil }
    guard dolbyVision.hasRPU, let profile = requested?.number ?? dolbyVision.profile,
      let rate = rate ?? format?.frameRate ?? Ratio(24, 1)
    else { return }
    var configuration = DolbyVision.Configuration(
      profile: profile, hasEnhancementLayer: dolbyVision.hasEnhancementLayer, colour: format?.colour,
      width: size.width, height: size.height, rate: rate)
    if let id = requested?.compatibilityID { configuration.compatibilityID = id }
    sentDolbyVision = configuration
  }

  /// The configuration of Dolby Vision in the copy; `nil` for none.
  var copiedDolbyVision: DolbyVision.Configuration? {
    dolbyVision.configuration(stated: statedDolbyVision, sent: sentDolbyVision)
  }

  /// That configuration if it is not the source's; `nil` otherwise.
  var newDolbyVision: DolbyVision.Configuration? {
    dolbyVision == .copied && statedDolbyVision != nil ? nil : copiedDolbyVision
  }

  private mutating func read<Codec: VideoCodecSyntax>(
    _ nalUnit: Span<UInt8>, _ metadata: inout DisplayMetadata, _ codec: Codec.Type
  ) {
    guard Codec.role(of: nalUnit) == .sei else { return }
    metadata.read(nalUnit, headerLength: Codec.nalUnitHeaderLength)
    var messages = SEIMessages(nalUnit, headerLength: Codec.nalUnitHeaderLength)
    do throws(BitstreamError) {
      while let message = try messages.next() {
        // The payload of the message is the content of the box (ISO/IEC 14496-12, 12.1.8).
        guard message.type == .ambientViewingEnvironment, message.size == 8 else { continue }
        sentAmbientViewing = try message.payload()
      }
    } catch {
      // The messages before it were read.
    }
  }
}

extension MediaOutput.VideoFormat {
  /// The video of a container.
  package init(_ track: VideoTrack) {
    self.init(
      codec: track.codec, size: track.size ?? (0, 0),
      frameDuration: track.framerate.flatMap { TimeBase($0.denominator, $0.numerator) },
      configuration: track.packaging.configuration ?? [])
    statedDolbyVision = track.dolbyVision
  }

  /// The video of a byte stream.
  ///
  /// - Returns: `nil` unless the access unit has its parameter sets.
  package init?(_ codec: FormatDescription.Codec, describedBy accessUnit: [UInt8]) {
    do throws(BitstreamError) {
      let description =
        switch codec {
        case .h264: try Self.description(H264.self, accessUnit, nil)
        case .h265: try Self.description(H265.self, accessUnit, nil)
        }
      self.init(codec: codec, size: (description.frameSize.width, description.frameSize.height))
    } catch { return nil }
  }

  /// The configuration of Dolby Vision that a copy in a container has in place of the source's; `nil` if it has that,
  /// or none.
  ///
  /// - Parameters:
  ///   - accessUnit: the first one of the copy.
  ///   - hasStartCodes: whether it has start codes, not length prefixes.
  package func newDolbyVision(
    _ record: DolbyVisionRecord, _ accessUnit: [UInt8], hasStartCodes: Bool
  ) -> DolbyVision.Configuration? {
    var format = self
    format.dolbyVision = record
    format.describeDisplay(by: accessUnit, hasStartCodes: hasStartCodes)
    return format.newDolbyVision
  }
}

/// The NAL units of Dolby Vision in an access unit.
private struct DolbyVisionContent {
  private(set) var hasRPU = false
  /// By the RPU; `nil` without one, and if it does not say.
  private(set) var profile: UInt8?
  private(set) var hasEnhancementLayer = false

  mutating func read<Codec: VideoCodecSyntax>(_ nalUnit: Span<UInt8>, _: Codec.Type) {
    guard nalUnit.count > 0 else { return }
    let type = Codec.NALUnitType(headerByte: nalUnit[0])
    if type == .dolbyVisionEnhancementLayer { hasEnhancementLayer = true }
    guard type == .dolbyVisionRPU else { return }
    hasRPU = true
    // A damaged RPU describes nothing.
    do throws(BitstreamError) {
      profile = try DolbyVision.RPU(nalUnit: nalUnit, codec: Codec.codec).profile(Codec.codec)
    } catch {}
  }
}

extension StreamDescription.Colour {
  /// The colour that a stream states.
  init(_ format: FormatDescription) {
    self.init(
      primaries: format.colour?.primaries ?? 2, transfer: format.colour?.transfer ?? 2,
      matrix: format.colour?.matrix ?? 2, isFullRange: format.isFullRange)
  }
}

extension SideData {
  /// - Returns: `nil` unless there are three primaries.
  fileprivate init?(_ display: MasteringDisplayColourVolume) {
    guard display.primaries.count == 3 else { return nil }
    func point(_ chromaticity: MasteringDisplayColourVolume.Chromaticity) -> Chromaticity {
      (chromaticity.x, chromaticity.y)
    }
    // By convention, the stream sends green, blue and red (H.265, D.3.28).
    self = .masteringDisplay(
      red: point(display.primaries[2]), green: point(display.primaries[0]), blue: point(display.primaries[1]),
      white: point(display.whitePoint), luminance: (display.minimumLuminance, display.maximumLuminance))
  }

  fileprivate init(_ light: ContentLightLevel) {
    self = .contentLight(maximum: light.maximum, maximumPictureAverage: light.maximumPictureAverage)
  }
}
