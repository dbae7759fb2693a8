// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Containers
import GStreamer
import H26x
import StreamReport

/// The metadata of a video stream that `h26x info` prints.
struct VideoMetadata: Sendable {
  /// Its record of Dolby Vision, or the record that its RPUs call for; `nil` for other streams.
  var dolbyVision: DolbyVision.Configuration?
  /// Whether the container states the record.
  var isDolbyVisionStated = false
  /// `MEL` or `FEL`; `nil` without an enhancement layer.
  var enhancementLayer: String?
  /// `HDR10`, `HLG`, `PQ`, and kinds of dynamic metadata.
  var hdrFormats: [String] = []
  /// `A` or `B`; `nil` without HDR10+, and if its metadata fit neither.
  var hdr10PlusProfile: String?
  var captions: [Captions] = []
  var hasLCEVC = false
  var encoder: String?
  var encoderSettings: String?
  /// The most reference frames, by the SPS.
  var referenceFrames: Int?
  /// The fewest and the most pictures from a keyframe to the next one.
  var group: ClosedRange<Int>?
  /// `progressive`, `top-field-first` or `bottom-field-first`.
  var scanOrder: String?

  /// A caption service with captions.
  struct Captions: Sendable {
    let service: String
    let language: String?
  }

  /// `8.1`.
  var dolbyVisionProfile: String? { dolbyVision.map { "\($0.profile).\($0.compatibilityID)" } }

  /// `BL+EL+RPU`.
  var dolbyVisionLayers: String? {
    dolbyVision.map { record in
      [(record.hasBaseLayer, "BL"), (record.hasEnhancementLayer, "EL"), (record.hasRPU, "RPU")].filter(\.0).map(\.1)
        .joined(separator: "+")
    }
  }
}

/// Collects the metadata in the NAL units of a stream.
struct StreamMetadata: Sendable {
  /// The profile of Dolby Vision by the RPUs.
  private var profile: UInt8?
  private var hasEnhancementLayer = false
  private var enhancementLayer: DolbyVision.RPU.EnhancementLayer?
  private var hdr10PlusProfiles: Set<String> = []
  private var (hasHDR10Plus, hasHDRVivid, hasSLHDR, hasLCEVC) = (false, false, false, false)
  private var captions = CaptionServices()
  private var messages = PresentationQueue<[CaptionMessage]>()
  private var encoder: (name: String, settings: String?)?
  /// RPUs that were read: those behind them say the same.
  private var count = 0
  private static let limit = 250

  mutating func add(_ accessUnit: AccessUnitRecord, _ codec: FormatDescription.Codec) {
    var found: [CaptionMessage] = []
    for nalUnit in accessUnit.nalUnits where nalUnit.layerID ?? 0 == 0 {
      if !nalUnit.messages.isEmpty {
        read(nalUnit.bytes.span, headerLength: codec.syntax.nalUnitHeaderLength, &found)
      } else if !nalUnit.isVCL {
        read(nalUnit, codec)
      }
    }
    guard !found.isEmpty, let order = accessUnit.pictureOrderCount else { return }
    for message in messages.add(found, sequence: accessUnit.sequence, order: order) ?? [] { captions.add(message) }
  }

  /// Takes the languages of captions by the container.
  mutating func take(_ services: CaptionDistributionPacket.ServiceInformation) { captions.add(services) }

  /// Reads a NAL unit of Dolby Vision.
  private mutating func read(_ nalUnit: NALUnitRecord, _ codec: FormatDescription.Codec) {
    let (rpu, layer): (UInt8, UInt8) =
      codec == .h264
      ? (H264.NALUnitType.dolbyVisionRPU.rawValue, H264.NALUnitType.dolbyVisionEnhancementLayer.rawValue)
      : (H265.NALUnitType.dolbyVisionRPU.rawValue, H265.NALUnitType.dolbyVisionEnhancementLayer.rawValue)
    if nalUnit.type == layer { hasEnhancementLayer = true }
    guard nalUnit.type == rpu, count < Self.limit else { return }
    count += 1
    do throws(BitstreamError) {
      let rpu = try DolbyVision.RPU(nalUnit: nalUnit.bytes.span, codec: codec)
      profile = profile ?? rpu.profile(codec)
      if enhancementLayer != .full { enhancementLayer = rpu.enhancementLayer ?? enhancementLayer }
    } catch {
      // A damaged RPU describes nothing; check names it.
    }
  }

  /// Reads the messages of an SEI NAL unit.
  private mutating func read(_ nalUnit: Span<UInt8>, headerLength: Int, _ found: inout [CaptionMessage]) {
    var messages = SEIMessages(nalUnit, headerLength: headerLength)
    do throws(BitstreamError) {
      while let message = try messages.next() {
        switch message.type {
        case .userDataRegistered:
          if let captions = take(try RegisteredUserData(message)) { found.append(captions) }
        case .userDataUnregistered:
          if encoder == nil { encoder = Self.encoder(try UnregisteredUserData(message).data) }
        default: break
        }
      }
    } catch {
      // The messages before it were read.
    }
  }

  /// Takes registered user data. Returns its captions.
  private mutating func take(_ userData: RegisteredUserData) -> CaptionMessage? {
    hasHDRVivid = hasHDRVivid || userData.isHDRVivid
    hasSLHDR = hasSLHDR || userData.isSLHDR
    hasLCEVC = hasLCEVC || userData.isLCEVC
    do throws(BitstreamError) {
      guard userData.isHDR10Plus else { return try CaptionMessage(userData) }
      hasHDR10Plus = true
      if let profile = try HDR10PlusMetadata(userData).profile { hdr10PlusProfiles.insert("\(profile.name)") }
    } catch {
      // check names it.
    }
    return nil
  }

  /// The name and settings in the text that x264, x265 and others write.
  private static func encoder(_ data: [UInt8]) -> (name: String, settings: String?)? {
    let text = data.last == 0 ? data.dropLast() : data[...]
    guard !text.isEmpty, text.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
    func place(of mark: String) -> Int? { text.indices.first { text[$0...].starts(with: mark.utf8) } }
    let mark = " - options:"
    guard let options = place(of: mark) else { return nil }
    // `x264 - core 164 r3095 baee400 - H.264/MPEG-4 AVC codec - Copyleft …`
    let end = min(options, place(of: " - H.26") ?? options, place(of: " - Copy") ?? options)
    let settings = text[(options + mark.utf8.count)...].drop { $0 == 0x20 }
    return (
      String(decoding: text[..<end], as: UTF8.self), settings.isEmpty ? nil : String(decoding: settings, as: UTF8.self)
    )
  }

  /// The metadata of the stream up to here, and of the container; see ``StreamSurvey``.
  func videoMetadata(
    _ codec: FormatDescription.Codec, _ format: FormatDescription?, _ display: DisplayMetadata,
    colour: StreamDescription.Colour?, record: DolbyVision.Configuration?, rate: Fraction?
  ) -> VideoMetadata {
    var video = VideoMetadata()
    (video.dolbyVision, video.isDolbyVisionStated) = (record, record != nil)
    // Films have 24 pictures a second.
    let rate = rate.flatMap { Ratio(UInt32(clamping: $0.numerator), UInt32(clamping: $0.denominator)) } ?? Ratio(24, 1)
    if record == nil, let profile, let format, let rate {
      video.dolbyVision = DolbyVision.Configuration(
        profile: profile, hasEnhancementLayer: hasEnhancementLayer, colour: format.colour,
        width: format.frameSize.width, height: format.frameSize.height, rate: rate)
    }
    if hasEnhancementLayer, let kind = enhancementLayer {
      video.enhancementLayer = kind == .full ? "FEL" : "MEL"
    }
    video.hdrFormats =
      [Self.hdrFormat(format, display, colour)].compactMap(\.self)
      + [(hasHDR10Plus, "HDR10+"), (hasHDRVivid, "HDR Vivid"), (hasSLHDR, "SL-HDR")].filter(\.0).map(\.1)
    video.hdr10PlusProfile = hdr10PlusProfiles.max()
    video.hasLCEVC = hasLCEVC
    var (services, rest) = (captions, messages)
    for message in rest.finish().joined() { services.add(message) }
    video.captions = services.services.map { .init(service: $0.name, language: services.language(of: $0)) }
    (video.encoder, video.encoderSettings) = (encoder?.name, encoder?.settings)
    return video
  }

  /// The static format by transfer, primaries and depth: `HDR10`, `PQ` without HDR10's metadata, or `HLG`.
  private static func hdrFormat(
    _ format: FormatDescription?, _ display: DisplayMetadata, _ colour: StreamDescription.Colour?
  ) -> String? {
    // The container's code, as in ``StreamDescription/Colour/capsText(_:_:preferringTransfer:)``; 2 is unspecified.
    func code(_ stated: UInt8?, _ sent: UInt8?) -> UInt8 {
      if let stated, stated != 2 { stated } else { sent ?? 2 }
    }
    let transfer =
      display.alternativeTransfer?.preferredTransfer ?? code(colour?.transfer, format?.colour?.transfer)
    switch transfer {
    case 16:
      let hasMetadata = display.masteringDisplay != nil || display.contentLight != nil
      let isWide = code(colour?.primaries, format?.colour?.primaries) == 9
      return hasMetadata && isWide && (format?.lumaBitDepth ?? 0) >= 10 ? "HDR10" : "PQ"
    case 18: return "HLG"
    default: return nil
    }
  }
}
