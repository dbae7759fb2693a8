// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import VideoDecoding

/// Decodes the source's access units of one seam, and encodes the pictures that are wanted: an IDR picture, then P
/// pictures. It also decodes copied access units behind the seam, for their checksums.
///
/// A frame goes to the encoder as soon as it is decoded.
final class SeamCoder {
  /// `nil` if nothing is encoded.
  private let settings: EncoderSettings?
  private let decoder: SeamDecoder
  /// Finds damage that the decoder does not report: most of it in H.265.
  private var verification: StreamVerification
  /// Gets the pictures that are encoded.
  private let check: SeamCheck
  /// Opened with the first wanted frame.
  private var encoder: EncoderContext?
  private(set) var isTopFieldFirst: Bool?

  /// When all wanted pictures are shown, ascending.
  private let times: [Int64]
  /// When the pictures are shown that are wanted and were not decoded yet, by their numbers.
  private var wanted: [Int64: Int64] = [:]
  /// When encoded pictures are shown, by their numbers.
  private var encodedTimes: [Int64: Int64] = [:]
  private var latest = Int64.min
  /// Whether a picture came out before one that should be shown earlier. Nothing more is encoded.
  private var contradictsTimes = false
  /// Pictures that were sent to the encoder, and those that came out.
  private var (sentCount, encodedCount) = (0, 0)
  private var packets: [Packet] = []
  /// Whether the encoder is at work, not the decoder.
  private var isEncoding = false
  /// Whether all wanted pictures are encoded.
  private(set) var hasEncoded: Bool

  /// Access units since the last entry that are only decoded, without bytes, and the numbers of their pictures. They may
  /// also be copied.
  private var needed: [(accessUnit: MediaOutput.AccessUnit, number: Int64)] = []
  /// When copied pictures are shown, by their numbers.
  private var copied: [Int64: Int64] = [:]
  /// The number of copied access units that were decoded, up to the first picture with errors.
  private(set) var copiedCount = 0
  /// The number of the first copied picture with errors.
  private var damagedNumber: Int64?
  /// Whether decoding began with an entry that promises nothing. Then libavcodec takes all pictures for corrupt.
  private var beginsUnproven: Bool?
  /// Pictures in the order of presentation, since the first one that is encoded or copied.
  private var shown: [(number: Int64, checksum: UInt64?)] = []

  /// Checksums of pictures that the copy has, by the times at which they are shown. Decoding must give them again.
  private let samples: [Int64: UInt64]
  private var hasOtherSamples = false

  /// - Parameters:
  ///   - settings: of the encoder; `nil` if nothing is encoded.
  ///   - times: when the wanted pictures are shown, ascending.
  ///   - format: of the access units.
  ///   - hasStartCodes: whether they have start codes, not length prefixes.
  ///   - check: gets the pictures that are encoded.
  ///   - samples: checksums of pictures that the copy has, by the times at which they are shown.
  init(
    _ settings: EncoderSettings?, times: [Int64] = [], _ format: MediaOutput.VideoFormat, hasStartCodes: Bool,
    _ check: SeamCheck, _ samples: [Int64: UInt64] = [:]
  ) throws(SeamObstacle) {
    (self.settings, self.times, self.check, self.samples) = (settings, times, check, samples)
    hasEncoded = settings == nil
    verification = StreamVerification(format.codec, configuration: hasStartCodes ? nil : format.configuration)
    do throws(AVError) { decoder = try SeamDecoder(format, hasStartCodes: hasStartCodes) } catch { throw .damage }
  }

  /// Takes the next access unit of the seam in decoding order.
  ///
  /// - Throws: the reason for which the seam cannot be made.
  func take(_ accessUnit: MediaOutput.AccessUnit) throws(SeamObstacle) {
    let number = decoder.number(of: accessUnit)
    if accessUnit.role.start != .none { needed = [] }
    beginsUnproven = beginsUnproven ?? accessUnit.role.isUnproven
    if accessUnit.disposition == .encoded {
      wanted[number] = wanted[number] ?? accessUnit.presentation
    } else {
      var placed = accessUnit
      placed.bytes = []
      needed.append((placed, number))
    }
    do throws(AVError) { try decode(accessUnit) } catch { throw obstacle }
  }

  /// Takes the next copied access unit behind the seam. Nothing behind a damaged picture is decoded.
  ///
  /// - Throws: `SeamObstacle.encoder` if the encoder fails.
  func copy(_ accessUnit: MediaOutput.AccessUnit) throws(SeamObstacle) {
    guard damagedNumber == nil else { return }
    let known = needed.first { other, _ in
      other.presentation == accessUnit.presentation && other.decoding == accessUnit.decoding
    }
    let number = known?.number ?? decoder.number(of: accessUnit)
    let isFirstField = !accessUnit.role.isSecondField
    if isFirstField { copied[number] = accessUnit.presentation }
    do throws(AVError) {
      if known == nil { try decode(accessUnit) }
      copiedCount += 1
      try finishEncoding()
    } catch {
      guard !isEncoding, !contradictsTimes else { throw obstacle }
      damagedNumber = number
      copied[number] = nil
      if !isFirstField, copiedCount > 0 { copiedCount -= 1 }
    }
  }

  /// Takes the pictures that the encoder made since the last call.
  func takePackets() -> [Packet] {
    defer { packets = [] }
    return packets
  }

  /// Ends the seam. Encoded pictures may be left.
  ///
  /// - Returns: the pictures that the copy must show, up to the first copied one with errors.
  /// - Throws: the reason for which the seam cannot be made: also if not all wanted pictures were decoded.
  func finish() throws(SeamObstacle) -> [SeamCheck.Picture] {
    do throws(AVError) {
      try decoder.finish(receive)
      guard wanted.isEmpty else { throw .invalidData }
      try finishEncoding()
    } catch { throw obstacle }
    guard !hasOtherSamples else { throw .verification }
    let times = copied.merging(encodedTimes) { copied, _ in copied }
    return shown.compactMap { number, checksum in
      times[number].map { SeamCheck.Picture(presentation: $0, checksum: checksum) }
    }
  }

  private var obstacle: SeamObstacle {
    if isEncoding { return .encoder }
    return contradictsTimes && wanted.isEmpty ? .pictureOrder : .damage
  }

  /// Decodes the next access unit of the source.
  ///
  /// - Throws: also for damage in its picture, which others may refer to.
  private func decode(_ accessUnit: MediaOutput.AccessUnit) throws(AVError) {
    guard !verification.findsDamage(in: accessUnit.bytes.span) else { throw .invalidData }
    try decoder.decode(accessUnit, receive)
  }

  /// Takes a decoded frame, and encodes it if it is wanted.
  private func receive(_ frame: borrowing Frame) throws(AVError) {
    let number = frame.timestamp
    if let damagedNumber, number >= damagedNumber { return }
    guard copied[number] == nil else { return shown.append((number, frame.checksum)) }
    guard beginsUnproven == true || !frame.isCorrupt, frame.errors.isEmpty else { throw .invalidData }
    guard let presentation = wanted.removeValue(forKey: number) else {
      compare(frame)
      // Copied pictures are shown behind the encoded ones.
      if !shown.isEmpty { shown.append((number, frame.checksum)) }
      return
    }
    // Whether the next one is late or missing is known at the end.
    let isNext = times.indices.contains(sentCount) && times[sentCount] == presentation && presentation > latest
    contradictsTimes = contradictsTimes || !isNext
    guard !contradictsTimes else { return }
    guard let settings else { throw .invalidData }
    latest = presentation
    encodedTimes[number] = presentation
    shown.append((number, nil))
    isEncoding = true
    try encode(frame, presentation, settings)
    isEncoding = false
  }

  /// Compares a needed picture with that of the copy.
  private func compare(_ frame: borrowing Frame) {
    let number = frame.timestamp
    guard !samples.isEmpty, let other = needed.first(where: { $0.number == number }),
      let checksum = samples[other.accessUnit.presentation]
    else { return }
    if checksum != frame.checksum { hasOtherSamples = true }
  }

  private func encode(
    _ frame: borrowing Frame, _ presentation: Int64, _ settings: EncoderSettings
  ) throws(AVError) {
    if encoder == nil {
      var settings = settings
      // libavutil has formats of their own for full-range samples.
      if let name = frame.format.name, name.hasPrefix("yuvj"), settings.format.name == "yuv\(name.dropFirst(4))" {
        settings.format = frame.format
      }
      if settings.isTopFieldFirst != nil {
        settings.isTopFieldFirst = !frame.isInterlaced || frame.isTopFieldFirst
        isTopFieldFirst = settings.isTopFieldFirst
      }
      encoder = try EncoderContext(settings)
    }
    try check.take(frame, presentation: presentation)
    try encoder?.send(frame, presentation: presentation)
    sentCount += 1
    try receivePackets()
  }

  /// Ends the encoder if all wanted pictures were sent to it. None are wanted behind the first copied one.
  private func finishEncoding() throws(AVError) {
    guard !hasEncoded, wanted.isEmpty else { return }
    guard !contradictsTimes else { throw .invalidData }
    isEncoding = true
    try encoder?.sendEndOfStream()
    try receivePackets()
    guard encodedCount == sentCount else { throw .external }
    (isEncoding, hasEncoded) = (false, true)
    // Copied pictures are decoded without its memory.
    encoder = nil
  }

  private func receivePackets() throws(AVError) {
    while let picture = try encoder?.receive() {
      guard encodedCount < sentCount, picture.isKey == (encodedCount == 0) else { throw .external }
      encodedCount += 1
      packets.append(picture.packet)
    }
  }
}
