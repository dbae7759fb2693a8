// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Parse {
  /// How long the unit in hand is shown: `nil` when unknown, zero when no picture begins with it.
  func pictureDuration() -> ClockTime? {
    guard unit.contents.contains(.pictureStart) else { return .zero }
    let fields = unit.information.pictureTiming?.structure?.fieldPeriods ?? (unit.slice?.isField == true ? 1 : 2)
    guard let rate = capsState.frameRate, rate.numerator > 0, rate.denominator > 0 else { return nil }
    return .seconds(UInt64(fields), times: UInt32(rate.denominator), over: UInt32(rate.numerator)).half
  }

  /// Puts timestamps on the buffer of the unit in hand where upstream did not.
  func stamp(_ buffer: inout Buffer) {
    guard alignment == .nalUnit else { return }
    // All NAL units of an access unit belong to the same instant.
    if unit.contents.contains(.accessUnitStart) {
      accessUnitTimes = (buffer.pts, buffer.dts)
    } else {
      if let pts = buffer.pts { accessUnitTimes.pts = pts } else { buffer.pts = accessUnitTimes.pts }
      if let dts = buffer.dts { accessUnitTimes.dts = dts } else { buffer.dts = accessUnitTimes.dts }
    }
  }
}
