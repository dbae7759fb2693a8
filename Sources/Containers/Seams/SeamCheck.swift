// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// The pictures that a part of a copy must show: encoded pictures, and copied pictures behind them. The part is verified
/// before it is written.
struct SeamCheck {
  /// A picture.
  struct Picture {
    /// When it is shown, in nanoseconds of the media.
    let presentation: Int64
    /// Of its samples in the source; `nil` for an encoded picture, whose samples differ.
    let checksum: UInt64?
  }

  /// In the order in which they are shown.
  let pictures: [Picture]

  /// Whether access units show these pictures, and no others, without errors.
  ///
  /// - Parameters:
  ///   - accessUnits: of the copy, in decoding order. The first one has all parameter sets that the format lacks.
  ///   - format: of the access units.
  ///   - hasStartCodes: whether they have start codes, not length prefixes.
  func passes(
    _ accessUnits: some Sequence<MediaOutput.AccessUnit>, _ format: MediaOutput.VideoFormat, hasStartCodes: Bool
  ) -> Bool {
    var (times, count): ([Int64], Int) = ([], 0)
    do throws(AVError) {
      let decoder = try SeamDecoder(format, hasStartCodes: hasStartCodes)
      func compare(_ frame: borrowing Frame) throws(AVError) {
        guard let place = Int(exactly: frame.timestamp), times.indices.contains(place), count < pictures.count,
          times[place] == pictures[count].presentation, !frame.isCorrupt, frame.errors.isEmpty,
          pictures[count].checksum.map({ $0 == frame.checksum }) ?? true
        else { throw .invalidData }
        count += 1
      }
      for accessUnit in accessUnits {
        times.append(accessUnit.presentation)
        try decoder.decode(accessUnit, compare)
      }
      try decoder.finish(compare)
    } catch { return false }
    return count == pictures.count
  }
}
