// SPDX-License-Identifier: MPL-2.0
import H26x

/// What the SEI messages of one unit say.
struct UnitInformation: Sendable {
  var pictureTiming: H264.PictureTiming?
  var hasBufferingPeriod = false
}
