// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

/// The contents of a video that playlists announce and SEI messages signal: captions, and the transfer that replaces
/// the VUI's.
struct SignalledContents {
  /// `preferred_transfer_characteristics`; `nil` without the message.
  private(set) var preferredTransfer: UInt8?
  private var found = CaptionServices()
  private var messages = PresentationQueue<[CaptionMessage]>()

  /// The caption services that have captions.
  var captions: CaptionServices {
    var (services, rest) = (found, messages)
    for message in rest.finish().joined() { services.add(message) }
    return services
  }

  /// Takes the languages of service information.
  mutating func add(_ services: CaptionDistributionPacket.ServiceInformation) { found.add(services) }

  /// Takes the next access unit in decoding order.
  mutating func add(_ accessUnit: MediaOutput.AccessUnit, _ codec: FormatDescription.Codec, _ packaging: NALPackaging) {
    let captions =
      switch codec {
      case .h264: read(accessUnit.bytes, packaging, H264.self)
      case .h265: read(accessUnit.bytes, packaging, H265.self)
      }
    // Pairs and packets are torn apart in decoding order.
    guard !captions.isEmpty else { return }
    let next = messages.add(captions, sequence: UInt64(max(0, accessUnit.presentation)), order: 0)
    for message in next ?? [] { found.add(message) }
  }

  private mutating func read<Codec: VideoCodecSyntax>(
    _ accessUnit: [UInt8], _ packaging: NALPackaging, _ codec: Codec.Type
  ) -> [CaptionMessage] {
    var captions: [CaptionMessage] = []
    for range in packaging.nalUnits(of: accessUnit.span) {
      let nalUnit = accessUnit.span.extracting(range)
      guard Codec.role(of: nalUnit) == .sei else { continue }
      var messages = SEIMessages(nalUnit, headerLength: Codec.nalUnitHeaderLength)
      do throws(BitstreamError) {
        while let message = try messages.next() {
          switch message.type {
          case .userDataRegistered:
            if let message = try CaptionMessage(RegisteredUserData(message)) { captions.append(message) }
          case .alternativeTransferCharacteristics:
            preferredTransfer = try AlternativeTransferCharacteristics(message).preferredTransfer
          default: break
          }
        }
      } catch {
        // The messages before it were read; check names it.
      }
    }
    return captions
  }
}
