// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// Decodes encoded pictures, and compares their luma with that of the source.
final class SeamFidelity {
  private final class Original {
    let frame: Frame
    init(_ frame: borrowing Frame) throws(AVError) { self.frame = try frame.withoutProperties() }
  }

  private let decoder: CodecContext
  private let frame: Frame
  /// Those that were not compared yet, by presentation time.
  private var originals: [Int64: Original] = [:]
  /// The lowest PSNR in dB, infinite if all pictures equal their originals; `nil` before the first one.
  private(set) var lowestPSNR: Double?

  /// - Parameter settings: of the encoder.
  init(_ settings: EncoderSettings) throws(AVError) {
    var decoding = CodecSettings(codec: settings.codec)
    decoding.threadCount = 1
    decoder = try CodecContext(decoding, buffers: nil)
    frame = try Frame()
  }

  /// Takes a picture that the encoder gets.
  func take(_ original: borrowing Frame, presentation: Int64) throws(AVError) {
    originals[presentation] = try Original(original)
  }

  /// Takes the encoder's next packet, whose timestamp is the presentation time.
  ///
  /// - Throws: also `AVError.invalidData` if other pictures than the originals are decoded.
  func take(_ packet: Packet) throws(AVError) {
    // Each packet has one picture, so that frames never wait for a second call.
    try decoder.send(packet)
    try compare()
  }

  /// Compares the last pictures.
  func finish() throws(AVError) {
    try decoder.sendEndOfStream()
    try compare()
    guard originals.isEmpty else { throw .invalidData }
  }

  private func compare() throws(AVError) {
    while try decoder.receive(frame) == .frame {
      guard !frame.isCorrupt, frame.errors.isEmpty, let original = originals.removeValue(forKey: frame.timestamp)
      else { throw .invalidData }
      guard let psnr = frame.lumaPSNR(to: original.frame) else { continue }
      lowestPSNR = min(lowestPSNR ?? psnr, psnr)
    }
  }
}
