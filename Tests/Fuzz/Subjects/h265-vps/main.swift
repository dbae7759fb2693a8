// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

// A readable VPS is the same after writing and reading.
fuzz { bytes in
  guard var vps = try? H265.VideoParameterSet(nalUnit: bytes) else { return }
  let written = vps.nalUnit()
  vps.hasProperEnd = true
  require((try? H265.VideoParameterSet(nalUnit: written.span)) == vps, "VPS: not the same after writing")
  require(vps.layerSets.count <= 1023 && vps.hrdParameters.count <= 1024, "VPS: more than its counts allow")
}
