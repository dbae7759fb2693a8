// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

// A readable PPS is the same after writing and reading.
fuzz { bytes in
  guard var pps = try? H265.PictureParameterSet(nalUnit: bytes) else { return }
  let written = pps.nalUnit()
  pps.hasProperEnd = true
  require((try? H265.PictureParameterSet(nalUnit: written.span)) == pps, "PPS: not the same after writing")
}
