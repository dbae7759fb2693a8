// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// Decodes the access units of one seam, and encodes the pictures that are wanted: an IDR picture, then P pictures. It
/// also decodes copied access units behind the seam, for their checksums.
///
/// A frame goes to the encoder as soon as it is decoded.
final class SeamCoder {
  /// An encoded picture.
  struct Picture {
    /// The access unit that it replaces, with the times of the whole picture and without bytes.
    var accessUnit: MediaOutput.AccessUnit
    let packet: Packet
  }

  /// The pictures of a seam that is finished.
  struct Pictures {
    /// In the order of presentation.
    let encoded: [Picture]
    /// The number of copied access units that were decoded, up to the first picture with errors.
    let copiedCount: Int
    /// The pictures that the copy must show: the encoded ones, and those of the copied access units.
    let check: SeamCheck
  }

  /// `nil` if nothing is encoded.
  private let settings: EncoderSettings?
  private let decoder: SeamDecoder
  /// Opened with the first wanted frame.
  private var encoder: EncoderContext?
  private var fidelity: SeamFidelity?
  private(set) var isTopFieldFirst: Bool?

  /// See `SeamFidelity`.
  var lowestPSNR: Double? { fidelity?.lowestPSNR }

  /// Access units whose pictures are wanted and were not decoded yet, by the numbers of their pictures.
  private var wanted: [Int64: MediaOutput.AccessUnit] = [:]
  /// Those whose pictures are in the encoder, in order.
  private var entered: [MediaOutput.AccessUnit] = []
  private var latest = Int64.min
  private var encoded: [Picture] = []

  /// Access units since the last entry that are only decoded, without bytes, and the numbers of their pictures. They may
  /// also be copied.
  private var needed: [(accessUnit: MediaOutput.AccessUnit, number: Int64)] = []
  /// When copied pictures are shown, by their numbers.
  private var copied: [Int64: Int64] = [:]
  private var copiedCount = 0
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
  ///   - format: of the access units.
  ///   - hasStartCodes: whether they have start codes, not length prefixes.
  ///   - samples: checksums of pictures that the copy has, by the times at which they are shown.
  init(
    _ settings: EncoderSettings?, _ format: MediaOutput.VideoFormat, hasStartCodes: Bool,
    _ samples: [Int64: UInt64] = [:]
  ) throws(SeamObstacle) {
    (self.settings, self.samples) = (settings, samples)
    do throws(AVError) { decoder = try SeamDecoder(format, hasStartCodes: hasStartCodes) } catch { throw .damage }
  }

  /// Takes the next access unit of the seam in decoding order.
  ///
  /// - Throws: the reason for which the seam cannot be made.
  func take(_ accessUnit: MediaOutput.AccessUnit) throws(SeamObstacle) {
    let number = decoder.number(of: accessUnit)
    if accessUnit.role.start != .none { needed = [] }
    beginsUnproven = beginsUnproven ?? accessUnit.role.isUnproven
    var placed = accessUnit
    placed.bytes = []
    if accessUnit.disposition == .encoded {
      if accessUnit.role.isSecondField, let first = wanted[number] {
        placed = first
        placed.duration = max(first.duration, accessUnit.presentation &+ accessUnit.duration &- first.presentation)
      }
      wanted[number] = placed
    } else {
      needed.append((placed, number))
    }
    do throws(AVError) { try decoder.decode(accessUnit, receive) } catch { throw obstacle }
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
      if known == nil { try decoder.decode(accessUnit, receive) }
      copiedCount += 1
    } catch {
      guard !isEncoding else { throw .encoder }
      damagedNumber = number
      copied[number] = nil
      if !isFirstField, copiedCount > 0 { copiedCount -= 1 }
    }
  }

  /// Ends the seam.
  ///
  /// - Throws: the reason for which the seam cannot be made: also if not all wanted pictures were decoded.
  func finish() throws(SeamObstacle) -> Pictures {
    do throws(AVError) {
      try decoder.finish(receive)
      guard wanted.isEmpty else { throw .invalidData }
      if encoder != nil {
        isEncoding = true
        try encoder?.sendEndOfStream()
        try receivePackets()
        try fidelity?.finish()
      }
    } catch { throw obstacle }
    guard entered.isEmpty else { throw .encoder }
    guard !hasOtherSamples else { throw .verification }
    let times = copied.merging(encodedTimes) { copied, _ in copied }
    let pictures = shown.compactMap { number, checksum in
      times[number].map { SeamCheck.Picture(presentation: $0, checksum: checksum) }
    }
    return Pictures(encoded: encoded, copiedCount: copiedCount, check: SeamCheck(pictures: pictures))
  }

  /// When encoded pictures are shown, by their numbers.
  private var encodedTimes: [Int64: Int64] = [:]
  /// Whether the encoder is at work, not the decoder.
  private var isEncoding = false
  private var obstacle: SeamObstacle { isEncoding ? .encoder : .damage }

  /// Takes a decoded frame, and encodes it if it is wanted.
  private func receive(_ frame: borrowing Frame) throws(AVError) {
    let number = frame.timestamp
    if let damagedNumber, number >= damagedNumber { return }
    guard copied[number] == nil else { return shown.append((number, frame.checksum)) }
    guard beginsUnproven == true || !frame.isCorrupt, frame.errors.isEmpty else { throw .invalidData }
    guard let accessUnit = wanted[number] else {
      compare(frame)
      // Copied pictures are shown behind the encoded ones.
      if !shown.isEmpty { shown.append((number, frame.checksum)) }
      return
    }
    guard accessUnit.presentation > latest, let settings else { throw .invalidData }
    wanted[number] = nil
    latest = accessUnit.presentation
    encodedTimes[number] = accessUnit.presentation
    shown.append((number, nil))
    isEncoding = true
    try encode(frame, accessUnit, settings)
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
    _ frame: borrowing Frame, _ accessUnit: MediaOutput.AccessUnit, _ settings: EncoderSettings
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
      fidelity = try SeamFidelity(settings)
    }
    try fidelity?.take(frame, presentation: accessUnit.presentation)
    try encoder?.send(frame, presentation: accessUnit.presentation)
    entered.append(accessUnit)
    try receivePackets()
  }

  private func receivePackets() throws(AVError) {
    while let picture = try encoder?.receive() {
      guard !entered.isEmpty, picture.isKey == encoded.isEmpty else { throw .external }
      try fidelity?.take(picture.packet)
      encoded.append(Picture(accessUnit: entered.removeFirst(), packet: picture.packet))
    }
  }
}
