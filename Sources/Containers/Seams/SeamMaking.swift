// SPDX-License-Identifier: MPL-2.0
import H26x

/// Makes the seams of a copy; see ``Seam``.
protocol SeamMaking {
  /// Pictures that were encoded.
  var encodedCount: Int { get }
  /// The lowest PSNR of their luma in dB, infinite if all equal the source's; `nil` for none.
  var lowestPSNR: Double? { get }
  /// Marking operations of H.264 that were removed from copied pictures.
  var removedOperationCount: Int { get }
  /// Whether the latest seam of the range is at its end, behind copied pictures.
  var isAtEnd: Bool { get }
  /// Why encoded pictures cannot be in front of a recovery point that cannot become an IDR picture; `nil` if they can, in
  /// most streams.
  var openObstacle: SeamObstacle? { get }
  /// Whether a range behind another can begin with an entry. A recovery point must be able to become an IDR picture.
  func canBeginAnew(with accessUnit: MediaOutput.AccessUnit, _ format: MediaOutput.VideoFormat) -> Bool
  /// Adds the parameter sets of encoded pictures to a format whose access units have none. Pictures of an SPS that does
  /// not allow it are not encoded.
  mutating func describe(_ format: inout MediaOutput.VideoFormat)
  /// Why pictures of a stream cannot be encoded; `nil` if they can.
  mutating func obstacle(_ format: MediaOutput.VideoFormat, under parameterSets: [[UInt8]]) -> SeamObstacle?
  /// Reads an access unit of a range that is cut exactly, or one in front of it. Its messages may apply to later pictures.
  mutating func read(_ accessUnit: MediaOutput.AccessUnit, _ format: MediaOutput.VideoFormat)
  /// Takes the next access unit of the window.
  ///
  /// - Parameter beginsAnew: whether the range is cut exactly, or begins as such a range does: a recovery point becomes
  ///   an IDR picture.
  /// - Returns: the access units to write now.
  /// - Throws: `CopyRefusal.seam` if a picture cannot be encoded.
  mutating func take(
    _ accessUnit: MediaOutput.AccessUnit, _ format: MediaOutput.VideoFormat, beginsAnew: Bool
  ) throws(CopyRefusal) -> [MediaOutput.AccessUnit]
  /// Ends a range.
  ///
  /// - Returns: the access units to write now.
  mutating func finishRange() throws(CopyRefusal) -> [MediaOutput.AccessUnit]
}

extension FormatDescription.Codec {
  /// Makes the seams of a copy.
  ///
  /// - Parameters:
  ///   - quality: of encoded pictures; see `EncoderSettings.quality`.
  ///   - hasStartCodes: whether NAL units of the copy have start codes.
  func seam(quality: Double, hasStartCodes: Bool) -> any SeamMaking {
    switch self {
    case .h264: Seam<H264>(quality: quality, hasStartCodes: hasStartCodes)
    case .h265: Seam<H265>(quality: quality, hasStartCodes: hasStartCodes)
    }
  }
}
