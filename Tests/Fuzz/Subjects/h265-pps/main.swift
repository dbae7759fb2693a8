// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

// Whatever can be read can be written, and reads the same again.
fuzz { bytes in
  guard var pps = try? H265.PictureParameterSet(nalUnit: bytes) else { return }
  let written = pps.nalUnit()
  pps.hasProperEnd = true
  require((try? H265.PictureParameterSet(nalUnit: written.span)) == pps, "PPS: not the same after writing")
}
