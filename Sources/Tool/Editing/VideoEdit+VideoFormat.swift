// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Containers
import H26x

extension VideoEdit {
  /// Changes a container's description of the video to match the edits.
  func describe(_ format: inout MediaOutput.VideoFormat) {
    format.staleSideData = Set(HDR10Metadata.changed(by: edits).map(\.sideData))
    guard let description = description(of: format.configuration) else { return }
    if edits.affects(.size) { format.size = (description.cropRectangle.width, description.cropRectangle.height) }
    if edits.affects(.shape) {
      format.pixelAspect = description.pixelAspectRatio.flatMap {
        TimeBase(Int32(clamping: $0.numerator), Int32(clamping: $0.denominator))
      }
      format.hasEditedAspect = true
    }
    guard edits.affects(.colour) else { return }
    let colour = description.colour
    format.colour = StreamDescription.Colour(
      primaries: colour?.primaries ?? 2, transfer: colour?.transfer ?? 2, matrix: colour?.matrix ?? 2,
      isFullRange: description.isFullRange)
  }
}
