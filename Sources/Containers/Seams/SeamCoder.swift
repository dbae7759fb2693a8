// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// Decodes the access units of one seam, and encodes the pictures that are wanted: an IDR picture, then P pictures.
///
/// A frame goes to the encoder as soon as it is decoded.
final class SeamCoder {
  /// An encoded picture.
  struct Picture {
    /// The access unit that it replaces, with the times of the whole picture and without bytes.
    var accessUnit: MediaOutput.AccessUnit
    let packet: Packet
  }

  private let settings: EncoderSettings
  private let decoder: CodecContext
  private let frame: Frame
  private let pool = PacketPool()
  /// Opened with the first wanted frame.
  private var encoder: EncoderContext?
  private var fidelity: SeamFidelity?
  private(set) var isTopFieldFirst: Bool?

  /// See `SeamFidelity`.
  var lowestPSNR: Double? { fidelity?.lowestPSNR }

  /// The number of packets up to now, which are the decoder's timestamps.
  private var sentCount: Int64 = 0
  /// The number of the packet that began the latest picture.
  private var pictureNumber: Int64 = 0
  /// Access units whose pictures are wanted and were not decoded yet, by the numbers of their packets.
  private var wanted: [Int64: MediaOutput.AccessUnit] = [:]
  /// Those whose pictures are in the encoder, in order.
  private var entered: [MediaOutput.AccessUnit] = []
  private var latest = Int64.min
  private var encoded: [Picture] = []

  /// - Parameters:
  ///   - settings: of the encoder.
  ///   - configuration: the configuration record; empty for access units with start codes.
  init(_ settings: EncoderSettings, configuration: [UInt8]) throws(SeamObstacle) {
    self.settings = settings
    var decoding = CodecSettings(codec: settings.codec, extradata: configuration)
    decoding.expectsDeepestReordering = true
    // Frame threads report errors late, and slice threads none.
    decoding.threadCount = 1
    do throws(AVError) {
      decoder = try CodecContext(decoding, buffers: nil)
      frame = try Frame()
    } catch { throw .damage }
  }

  /// Takes the next access unit of the seam in decoding order.
  ///
  /// - Throws: the reason for which the seam cannot be made.
  func take(_ accessUnit: MediaOutput.AccessUnit) throws(SeamObstacle) {
    if !accessUnit.role.isSecondField { pictureNumber = sentCount }
    if accessUnit.disposition == .encoded {
      var placed = accessUnit
      placed.bytes = []
      if accessUnit.role.isSecondField, let first = wanted[pictureNumber] {
        placed = first
        placed.duration = max(first.duration, accessUnit.presentation &+ accessUnit.duration &- first.presentation)
      }
      wanted[pictureNumber] = placed
    }
    do throws(AVError) {
      let packet = try pool.packet(copying: accessUnit.bytes.span, timestamp: sentCount)
      sentCount += 1
      var isTaken = false
      while !isTaken {
        do throws(AVError) {
          try decoder.send(packet)
          isTaken = true
        } catch {
          guard error == .tryAgain else { throw error }
        }
        while try decoder.receive(frame) == .frame { try encode() }
      }
      // Other pictures of the seam may refer to this one.
      guard decoder.takeErrors(timestamp: pictureNumber).isEmpty else { throw .invalidData }
    } catch { throw obstacle }
  }

  /// Ends the seam.
  ///
  /// - Returns: the wanted pictures in the order of presentation.
  /// - Throws: the reason for which the seam cannot be made: also if not all of them were decoded.
  func finish() throws(SeamObstacle) -> [Picture] {
    do throws(AVError) {
      try decoder.sendEndOfStream()
      while try decoder.receive(frame) == .frame { try encode() }
      guard wanted.isEmpty else { throw .invalidData }
      if encoder != nil {
        isEncoding = true
        try encoder?.sendEndOfStream()
        try receive()
        try fidelity?.finish()
      }
    } catch { throw obstacle }
    guard entered.isEmpty else { throw .encoder }
    return encoded
  }

  /// Whether the encoder is at work, not the decoder.
  private var isEncoding = false
  private var obstacle: SeamObstacle { isEncoding ? .encoder : .damage }

  /// Encodes the decoded frame, if it is wanted.
  private func encode() throws(AVError) {
    guard !frame.isCorrupt, frame.errors.isEmpty else { throw .invalidData }
    guard let accessUnit = wanted.removeValue(forKey: frame.timestamp) else { return }
    guard accessUnit.presentation > latest else { throw .invalidData }
    latest = accessUnit.presentation
    isEncoding = true
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
    try receive()
    isEncoding = false
  }

  private func receive() throws(AVError) {
    while let picture = try encoder?.receive() {
      guard !entered.isEmpty, picture.isKey == encoded.isEmpty else { throw .external }
      try fidelity?.take(picture.packet)
      encoded.append(Picture(accessUnit: entered.removeFirst(), packet: picture.packet))
    }
  }
}
