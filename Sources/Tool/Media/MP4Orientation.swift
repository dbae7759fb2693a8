// SPDX-License-Identifier: MPL-2.0
import StreamReport
import SystemPackage

/// The orientation of an MP4 file's video, which the muxers of GStreamer 1.22 do not write, and whose matrix qtdemux
/// understands only where it neither scales nor is rounded.
enum MP4Orientation {
  /// How `videoflip` makes pictures upright: its value of `video-direction`. By the tag for other containers.
  static func direction(in input: InputFile) -> String {
    guard input.kind == .container("MP4"), input.size != nil, let source = try? ReportSource(input),
      let samples = try? MP4.VideoSamples(source), let orientation = samples.track.orientation
    else { return "auto" }
    return switch (orientation.rotation, orientation.isMirrored) {
    case (90, false): "90r"
    case (180, false): "180"
    case (270, false): "90l"
    case (0, true): "horiz"
    case (90, true): "ur-ll"
    case (180, true): "vert"
    case (270, true): "ul-lr"
    default: "identity"
    }
  }

  /// Writes the rotation into the track header of a finished file.
  ///
  /// - Parameter orientation: the value of the tag image-orientation, such as `rotate-90`.
  /// - Returns: whether it was written; flips are not supported.
  static func write(_ orientation: String, into path: FilePath) -> Bool {
    var place: Range<UInt64>?
    var size: (width: UInt32, height: UInt32) = (0, 0)
    do {
      let samples = try MP4.VideoSamples(ReportSource(InputFile(path)))
      place = samples.matrixRange
      size = (samples.track.presentationWidth, samples.track.presentationHeight)
    } catch { return false }
    guard let place, let matrix = matrix(orientation, width: size.width, height: size.height) else { return false }
    guard let file = try? OpenFile(path, .writeOnly) else { return false }
    return (try? file.descriptor.writeAll(toAbsoluteOffset: Int64(clamping: place.lowerBound), matrix)) == place.count
  }

  /// The matrix `a b u c d v x y w` (ISO/IEC 14496-12, 6.2.2) that rotates clockwise and moves the picture back to the
  /// origin.
  private static func matrix(_ orientation: String, width: UInt32, height: UInt32) -> [UInt8]? {
    let one: UInt32 = 1 << 16
    let minus = 0 &- one
    let numbers: [UInt32]
    switch orientation {
    case "rotate-90": numbers = [0, one, 0, minus, 0, 0, height, 0, 1 << 30]
    case "rotate-180": numbers = [minus, 0, 0, 0, minus, 0, width, height, 1 << 30]
    case "rotate-270": numbers = [0, minus, 0, one, 0, 0, 0, width, 1 << 30]
    default: return nil
    }
    return numbers.flatMap { number in
      stride(from: 24 as UInt32, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
  }
}
