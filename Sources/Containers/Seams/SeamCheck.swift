// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// Decodes a part of a copy as it stands there, before it is written: encoded pictures, and copied pictures behind them.
/// It must show the pictures of the source. The luma of encoded pictures is compared with theirs.
final class SeamCheck {
  /// A picture.
  struct Picture: Equatable {
    /// When it is shown, in nanoseconds of the media.
    let presentation: Int64
    /// Of its samples in the source; `nil` for an encoded picture, whose samples differ.
    let checksum: UInt64?
  }

  private final class Original {
    let frame: Frame
    init(_ frame: borrowing Frame) throws(AVError) { self.frame = try frame.withoutProperties() }
  }

  private let decoder: SeamDecoder
  /// Encoded pictures that were not decoded yet, as the encoder got them, by presentation time.
  private var originals: [Int64: Original] = [:]
  /// When the access units are shown that were taken.
  private var times: [Int64] = []
  /// The decoded pictures, and the numbers of their access units, in the order in which they are shown.
  private var shown: [(number: Int, picture: Picture)] = []
  /// The number of the first access unit whose picture has errors. No other is decoded behind it.
  private var damagedNumber = Int.max
  /// The lowest PSNR of encoded pictures in dB, infinite if all equal their originals; `nil` before the first one.
  private(set) var lowestPSNR: Double?

  /// - Parameters:
  ///   - format: of the access units.
  ///   - hasStartCodes: whether they have start codes, not length prefixes.
  init(_ format: MediaOutput.VideoFormat, hasStartCodes: Bool) throws(AVError) {
    decoder = try SeamDecoder(format, hasStartCodes: hasStartCodes)
  }

  /// Takes a picture that the encoder gets. Its access unit follows.
  func take(_ original: borrowing Frame, presentation: Int64) throws(AVError) {
    originals[presentation] = try Original(original)
  }

  /// Takes the next access unit of the copy, in decoding order. The first one has all parameter sets that the format
  /// lacks.
  func take(_ accessUnit: MediaOutput.AccessUnit) {
    times.append(accessUnit.presentation)
    guard damagedNumber == .max else { return }
    do throws(AVError) { try decoder.decode(accessUnit, receive) } catch {
      damagedNumber = min(damagedNumber, times.count - 1)
    }
  }

  private func receive(_ frame: borrowing Frame) throws(AVError) {
    guard let number = Int(exactly: frame.timestamp), times.indices.contains(number) else { throw .invalidData }
    if frame.isCorrupt || !frame.errors.isEmpty { damagedNumber = min(damagedNumber, number) }
    let time = times[number]
    guard let original = originals.removeValue(forKey: time) else {
      return shown.append((number, Picture(presentation: time, checksum: frame.checksum)))
    }
    shown.append((number, Picture(presentation: time, checksum: nil)))
    guard let psnr = frame.lumaPSNR(to: original.frame) else { return }
    lowestPSNR = min(lowestPSNR ?? psnr, psnr)
  }

  /// Whether the first access units show these pictures, and no others, without errors. Nothing follows.
  ///
  /// - Parameters:
  ///   - pictures: in the order in which they are shown.
  ///   - count: of the access units. Behind them, the source may be damaged.
  func passes(_ pictures: [Picture], accessUnitCount count: Int) -> Bool {
    do throws(AVError) { try decoder.finish(receive) } catch { return false }
    return damagedNumber >= count && shown.filter { $0.number < count }.map(\.picture) == pictures
  }
}
